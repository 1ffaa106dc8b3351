"""What a lineage costs: recording it, reading dumps, importing logs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from scripts.benchmarks.inputs import PIPELINE, many_functions
from scripts.benchmarks.memory import peak_of_run
from scripts.benchmarks.recording import ACTIONDBG, command
from scripts.benchmarks.wall_time import beside, median_of, seconds

Row = tuple[str, str, str]

_FUNCTIONS = 1105  # about 300,000 actions when they are lowered
_OPERATIONS = 500_000
_MEGABYTES = 60
_QUESTIONS = 51


def measure(tool: str, directory: Path, quick: bool) -> Iterator[Row]:
    """Yield the rows: name, figure, bar."""
    source = many_functions(directory / "many.mlir", 50 if quick else _FUNCTIONS)
    flags = [f"--pass-pipeline={PIPELINE}", "-o", os.devnull, "--mlir-disable-threading"]
    argv = [tool, str(source), *flags]
    yield from _recorded(argv, directory, 1 if quick else 9)
    yield from _dumps(tool, directory, 20_000 if quick else _OPERATIONS)
    yield from _imported(tool, directory, 2 if quick else _MEGABYTES)


def _recorded(argv: list[str], directory: Path, rounds: int) -> Iterator[Row]:
    plain, run = directory / "plain.adbrec", directory / "run.adbrec"
    words = ["record", "--lineage", "-o", str(run), "--", *argv]
    taken = beside(
        rounds,
        bare=lambda: subprocess.run(argv, check=True),
        plain=lambda: record(argv, plain),
        lineage=lambda: record(argv, run, lineage=True),
        command=lambda: command(*words),
    )
    bare = taken["bare"]
    actions = open_recording(run).count
    what = f"record --lineage, {actions:,} actions in {bare:.2f} s"
    yield (f"{what}: wall against the bare tool's", f"{taken['lineage'] / bare:.2f}", "1.2")
    yield ("the same without lineage", f"{taken['plain'] / bare:.2f}", "")
    yield ("the same: the whole command", f"{taken['command'] / bare:.2f}", "")
    more = (run.stat().st_size - plain.stat().st_size) / actions
    yield ("bytes that it adds an action", f"{more:.1f}", "")
    held = peak_of_run([ACTIONDBG, *words]) - peak_of_run(argv)
    yield ("memory that it adds, MB", f"{held:.0f}", "")


def _dumps(tool: str, directory: Path, operations: int) -> Iterator[Row]:
    from actiondbg.lineage.opened_lineage import open_lineage

    source, output = directory / "dump.mlir", directory / "dump.out.mlir"
    many_functions(source, operations // 48)  # of 18 operations in the input, and 30 in the output
    flags = [f"--pass-pipeline={PIPELINE}", "-o", str(output), "--mlir-print-debuginfo"]
    subprocess.run([tool, str(source), *flags], check=True)
    files = [str(source), str(output)]

    def opened() -> None:
        first, *_, last = open_lineage(dumps=files).lineage.stages
        lineage.track([first[len(first) // 2]], last)

    lineage = open_lineage(dumps=files).lineage
    first, *_, last = lineage.stages
    wall = seconds(opened)
    yield (f"dumps of {len(first):,} and {len(last):,} operations indexed, s", f"{wall:.1f}", "20")
    middle = [first[len(first) // 2]]
    lineage.track(middle, last)
    asked = median_of(_QUESTIONS, lambda: lineage.track(middle, last))
    yield ("an operation tracked in them, median, ms", f"{asked * 1e3:.2f}", "10")


def _imported(tool: str, directory: Path, megabytes: int) -> Iterator[Row]:
    log, run = directory / "log.txt", directory / "imported.adbrec"
    # Lowered, each function is printed in 43 kB.
    source = many_functions(directory / "logged.mlir", megabytes * 1000 // 43)
    flags = [f"--pass-pipeline={PIPELINE}", "-o", os.devnull, "--mlir-disable-threading"]
    with log.open("wb") as file:
        subprocess.run(
            [tool, str(source), *flags, "--mlir-print-ir-after-all", "--mlir-print-debuginfo"],
            check=True,
            stderr=file,
        )
    size = log.stat().st_size / 1e6
    wall = seconds(lambda: command("import", str(log), "-o", str(run)))
    yield (f"{size:.0f} MB of --mlir-print-ir-after-all imported, s", f"{wall:.1f}", "30")
