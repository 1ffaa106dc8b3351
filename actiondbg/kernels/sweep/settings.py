"""The settings of a sweep."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from actiondbg.kernels.profiling.profiler import TimeLimit
from actiondbg.statistics.events import CountableEvent


@dataclass(frozen=True)
class SweepSettings:
    """What a sweep does, and its limits.

    Attributes:
        generated_dir: the folder that has, or gets, the folder ``generated``.
        jobs: how many dispatches are compiled and verified at a time.
        force_compile: compile dispatches that are up to date, too.
        dry_run: print the commands instead of running them; nothing is verified or profiled.
        save_commands: write ``commands.sh`` into the folder of each dispatch.
        verify: compare results with the references.
        references: the names of the verification providers.
        profile: measure times.
        repetitions: how often each time is measured.
        events: counted in each call that is measured.
        remeasure: measure the machine's peaks even if they are known.
        batch_size: calls in one repetition; None: as many as take some milliseconds.
        compile_seconds: the time limit of a command of a compilation.
        run_seconds: the time limit of a kernel in its child process.
        memory: the limit of a child's memory, in MiB; None for no limit.
        limit: of the time of a right kernel; one beyond it is TOO SLOW, or TOO FAST.
        bisect: find the culprit of each wrong kernel.
        dask: the address of a Dask scheduler whose workers compile, or None.
    """

    generated_dir: Path = Path(".")
    jobs: int = os.cpu_count() or 1
    force_compile: bool = False
    dry_run: bool = False
    save_commands: bool = True
    verify: bool = True
    references: tuple[str, ...] = ("numpy",)
    profile: bool = True
    repetitions: int = 5
    events: tuple[CountableEvent, ...] = ()
    remeasure: bool = False
    batch_size: int | None = None
    compile_seconds: float = 600.0
    run_seconds: float = 60.0
    memory: int | None = 8192
    limit: TimeLimit | None = None
    bisect: bool = False
    dask: str | None = None

    @property
    def memory_bytes(self) -> int | None:
        return None if self.memory is None else self.memory << 20
