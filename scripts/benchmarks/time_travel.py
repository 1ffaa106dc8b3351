"""The cost of time travel and of checkpoints."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from pathlib import Path

import actiondbg
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import PIPELINE, many_functions
from scripts.benchmarks.wall_time import best_of, seconds

_STEPS = 41


def _argv(tool: str, source: Path) -> list[str]:
    path = str(find_tool(tool).path)
    return [path, str(source), f"--pass-pipeline={PIPELINE}", "-o", "/dev/null"]


def _forward(argv: list[str], milliseconds: int | None) -> None:
    """Run to the end from the first stop, after which checkpoints are made."""
    with actiondbg.launch(argv) as session:
        if milliseconds is not None:
            session.timeline.checkpoints.spacing = milliseconds
        session.start()
        stop = session.continue_()
        if stop.status:
            raise SystemExit(f"the run did not end well: {stop}")


def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows: name, figure, bar."""
    source = many_functions(directory / "many.mlir", 60 if quick else 1150)
    argv = _argv(tool, source)
    taken = best_of(
        2 if quick else 5,
        off=lambda: _forward(argv, 0),
        on=lambda: _forward(argv, None),
    )
    with actiondbg.launch(argv) as session:
        actions = session.run().actions or 0
    yield (
        f"checkpoints on, {actions:,} actions, wall against off ({taken['off']:.2f} s)",
        f"{taken['on'] / taken['off']:.2f}",
        "1.15",
    )
    middle = actions // 2
    with actiondbg.launch(argv) as session:
        session.start()
        session.advance(f"#{middle}")
        first = seconds(session.timeline.reverse_step)
        steps = [seconds(session.timeline.reverse_step) for _ in range(_STEPS)]
        yield (
            f"reverse-step at #{middle:,}, median, ms (the first: {first * 1e3:.0f} ms)",
            f"{statistics.median(steps) * 1e3:.1f}",
            "50",
        )
        anywhere = random.Random(1)
        places = [anywhere.randrange(1, middle) for _ in range(5 if quick else 15)]
        there = [seconds(lambda place=place: session.timeline.goto(place)) for place in places]
        yield ("goto anywhere before, median, ms", f"{statistics.median(there) * 1e3:.0f}", "")
    yield from _checkpoint(tool, directory, quick)


def _checkpoint(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    source = many_functions(directory / "large.mlir", 500 if quick else 15_000)
    with actiondbg.launch(_argv(tool, source)) as session:
        session.start()
        size = int(Path(f"/proc/{session.target.pid}/statm").read_text().split()[1]) * 4 // 1024
        made = [seconds(session.timeline.checkpoints.add) for _ in range(9)]
    yield (
        f"a checkpoint, the tool being of {size} MB, median, ms",
        f"{statistics.median(made) * 1e3:.1f}",
        "5",
    )
