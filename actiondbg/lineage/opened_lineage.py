"""Where a lineage comes from: a recording, an import, a chain of recordings, or dumps."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, zip_longest
from typing import NamedTuple

import msgspec
import numpy as np

from actiondbg.errors import NotRecorded, UsageError
from actiondbg.lineage.graph import Edges, LineageGraph
from actiondbg.lineage.graph_lineage import GraphLineage
from actiondbg.lineage.lineage import Evidence, Lineage, LineageStep, Loss, Node
from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.lineage.stage import Stage
from actiondbg.recording import open_recording
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.recording import Recording

_MODULE = "builtin.module"


class ChainLineage(GraphLineage):
    """The ``Lineage`` over several runs; operations and actions are numbered through.

    Args:
        runs: the lineage of each run, in order.
        names: the name of each tool.

    Raises:
        UsageError: a tool printed other IR than the next one parsed.
        NotRecorded: a tool had no action.
    """

    def __init__(self, runs: Sequence[RecordedLineage], names: Sequence[str]) -> None:
        self._runs = runs
        self._names = names
        staged = [_stages_of(run, name) for run, name in zip(runs, names, strict=True)]
        self._first_nodes = np.cumsum([0, *(run.graph.count for run in runs)]).tolist()
        self._first_ordinals = np.cumsum([0, *(run.action_count for run in runs)]).tolist()
        self._stages = [
            _numbered(stage, f"{stage.name} of {name}", first)
            for stages, name, first in zip(staged, names, self._first_nodes, strict=False)
            for stage in stages
        ]

    @property
    def stages(self) -> Sequence[Stage]:
        return self._stages

    def events(self, number: int) -> Sequence[LineageStep]:
        run = self._run_of(number, self._first_nodes)
        first, before = self._first_nodes[run], self._first_ordinals[run]
        found = self._runs[run].events(number - first)
        return [
            LineageStep(step.evidence, number, number, (step.ordinal or 0) + before)
            for step in found
        ]

    def node(self, number: int) -> Node:
        run = self._run_of(number, self._first_nodes)
        found = self._runs[run].node(number - self._first_nodes[run])
        return found._replace(number=number)

    def action(self, ordinal: int) -> str:
        """Name an action, with its tool."""
        run = self._run_of(ordinal - 1, self._first_ordinals)
        own = ordinal - self._first_ordinals[run]
        return f"{self._runs[run].action(own)} (#{own} of {self._names[run]})"

    def pass_of(self, ordinal: int) -> int | None:
        run = self._run_of(ordinal - 1, self._first_ordinals)
        first = self._first_ordinals[run]
        found = self._runs[run].pass_of(ordinal - first)
        return None if found is None else found + first

    @cached_property
    def graph(self) -> LineageGraph:
        """All edges, those between the tools included."""
        parts: list[Edges] = []
        for at, run in enumerate(self._runs):
            first, edges = self._first_nodes[at], run.graph.edges
            ordinals = np.where(edges.ordinals > 0, edges.ordinals + self._first_ordinals[at], 0)
            ends = edges.sources + first, edges.targets + first
            parts.append(Edges(*ends, edges.evidence, ordinals, edges.times))
            if at:
                parts.append(self._joint(at))
        return LineageGraph(Edges.joined(parts), self._first_nodes[-1])

    def loss(self, node: int, back: bool) -> Loss:
        run = self._run_of(node, self._first_nodes)
        first = self._first_nodes[run]
        found = self._runs[run].loss(node - first, back)
        ordinal = found.ordinal and found.ordinal + self._first_ordinals[run]
        return found._replace(node=node, ordinal=ordinal)

    def _paired(self, at: int, printed: Stage, parsed: Stage) -> Ints:
        """Return the indices of the operations of two stages that are the same, in pairs.

        The operations of both have to be the same ones, but for modules around them: which is
        which of operations with the same name, only the order shows.
        """
        columns = [np.arange(len(printed)), np.arange(len(parsed))]
        if list(printed.names) != list(parsed.names):
            columns = [_without_modules(printed), _without_modules(parsed)]
        ours, theirs = (
            [stage.names[index] for index in column]
            for stage, column in zip((printed, parsed), columns, strict=True)
        )
        if ours != theirs:
            number, one, other = next(
                (number, one, other)
                for number, (one, other) in enumerate(zip_longest(ours, theirs), 1)
                if one != other
            )
            raise UsageError(
                f"{self._names[at]} parsed other IR than {self._names[at - 1]} printed: operation "
                f"{number} is {other or 'missing'}, not {one or 'there'}."
            )
        return np.stack(columns, axis=1)

    @staticmethod
    def _run_of(number: int, firsts: Sequence[int]) -> int:
        return int(np.searchsorted(firsts[1:-1], number, side="right"))

    def _joint(self, at: int) -> Edges:
        """Return the edges from what one tool printed to what the next one parsed."""
        printed, parsed = self._runs[at - 1].stages[-1], self._runs[at].stages[0]
        if printed.name != "output":
            raise UsageError(
                f"{self._names[at - 1]} ended before its IR was complete: its output is unknown."
            )
        pairs = self._paired(at, printed, parsed)
        sources = np.asarray(printed.nodes, np.int64)[pairs[:, 0]] + self._first_nodes[at - 1]
        targets = np.asarray(parsed.nodes, np.int64)[pairs[:, 1]] + self._first_nodes[at]
        return Edges.of(sources, targets, Evidence.SAME, np.zeros(len(pairs), np.int64))


def _without_modules(stage: Stage) -> Ints:
    """Return the indices of operations: a tool that reads a text adds the module around it."""
    return np.array([at for at, name in enumerate(stage.names) if name != _MODULE], np.int64)


def _numbered(stage: Stage, name: str, first: int) -> Stage:
    """Return a stage with another name, its operations numbered from ``first`` on."""
    further = {value: [node + first for node in ones] for value, ones in stage.further.items()}
    return replace(stage, name=name, nodes=[node + first for node in stage.nodes], further=further)


# --- sources ---


class OpenedLineage(NamedTuple):
    """A lineage, and sentences about what could not be used of its source."""

    lineage: Lineage
    notes: tuple[str, ...] = ()


def open_lineage(
    recording: str | os.PathLike[str] | None = None,
    *,
    dumps: Sequence[str] = (),
    then: Sequence[str | os.PathLike[str]] = (),
    remap: Sequence[str] = (),
    partial: bool = False,
) -> OpenedLineage:
    """Open the lineage of a recording, of a chain of recordings, or of dumps.

    Args:
        recording: made with ``record --lineage``, or by ``import``; None for dumps.
        then: recordings of tools of which each read what the one before it printed.
        dumps: files of IR, in the order of the compilation.
        remap: ``OLD=NEW`` names of source files, for dumps and imports.
        partial: use what can be read of a damaged recording, or of damaged dumps.

    Raises:
        UsageError: the source is missing, or cannot be read; or the locations of dumps overlap
            nowhere.
        NotRecorded: the recording has no lineage.
        BrokenText: the brackets of a dump do not match.
    """
    if recording is not None and then:
        runs = [open_recording(path, partial=partial) for path in (recording, *then)]
        return OpenedLineage(chain_of(runs, [os.path.basename(run.path) for run in runs]))
    if recording is not None:
        return OpenedLineage(lineage_of(open_recording(recording, partial=partial), remap))
    if dumps:
        from actiondbg.lineage.dumps.dump_lineage import read_dumps

        found = read_dumps(dumps, remap=remap, partial=partial)
        found.lineage.check_order()
        return OpenedLineage(found.lineage, found.notes)
    raise UsageError("The source of the lineage is missing: give a recording, or dumps.")


def lineage_of(recording: Recording, remap: Sequence[str] = ()) -> Lineage:
    """Return the lineage of a recording, or of an import.

    Raises:
        NotRecorded: the recording has no lineage.
    """
    if recording.header.imported:
        from actiondbg.lineage.dumps.imported_lineage import imported_lineage

        return imported_lineage(recording, remap)
    from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage

    return RecordedLineage(recording)


def _stages_of(run: RecordedLineage, name: str) -> Sequence[Stage]:
    try:
        return run.stages
    except NotRecorded as error:
        raise NotRecorded(f"{name}: {error}") from error


def chain_of(
    recordings: Sequence[Recording], names: Sequence[str], after: str | None = None
) -> Lineage:
    """Return the lineage of a chain of tools, in which each tool reads the output of the last.

    Args:
        recordings: their runs, in order.
        names: of the tools.
        after: a pass of any of them, or ``#N``, counted through: the lineage ends after it.

    Raises:
        UsageError: a run is an import, there is no such pass, or a tool read another IR.
        NotRecorded: a recording has no lineage.
    """
    from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage

    for one in recordings:
        if one.header.imported:
            raise UsageError(
                f"{one.path} is an import, and a chain joins recordings: give the dumps of all "
                "stages with --input A.mlir --then B.mlir."
            )
    runs = [RecordedLineage(one) for one in recordings]
    if after is not None:
        at, last = _up_to(recordings, [run.action_count for run in runs], after)
        runs[at:] = [last]
    return ChainLineage(runs, names[: len(runs)])


def _up_to(
    recordings: Sequence[Recording], counts: Sequence[int], after: str
) -> tuple[int, RecordedLineage]:
    """Return the run of a chain in which an action is, and its lineage up to the action's end."""
    from actiondbg.analysis.pipeline import find_pass_end
    from actiondbg.lineage.session_lineage import SessionLineage
    from actiondbg.recording.session.recorded_session import RecordedSession

    with ExitStack() as stack:
        sessions = [stack.enter_context(RecordedSession(one)) for one in recordings]
        firsts = [0, *accumulate(counts)]
        digits = after.removeprefix("#")
        passes = [
            msgspec.structs.replace(one, ordinal=one.ordinal + first)
            for session, first in zip(sessions, firsts, strict=False)
            for one in session.past.passes()
        ]
        ordinal = int(digits) if digits.isdecimal() else find_pass_end(passes, after)
        if not 0 < ordinal <= firsts[-1]:
            raise UsageError(f"There is no action #{ordinal}: the chain has {firsts[-1]}.")
        at = bisect_left(firsts, ordinal) - 1
        return at, SessionLineage(sessions[at], ordinal - firsts[at]).lineage
