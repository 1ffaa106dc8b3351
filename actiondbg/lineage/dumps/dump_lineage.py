"""The lineage between dumps of IR: operations whose source ranges overlap, or whose texts agree."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from actiondbg.errors import UsageError
from actiondbg.lineage.dumps.text_chains import TextChains
from actiondbg.lineage.graph_lineage import with_bodies
from actiondbg.lineage.lineage import (
    Evidence,
    LineageStep,
    Loss,
    Node,
    StageRelation,
    Trace,
    Tracking,
)
from actiondbg.lineage.locations import (
    HANDFUL,
    FileRemap,
    LocationIndex,
    SourceRange,
    parse_remap,
    same_file,
)
from actiondbg.lineage.stage import Operation, ScannedStage, Stage, scanned_stage


class Sharing(NamedTuple):
    """The operations of a stage that share a source range.

    Args:
        all: their indices.
        outermost: how many of them are not in the regions of others.
    """

    stage: Stage
    all: frozenset[int]
    outermost: int

    @classmethod
    def of(cls, stage: Stage, found: Iterable[int]) -> Sharing:
        """Count the operations of a stage that share a range; a function contains none."""
        every = frozenset(found)
        holders = every.difference(stage.symbols)
        return cls(stage, every, sum(stage.parents[one] not in holders for one in holders))

    def named(self, name: str) -> list[int]:
        """List those of a kind."""
        return [one for one in self.all if self.stage.names[one] == name]


class DumpLineage:
    """A ``Lineage`` of dumps: operations are tracked from any stage to any other by source ranges.

    What a location does not lead to is followed from stage to stage by its text.

    Args:
        stages: in the order of time; the numbers of their operations are distinct.
        remap: names of source files that others replace.
        by_text: follow operations by their texts too.
    """

    is_recorded = False

    def __init__(
        self, stages: Sequence[Stage], remap: FileRemap | None = None, *, by_text: bool = True
    ) -> None:
        self.stages = tuple(stages)
        self.remap = remap or FileRemap()
        self._indices: dict[int, LocationIndex] = {}
        self._shared: dict[tuple[int, SourceRange], Sharing] = {}
        self._firsts = [stage.first_node for stage in self.stages]
        self._chains = TextChains(self.stages, self.remap) if by_text else None

    def index(self, stage: Stage) -> LocationIndex:
        """Return the index of the locations of a stage; it is made once."""
        found = self._indices.get(id(stage))
        if found is None:
            found = self._indices[id(stage)] = LocationIndex(stage.locations, self.remap)
        return found

    def overlapping(self, ranges: Iterable[SourceRange], stage: Stage) -> list[Operation]:
        """Return the operations of a stage whose ranges overlap the given ones, in its order."""
        return [Operation(stage, one) for one in sorted(self.index(stage).overlapping(ranges))]

    def track(
        self,
        operations: Iterable[Operation],
        to: Stage,
        *,
        exact: bool = False,
        nested: bool | None = None,
    ) -> Tracking:
        """Track operations of one stage to another, or to the same for those of the same source.

        Locations and texts are all that dumps have, so that ``exact`` leaves nothing; see
        ``Lineage.track``.
        """
        steps: dict[int, list[LineageStep]] = {}
        losses: list[Loss] = []
        for operation in operations:
            ways = {} if exact else self._ways(operation, to, nested)
            for index, way in ways.items():
                steps.setdefault(index, []).extend(way)
            if not ways:
                why = "inexact" if exact else self._why_lost(operation, to, nested)
                losses.append(Loss(operation.node, why))
        return Tracking(
            tuple(Trace(Operation(to, index), tuple(steps[index])) for index in sorted(steps)),
            tuple(losses),
        )

    def _ways(
        self, operation: Operation, to: Stage, nested: bool | None
    ) -> dict[int, tuple[LineageStep, ...]]:
        """Return the steps to the operations that one and those in its regions lead to."""
        stage, by_location, by_text = (
            operation.stage,
            set[int](),
            dict[int, tuple[LineageStep, ...]](),
        )
        for index in stage.asked(operation.index, nested):
            located, followed = self._related(stage, index, to)
            by_location |= located
            by_text = followed | by_text
        return by_text | {index: (self._step(operation, to, index),) for index in by_location}

    def _related(
        self, stage: Stage, index: int, to: Stage
    ) -> tuple[set[int], dict[int, tuple[LineageStep, ...]]]:
        """Return what the location of an operation leads to, and the steps to what its text does.

        The text is followed unless the location leads to the operation itself.
        """
        found = self.index(to).overlapping(self.index(stage).ranges(index))
        place, there = self._place(stage), self._place(to)
        if place == there or min(place, there) < 0:
            return found, {}
        if place < there:
            located = {one for one in found if self._tells(stage, index, to, one)}
        else:
            located = {one for one in found if self._tells(to, one, stage, index)}
        if self._chains is None or self._chains.is_among(index, place, found, there):
            return located, {}
        return located, self._chains.follow(index, place, there)

    def _tells(self, source: Stage, index: int, target: Stage, heir: int) -> bool:
        """Whether the location of a later operation tells an earlier one from others."""
        name = target.names[heir]
        for one in self.index(target).ranges(heir):
            sharing = self._sharing(source, one)
            if index not in sharing.all:
                continue
            if sharing.outermost <= HANDFUL or sharing.named(name) == [index]:
                return True
        return False

    def _sharing(self, stage: Stage, one: SourceRange) -> Sharing:
        key = id(stage), one
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = Sharing.of(stage, self.index(stage).overlapping([one]))
        return found

    def _step(self, operation: Operation, to: Stage, index: int) -> LineageStep:
        asked, reached = operation.node, to.nodes[index]
        if self._place(operation.stage) > self._place(to):
            asked, reached = reached, asked
        return LineageStep(Evidence.LOCATION, asked, reached)

    def _place(self, stage: Stage) -> int:
        return next((at for at, one in enumerate(self.stages) if one is stage), -1)

    def _why_lost(self, operation: Operation, to: Stage, nested: bool | None) -> str:
        index, asked = self.index(operation.stage), operation.stage.asked(operation.index, nested)
        ranges = {one for each in asked for one in index.ranges(each)}
        if self.index(to).overlapping(ranges):
            return "shared"
        return "unmatched" if any(one.is_known for one in ranges) else "unlocated"

    def relate(self, source: Stage, target: Stage, *, exact: bool = False) -> StageRelation:
        """Return which operations of a stage overlap which of a later one, or have its text.

        Those in the regions of an operation answer for it, as ``track`` has it.
        """
        pairs = array("q")
        for at, to, _ in () if exact else self._pairs(source, target):
            pairs.extend((at, to))
        rows, columns = np.asarray(pairs).reshape(-1, 2).T
        size = max(len(target), 1)
        keys = with_bodies(source, rows, columns, len(target))
        return StageRelation((keys // size).tolist(), (keys % size).tolist(), [False] * len(keys))

    def _pairs(self, source: Stage, target: Stage) -> Iterator[tuple[int, int, Evidence]]:
        """Iterate over the directly related operations of two stages, and what shows it."""
        for at in range(len(source)):
            located, by_text = self._related(source, at, target)
            for to in sorted({*located, *by_text}):
                yield at, to, Evidence.LOCATION if to in located else Evidence.TEXT

    def steps(self, *, exact: bool = False) -> Iterator[LineageStep]:
        """Iterate over the steps from each dump to the next."""
        for source, target in () if exact else pairwise(self.stages):
            for at, to, evidence in self._pairs(source, target):
                yield LineageStep(evidence, source.nodes[at], target.nodes[to])

    def events(self, number: int) -> Sequence[LineageStep]:
        """Return how an operation was modified and moved: dumps do not show it."""
        return ()

    def node(self, number: int) -> Node:
        at = bisect_right(self._firsts, number) - 1
        operation = self.stages[at].of_node(number) if at >= 0 else None
        if operation is None:
            raise KeyError(number)
        functions = (one for one in operation.around if one.name.rpartition(".")[2] == "func")
        symbol = next((one.symbol for one in functions), "")
        return Node(number, operation.name, operation.location.text, symbol)

    def action(self, ordinal: int) -> str:
        """Name an action; dumps have none, so that each number raises KeyError."""
        raise KeyError(ordinal)

    def pass_of(self, ordinal: int) -> int | None:
        """Return the pass around an action; dumps have none."""
        return None

    def unused_remap(self) -> str:
        """Return a sentence about names of the remap that no location has; empty if all are."""
        for stage in self.stages:
            self.index(stage)
        unused = self.remap.unused()
        if not unused:
            return ""
        files = _listed(
            dict.fromkeys(one for stage in self.stages for one in self.index(stage).files)
        )
        return f"The remap of {unused[0]!r} matches no location: the locations are in {files}."

    def check_order(self) -> None:
        """Check that each dump overlaps the first dump, and was not made earlier.

        Raises:
            UsageError: the locations of a dump overlap none of the first dump, or those of an
                earlier dump are in a later one.
        """
        first = self.stages[0]
        for stage in self.stages[1:]:
            if self._names(first, stage.name) and not self._names(stage, first.name):
                raise UsageError(
                    f"The stages are in the wrong order: the locations of {first.name} are in "
                    f"{stage.name}, from which it was made. Give {stage.name} first."
                )
            if not self._is_related(first, stage):
                raise UsageError(self._unrelated(first, stage))

    def _names(self, stage: Stage, file: str) -> bool:
        """Whether locations of a stage are in a file."""
        return any(same_file(one, file) for one in self.index(stage).files)

    def _is_related(self, first: Stage, stage: Stage) -> bool:
        small, large = sorted((first, stage), key=len)
        from_index, to_index = self.index(small), self.index(large)
        return any(to_index.overlapping(from_index.ranges(at)) for at in range(len(small)))

    def _unrelated(self, first: Stage, stage: Stage) -> str:
        files, others = self.index(first).files, self.index(stage).files
        if all(same_file(one, stage.name) for one in others):  # none, or its own lines
            return (
                f"{stage.name} has no source locations: print it with --mlir-print-debuginfo, "
                "so that its operations can be tracked."
            )
        return (
            f"No location of {stage.name} overlaps one of {first.name}: those of {stage.name} are "
            f"in {_listed(others)}, those of {first.name} in {_listed(files)}. Give the stages in "
            "the order of the compilation, or --remap OLD=NEW for files that are the same."
        )


def _listed(files: Iterable[str]) -> str:
    found = list(files)
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return (", ".join(repr(one) for one in found[:3]) or "no file") + more


# --- dumps that users name on the command line: files of IR ---


class DumpFiles(NamedTuple):
    """The lineage of files, and sentences about what could not be used of them."""

    lineage: DumpLineage
    notes: tuple[str, ...]


def read_dumps(
    files: Sequence[str], *, remap: Sequence[str] = (), partial: bool = False
) -> DumpFiles:
    """Read dumps, in the order of the compilation; ``-`` is standard input.

    Args:
        files: their paths.
        remap: ``OLD=NEW`` names of source files; ``%i`` is the first dump, ``%t`` the second.
        partial: use what can be read of a dump whose brackets do not match.

    Raises:
        UsageError: a file cannot be read, a dump is not IR, or a remap is invalid.
        BrokenText: the brackets of a dump do not match.
    """
    stages: list[Stage] = []
    notes: list[str] = []
    own = _own_files(files)
    pairs = [parse_remap(_with_placeholders(one, [own[file] for file in files])) for one in remap]
    texts = {file: _text(file) for file in own}  # standard input can be read only once
    for file in files:
        scanned = _scanned(file, texts[file], own[file], sum(map(len, stages)), partial)
        stages.append(scanned.stage)
        notes.extend([scanned.note] if scanned.note not in ("", *notes) else [])
    lineage = DumpLineage(stages, FileRemap(pairs))
    unused = lineage.unused_remap() if pairs else ""
    if unused:
        raise UsageError(unused)
    return DumpFiles(lineage, tuple(notes))


def _own_files(files: Sequence[str]) -> dict[str, str]:
    """Return the file that the locations of each dump without locations name."""
    own = {file: "<stdin>" if file == "-" else file for file in files}
    if any(same_file(one, two) for one, two in combinations(own.values(), 2) if one != two):
        # a.mlir is the end of b/a.mlir, but not the same file.
        own = {
            file: name if file == "-" else str(Path(name).absolute()) for file, name in own.items()
        }
    return own


def _scanned(file: str, text: str, own_file: str, first_node: int, partial: bool) -> ScannedStage:
    name = "standard input" if file == "-" else file
    scanned = scanned_stage(text, name, file=own_file, first_node=first_node, partial=partial)
    if not len(scanned.stage):
        raise UsageError(f"{name} has no operations: is it the text of an IR?")
    return scanned


def _text(file: str) -> str:
    # MLIR counts columns in bytes: each byte that is no UTF-8 must stay one.
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file!r} cannot be read: {error.strerror or error}.") from error
    if data.startswith(b"ML\xefR"):
        raise UsageError(f"{file!r} is bytecode: print it as text with mlir-opt.")
    return data.decode(errors="surrogateescape")


def _with_placeholders(remap: str, files: Sequence[str]) -> str:
    names = {"%i": files[0], "%t": files[1] if len(files) > 1 else ""}
    return "=".join(names.get(part.strip(), part) for part in remap.split("="))
