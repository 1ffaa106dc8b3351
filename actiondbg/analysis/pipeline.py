"""The pipeline of a run: its passes in order, nested, with their runs."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from actiondbg.analysis.actions import ActionState, ListedAction
from actiondbg.errors import UsageError
from actiondbg.support.globs import glob_matches

PASS_TAG = "pass-execution"
_ADAPTOR = "OpToOpPassAdaptor"  # a pass that runs a pipeline on each operation of some kinds
_NUMBERED = re.compile(r"(?P<name>.+?)(?:#(?P<number>\d+))?")


class PipelinePass(msgspec.Struct, kw_only=True):
    """A pass at one place of the pipeline.

    Attributes:
        name: the pass; empty for the one that runs the nested passes on each operation.
        op: the name of the operation that it runs on, or None.
        ordinals: of its runs.
        state: where it is, relative to the stop: "running" also between two of its runs.
        finished: the number of runs that are over at the stop.
        changed: the number of runs that changed the IR.
        failed: the number of runs that failed.
        skipped: the number of skipped runs.
        unended: the number of runs without an end: the tool dies in them, or they are far ahead.
        changes: the number of changes, those of nested actions included.
        seconds: the time of all runs; None if it is unknown, or no run has ended.
        passes: the passes nested in it.
    """

    name: str
    op: str | None
    ordinals: list[int] = []
    state: ActionState = "ahead"
    finished: int = 0
    changed: int = 0
    failed: int = 0
    skipped: int = 0
    unended: int = 0
    changes: int = 0
    seconds: float | None = None
    passes: list[PipelinePass] = []

    def add(self, run: ListedAction) -> None:
        """Add a run."""
        result = run.outcome.result if run.outcome else None
        is_unfinished = run.state == "running" or bool(self.ordinals and run.state != self.state)
        self.state = "running" if is_unfinished else run.state
        self.ordinals.append(run.ordinal)
        self.finished += run.state == "over"
        self.changed += result == "succeeded"
        self.failed += result == "failed"
        self.skipped += result == "skipped"
        self.unended += result is None
        self.changes += run.change_count
        if run.seconds is not None:
            self.seconds = (self.seconds or 0) + run.seconds


class _Level:
    """A running pass, and the places of the passes nested in it.

    Args:
        run: the pass; None for the whole run.
        passes: the nested passes.
    """

    def __init__(self, run: ListedAction | None, passes: list[PipelinePass]) -> None:
        self.depth = -1 if run is None else run.depth
        self._is_whole = run is None
        self._is_adaptor = run is not None and _is_adaptor(run)
        self._passes = passes
        self._at: tuple[int | None, int] = (None, 0)  # the operation, and the passes run on it

    def place(self, run: ListedAction) -> PipelinePass:
        """Return the place of a nested run."""
        number = self._number(run)
        name = "" if _is_adaptor(run) else run.name
        same = [one for one in self._passes if (one.name, one.op) == (name, run.op)]
        if self._is_adaptor:  # the same pipeline for each operation of a kind
            same = [one for one in self._passes if one.op == run.op][number : number + 1]
        if same and same[0].name == name and not self._is_whole:
            return same[0]
        made = PipelinePass(name=name, op=run.op)
        self._passes.append(made)
        return made

    def _number(self, run: ListedAction) -> int:
        """Return the number of passes that have run on the operation before this one."""
        op, count = self._at
        number = count if op == run.id else 0
        self._at = (run.id, number + 1)
        return number


def pipeline_of(runs: Iterable[ListedAction]) -> list[PipelinePass]:
    """Return the pipeline that made the runs of passes.

    Runs of the same pass on several operations have one place.

    Args:
        runs: in their order; each between its parent and the next action of the parent's depth.
    """
    passes: list[PipelinePass] = []
    levels = [_Level(None, passes)]
    for run in runs:
        while levels[-1].depth >= run.depth:
            levels.pop()
        place = levels[-1].place(run)
        place.add(run)
        levels.append(_Level(run, place.passes))
    return passes


def find_pass(runs: Iterable[ListedAction], reference: str) -> int:
    """Return the ordinal of a run of a pass.

    Args:
        runs: of all passes, in their order.
        reference: the pass, a glob, with the number of the run: ``canonicalize#2``; without one,
            the first run.

    Raises:
        UsageError: there is no such run.
    """
    match = _NUMBERED.fullmatch(reference)
    name, number = (match["name"], int(match["number"] or 1)) if match else (reference, 1)
    runs = [run for run in runs if not _is_adaptor(run)]
    found = [run.ordinal for run in runs if glob_matches(name, run.name)]
    if 1 <= number <= len(found):
        return found[number - 1]
    if found:
        times = "once" if len(found) == 1 else f"{len(found)} times"
        raise UsageError(
            f"The pass {name} runs {times}: name a run from {name}#1 to {name}#{len(found)}."
        )
    known = ", ".join(dict.fromkeys(run.name for run in runs)) or "none"
    raise UsageError(f"No pass {name!r} runs: the passes of this run are {known}.")


def _is_adaptor(run: ListedAction) -> bool:
    return run.name.endswith(_ADAPTOR)
