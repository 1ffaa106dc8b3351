"""The pipeline of a run: its passes in order, nested, with their runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import msgspec

from actiondbg.analysis.actions import ActionState, ListedAction
from actiondbg.errors import UsageError
from actiondbg.protocol import StopFields
from actiondbg.support.counts import times
from actiondbg.support.globs import check_glob, glob_matches

# The end of the name of a pass that only runs a pipeline on each operation of some kinds.
ADAPTOR = "OpToOpPassAdaptor"
_NUMBERED = re.compile(r"(?P<name>.+?)(?:#(?P<number>\d+))?")


class PipelinePass(msgspec.Struct, kw_only=True):
    """A pass at one place of the pipeline."""

    name: str  # the pass; empty for the one that runs the nested passes on each operation
    op: str | None  # the name of the operation that it runs on, or None
    ordinals: list[int] = []  # of its runs
    # Where it is, relative to the stop: "running" also between two of its runs.
    state: ActionState = "ahead"
    finished: int = 0  # the number of runs that are over at the stop
    changed: int = 0  # the number of runs that changed the IR
    failed: int = 0  # the number of runs that failed
    skipped: int = 0  # the number of skipped runs
    # The number of runs without an end: the tool dies in them, or they are far ahead.
    unended: int = 0
    changes: int = 0  # the number of changes, those of nested actions included
    seconds: float | None = None  # the time of all runs; None if it is unknown, or no run has ended
    passes: list[PipelinePass] = []  # the passes nested in it

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


PassRun = ListedAction | StopFields  # a run of a pass, listed or at a stop


class Step(NamedTuple):
    """The place of a pass among those that the same pass, or the whole run, runs directly."""

    number: int  # of the passes before it, on the same operation; 0 in a pass that is no adaptor
    name: str  # the pass; empty for an adaptor
    op: str | None  # the name of the operation that it runs on, or None


Place = tuple[Step, ...]  # of a pass in the pipeline, behind the places of the passes around it


class Places:
    """Finds the places of runs of passes in the pipeline; several runs can have one place.

    Runs must be located in their order; each lies between its parent and the next action of the
    parent's depth.
    """

    def __init__(self) -> None:
        self._levels = [_Level(-1, (), "whole")]

    @property
    def current(self) -> Place:
        """The place of the newest run, behind those of the passes around it."""
        return self._levels[-1].place

    def locate(self, run: PassRun) -> Place:
        """Return the place of the next run."""
        while self._levels[-1].depth >= run.depth:
            self._levels.pop()
        above = self._levels[-1]
        place = (*above.place, above.step(run))
        self._levels.append(_Level(run.depth, place, "adaptor" if is_adaptor(run.name) else "pass"))
        return place


@dataclass
class _Level:
    """A running pass, or the whole run."""

    depth: int
    place: Place
    _kind: Literal["whole", "adaptor", "pass"]
    _id: int | None = None  # the operation of the newest nested run
    _count: int = 0  # of the passes run on it; of all passes in the whole run

    def step(self, run: PassRun) -> Step:
        """Return the step to the next nested run."""
        if self._kind == "adaptor" and run.id != self._id:  # the same pipeline for each operation
            self._count = 0
        self._id = run.id
        number = 0 if self._kind == "pass" else self._count
        self._count += 1
        return Step(number, "" if is_adaptor(run.name) else run.name, run.op)


def pipeline_of(runs: Iterable[ListedAction]) -> list[PipelinePass]:
    """Return the pipeline that made the runs of passes, which are in their order.

    Runs of the same pass on several operations have one place.
    """
    passes: list[PipelinePass] = []
    found: dict[Place, PipelinePass] = {}
    places = Places()
    for run in runs:
        place = places.locate(run)
        if place not in found:
            found[place] = PipelinePass(name=place[-1].name, op=run.op)
            siblings = found[place[:-1]].passes if place[:-1] in found else passes
            siblings.append(found[place])
        found[place].add(run)
    return passes


def find_pass(runs: Iterable[ListedAction], reference: str) -> int:
    """Return the ordinal of a run of a pass.

    Args:
        runs: of all passes, in their order.
        reference: the pass, a glob, with the number of the run: ``canonicalize#2``; without one,
            the first run.

    Raises:
        UsageError: there is no such run, or the reference is no glob.
    """
    match = _NUMBERED.fullmatch(reference)
    name, number = (match["name"], int(match["number"] or 1)) if match else (reference, 1)
    check_glob(name, reference, 0)
    runs = [run for run in runs if not is_adaptor(run.name)]
    found = [run.ordinal for run in runs if glob_matches(name, run.name)]
    if 1 <= number <= len(found):
        return found[number - 1]
    if found:
        way_out = f"name a run from {name}#1 to {name}#{len(found)}"
        if len(found) == 1:
            way_out = f"leave out #{number}"
        raise UsageError(f"The pass {name} runs {times(len(found))}: {way_out}.")
    known = ", ".join(dict.fromkeys(run.name for run in runs)) or "none"
    raise UsageError(f"No pass {name!r} runs: the passes of this run are {known}.")


def find_pass_end(runs: Sequence[ListedAction], reference: str) -> int:
    """Return the ordinal of the run of a pass, as of ``find_pass``, at which each operation had it.

    A pass on functions runs once on each: without a number, the last run at the same place of the
    pipeline as the first.
    """
    found = find_pass(runs, reference)
    match = _NUMBERED.fullmatch(reference)
    if match is not None and match["number"]:
        return found
    places = Places()
    located = [(places.locate(run), run.ordinal) for run in runs]
    wanted = next(place for place, ordinal in located if ordinal == found)
    return max(ordinal for place, ordinal in located if place == wanted)


def is_adaptor(name: str) -> bool:
    """Return whether a pass only runs a pipeline on each operation of some kinds."""
    return name.endswith(ADAPTOR)
