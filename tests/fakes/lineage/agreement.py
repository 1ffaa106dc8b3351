"""Random questions about a lineage, each answered by ``track`` and by a view of all operations.

tests/tool/lineage/test_one_relation.py asks some of each network, scripts/lineage_agreement.py
many more.
"""

from __future__ import annotations

import lzma
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path

from actiondbg.lineage.annotation import Annotation
from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import Lineage, Tracking
from actiondbg.lineage.pictures.tracking_picture import picture
from actiondbg.lineage.questions.flows import Flows, flows
from actiondbg.lineage.questions.groups import groups
from actiondbg.lineage.questions.kinds import COMMON_KINDS, KindRow, kind_rows
from actiondbg.lineage.questions.matrix import Matrix, matrix
from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.lineage.stage import Operation
from actiondbg.lineage.units import outermost, rolled_up, units_of
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.elements import some
from tests.paths import ROOT

_BUFFERIZE = (
    "eliminate-empty-tensors,empty-tensor-to-alloc-tensor,one-shot-bufferize"
    "{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map}"
)
_FUSED = "func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),canonicalize,cse"
_LOOPS = f"{_FUSED},{_BUFFERIZE},func.func(convert-linalg-to-loops),canonicalize,cse"
NETWORKS = {
    "face_detection": (
        "func.func(tosa-infer-shapes,tosa-make-broadcastable,tosa-to-linalg-named,tosa-to-linalg,"
        "tosa-to-arith,tosa-to-tensor,linalg-fuse-elementwise-ops),canonicalize,cse"
    ),
    "gpt6_fwd.linalg": _LOOPS,
    "resnet18_fwd.linalg": _LOOPS,
}
LEVELS: tuple[Level, ...] = ("operation", "loop", "function", "dispatch")


def network_lineage(tool: str, name: str, folder: Path) -> RecordedLineage:
    """Record the compilation of a network.

    Args:
        tool: the mlir-opt.
        name: of ``NETWORKS``.
        folder: for the files.
    """
    packed = (ROOT / "tests" / "inputs" / f"{name}.mlir.xz").read_bytes()
    source, run = folder / f"{name}.mlir", folder / f"{name}.adbrec"
    source.write_bytes(lzma.decompress(packed))
    passes = f"--pass-pipeline=builtin.module({NETWORKS[name]})"
    record([tool, str(source), passes, "-o", "/dev/null"], run, lineage=True)
    return RecordedLineage(open_recording(run))


