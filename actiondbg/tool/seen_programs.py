"""What the processes of a program did that no front end has seen, as their agents note it."""

from __future__ import annotations

import contextlib
import os
import textwrap
from pathlib import Path

from actiondbg.support.counts import plural
from actiondbg.support.executables import which
from actiondbg.tool.agent_environment import SEEN
from actiondbg.tool.elf import read_elf
from actiondbg.tool.identification import UNUSABLE, Symbols, symbols_of

_SHOWN = 3  # processes or programs in a message
_WIDTH = 60  # characters of a command line in a message
_SMALLEST = 1 << 20  # bytes of a program with MLIR in it


class SeenPrograms:
    """The file in which the agents of a program's processes note what they start.

    The format is that of ``actiondbg/agent/interpose/SeenPrograms.cpp``.
    """

    NAME = "seen"

    def __init__(self, folder: Path) -> None:
        self._path = folder / self.NAME
        self._reported = 0
        self._size = 0  # of the file, when it was read last for a report

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables for the program; they name a file that is created here."""
        self._path.touch(mode=0o600)
        return {SEEN: str(self._path)}

    def explain(self) -> str | None:
        """Return why nothing was observed, and what to do, in a clause; None if it is unknown."""
        for kind, verb in (("ran", "ran"), ("loaded", "loaded")):
            for symbols, advice in UNUSABLE.items():
                paths = dict.fromkeys(self._noted(kind))
                if found := [repr(path) for path in paths if _symbols_of(path) is symbols]:
                    return f"it {verb} {_listed(found)}, which {advice}"
        paths = dict.fromkeys(self._noted("lost"))
        if lost := [repr(path) for path in paths if may_run_mlir(path)]:
            return (
                f"it started {_listed(lost)} without the agent: keep LD_PRELOAD in the environment "
                "of what the program starts, or debug this tool itself"
            )
        return None

    def new_unobserved(self) -> str | None:
        """Report the processes that made a context unobserved since the last call, if any.

        Returns:
            Sentences; None if there is none.
        """
        if (size := self._written()) == self._size:
            return None  # as at most stops
        self._size = size
        processes = self._noted("unobserved")[self._reported :]
        self._reported += len(processes)
        if not processes:
            return None
        names = _listed([*map(_process, processes)])
        which = plural("Process", len(processes))
        return (
            f"{which} {names} made an MLIR context and ran unobserved: a fork that is made while "
            "another thread is in an action is not followed. Start it as a program, such as by "
            "'spawn' of multiprocessing."
        )

    def has_become_another(self, pid: int) -> bool:
        """Return whether a debugged process was about to become another program by exec."""
        return str(pid) in self._noted("became")

    def _written(self) -> int:
        with contextlib.suppress(OSError):
            return self._path.stat().st_size
        return 0

    def _noted(self, kind: str) -> list[str]:
        with contextlib.suppress(OSError):
            lines = self._path.read_text(errors="surrogateescape").splitlines()
            return [line[len(kind) + 1 :] for line in lines if line.startswith(f"{kind} ")]
        return []


def _symbols_of(path: str) -> Symbols:
    with contextlib.suppress(OSError, ValueError):
        program = Path(path)
        if program.stat().st_size >= _SMALLEST:
            return symbols_of(program)
    return Symbols.ABSENT


def may_run_mlir(path: str) -> bool:
    """Whether a program may use MLIR, or start one that does: no static program without MLIR."""
    with contextlib.suppress(OSError, ValueError):
        elf = read_elf(Path(which(path) or path))
        return elf is None or elf.interpreted or _symbols_of(path) is not Symbols.ABSENT
    return True


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _process(line: str) -> str:
    """Return a process as messages name it, such as ``123 (mlir-opt in.mlir)``."""
    pid, _, command = line.partition(" ")
    tool, blank, words = command.partition(" ")
    command = os.path.basename(tool) + blank + words
    return f"{pid} ({textwrap.shorten(command, _WIDTH, placeholder=' ...')})"
