"""The runs of a suite as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from actiondbg.commands.render.tables import aligned
from actiondbg.suite.runs import Overview, Run
from actiondbg.support.counts import counted, joined
from actiondbg.support.interrupts import signal_name

_SHOWN = 3  # programs or commands in a sentence
_WIDTH = 60  # characters of a command in a sentence


def overview_lines(found: Overview, folder: Path, seconds: float | None = None) -> Iterator[str]:
    """Yield sentences about a suite; ``seconds``: the wall time of its driver."""
    tools = joined([f"{count:,} of {tool}" for tool, count in found.tools.items()] or [""])
    tests = f" in {counted(found.tests, 'test')}" if found.tests else ""
    size = f"{counted(found.actions, 'action')}, {found.size / 1e6:.1f} MB"
    took = "" if seconds is None else f", recorded in {seconds:.1f} s"
    if found.is_full:
        yield (
            f"No space is left in {folder}: processes may be missing. Free some, and record the "
            "rest with --resume."
        )
    if found.runs:
        yield f"{counted(found.runs, 'run')}{tests} in {folder} ({tools}): {size}{took}."
    elif not found.is_full:
        yield (
            f"No run in {folder}: no process of the command made an MLIR context that the agent "
            "observed; 'actiondbg doctor TOOL' examines a tool."
        )
    for why, count in found.missing.items():
        yield f"{counted(count, 'run')}: {why}."
    if found.forks:
        yield (
            f"{counted(len(found.forks), 'fork')} of recorded processes made contexts and "
            f"cannot be recorded: {_some(found.forks)}."
        )
    if found.lost:
        yield (
            f"{counted(len(found.lost), 'program')} ran without the agent, since LD_PRELOAD was "
            f"not in the environment: {_some(found.lost)}."
        )


def _some(words: Sequence[str]) -> str:
    shown = [textwrap.shorten(word, _WIDTH, placeholder=" ...") for word in words[:_SHOWN]]
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(shown) + more


def run_lines(runs: Sequence[Run]) -> list[str]:
    head = ("run", "end", "actions", "seconds", "test")
    rows = [
        (
            str(run.run),
            end_of(run),
            f"{run.actions:,}",
            "" if run.seconds is None else f"{run.seconds:.3f}",
            place_of(run),
        )
        for run in runs
    ]
    return aligned([head, *rows])


def place_of(run: Run) -> str:
    """Return the test of a run with the line of its RUN line, or its command without a test."""
    if run.test is None:
        return run.command
    return run.test if run.run_line is None else f"{run.test}:{run.run_line}"


def end_of(run: Run) -> str:
    """Return how a run ended, in a word or two."""
    if run.signal is not None:
        return signal_name(run.signal)
    return run.ended if run.status is None else f"exit {run.status}"