class Agreement:
    """Compares what ``track`` says of single operations with the views of all of them.

    Each comparison returns whether the two agree.

    Args:
        lineage: an input and an output.
        exact: leave out what only locations show.
    """

    def __init__(self, lineage: Lineage, *, exact: bool) -> None:
        self._lineage = lineage
        self._exact = exact
        self.first, self.last = lineage.stages
        self._matrix = cache(self._matrix_of)
        self._rows = cache(self._rows_of)
        self._cells = cache(self._cells_of)
        self._unit_of = cache(self._unit_function)

    def __repr__(self) -> str:
        return "exact" if self._exact else "all evidence"

    def track(self, operation: Operation, *, back: bool = False) -> Tracking:
        """Return what is compared with all else."""
        to = self._lineage.stages[0 if back else -1]
        return self._lineage.track([operation], to, exact=self._exact)

    def ask(self, chance: random.Random) -> tuple[str, bool]:
        """Ask a random question; return it, and whether the answers agree."""
        level = chance.choice(LEVELS)
        source, target = (self._some(stage, chance) for stage in (self.first, self.last))
        kind, wanted = source.name, chance.choice(self.last.names)
        asked: dict[str, Callable[[], bool]] = {
            f"the cells of {source!r}, {level}": lambda: self.has_cells(source, level),
            f"the origins of {target!r}, {level}": lambda: self.has_origin(target, level),
            f"--kinds of {kind}, {level}": lambda: self.has_kinds(kind, level),
            f"--kind {kind} --became {wanted}, {level}": lambda: self.has_groups(
                kind, wanted, level
            ),
            f"the fates of {kind}": lambda: self.has_fates(kind, wanted) is not False,
            f"--sankey of {kind}": lambda: self.has_flows(kind),
            f"annotations of {target!r}": lambda: self.has_annotations(target),
            f"the picture of {source!r}": lambda: self.has_boxes(source),
        }
        question = chance.choice(list(asked))
        return f"{question} ({self!r})", asked[question]()

    @staticmethod
    def _some(stage: Sequence[Operation] | Iterable[Operation], chance: random.Random) -> Operation:
        return chance.choice(list(stage))

    # --- single operations ---

    def has_cells(self, operation: Operation, level: Level) -> bool:
        """Whether the matrix has the units that an operation of the input became."""
        tracked = rolled_up(self.track(operation), level).operations
        wanted = {self._unit_of(level)(one.index) for one in tracked}
        is_lost = operation.index in {each.operation.index for each in self._matrix(level).lost}
        return self._cells(level).get(operation.index, set()) == wanted and is_lost != bool(tracked)

    def has_origin(self, operation: Operation, level: Level) -> bool:
        """Whether the matrix lists an operation of the output without origin, if it has none."""
        unfounded = {each.operation.index for each in self._matrix(level).unfounded}
        return (operation.index in unfounded) != bool(self.track(operation, back=True).traces)

    def has_annotations(self, operation: Operation) -> bool:
        """Whether the annotations name nothing but origins, and the operations around them."""
        shown = {one.index for one in self._annotated.get(operation.index, [])}
        around: set[int] = set()
        for one in self.track(operation, back=True).operations:
            at: Operation | None = one
            while at is not None:
                around.add(at.index)
                at = at.parent
        return shown <= around

    def has_boxes(self, operation: Operation) -> bool:
        """Whether the picture ends at what an operation became."""
        tracking = self.track(operation)
        drawn = picture(self._lineage, [operation], tracking)
        ends = {node for box in drawn.boxes if box.kind == "end" for node in box.nodes}
        return {one.node for one in tracking.operations} <= ends | {operation.node}

    # --- kinds ---

    def kinds(self, operation: Operation, level: Level = "operation") -> frozenset[str]:
        """Return the kinds of the outermost operations, or units, that one became."""
        found = self.track(operation)
        if level != "operation":
            return frozenset(one.name for one in rolled_up(found, level).operations)
        outer = outermost(self.last, (one.index for one in found.operations))
        return frozenset(self.last.names[index] for index in outer)

    def has_kinds(self, kind: str, level: Level) -> bool:
        """Whether the row of a kind has what each of its operations became."""
        every = [self.kinds(one, level) for one in self.first.named(kind)]
        row = self._rows(level)[kind]
        became = Counter(name for kinds in every for name in kinds)
        return row.became == became and sum(row.lost.values()) == sum(not one for one in every)

    def has_flows(self, kind: str) -> bool:
        """Whether as many operations of a kind are drawn as lost as became nothing."""
        every = [self.kinds(one) for one in self.first.named(kind)]
        drawn = flows(self._lineage, kind, exact=self._exact, most=10_000)
        gone = sum(each.value for each in drawn.kinds if each.column == 1 and each.is_lost)
        return round(gone) == sum(not one for one in every)

    def has_groups(self, kind: str, wanted: str, level: Level = "operation") -> bool:
        """Whether those that became a kind are among those that have."""
        found = groups(self._lineage, kind, wanted, exact=self._exact, level=level)
        became = set(found.became)
        for one in self.first.named(kind):
            tracked = rolled_up(self.track(one), level).operations
            if wanted in {to.name for to in tracked} and one not in became:
                return False
        return True

    def has_fates(self, kind: str, wanted: str) -> bool | None:
        """Whether others than those that became a kind became what their groups say.

        None if there is nothing to compare: all were of the dialect, perhaps at another time.
        """
        found = groups(self._lineage, kind, wanted, exact=self._exact)
        dialect = wanted.partition(".")[0]
        final = [
            fate
            for fate in found.fates
            if not any(each.startswith(f"{dialect}.") for each in fate.kinds)
        ]
        if not final:
            return None
        return all(self._fates(fate.operations) == {frozenset(fate.kinds)} for fate in final)

    def _fates(self, operations: Iterable[Operation]) -> set[frozenset[str]]:
        """Return the kinds without common ones, unless there is nothing else."""
        every = {self.kinds(operation) for operation in operations}
        return {kinds - COMMON_KINDS or kinds for kinds in every}

    # --- views of all operations ---

    @cached_property
    def drawn(self) -> Flows:
        """The flows of all kinds."""
        return flows(self._lineage, exact=self._exact, most=10_000)

    @cached_property
    def _annotated(self) -> dict[int, list[Operation]]:
        found = Annotation(self._lineage, self.last, self.first, exact=self._exact).origins
        return {index: [one.operation for one in origins] for index, origins in found.items()}

    def _rows_of(self, level: Level) -> dict[str, KindRow]:
        rows = kind_rows(self._lineage, exact=self._exact, level=level)
        return {row.kind: row for row in some(rows)}

    def _matrix_of(self, level: Level) -> Matrix:
        return matrix(self._lineage, level, exact=self._exact)

    def _cells_of(self, level: Level) -> dict[int, set[int]]:
        found, cells = self._matrix(level), dict[int, set[int]]()
        for source, place in zip(found.sources.tolist(), found.cell_units.tolist(), strict=True):
            cells.setdefault(source, set()).add(int(found.units[place]))
        return cells

    def _unit_function(self, level: Level) -> Callable[[int], int]:
        """Return a function from an answer of track to the unit of the matrix that has it."""
        found = self._matrix(level)
        around = units_of(found.target, level)
        units, shown = {one for one in around if one >= 0}, set(found.units.tolist())

        def unit_of(index: int) -> int:
            inside = index if index in units else around[index]
            # A loop inside another one is a unit if it was made of the operation.
            return index if index in shown else inside

        return unit_of
