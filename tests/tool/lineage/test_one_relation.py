"""All answers about networks are views of what ``track`` says, at the level that is asked for."""

from __future__ import annotations

import lzma
import random
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from actiondbg.lineage.annotation import Annotation
from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import Lineage, Tracking
from actiondbg.lineage.questions.flows import flows
from actiondbg.lineage.questions.groups import groups
from actiondbg.lineage.questions.kinds import COMMON_KINDS, kind_rows
from actiondbg.lineage.questions.matrix import Matrix, matrix
from actiondbg.lineage.recorded.lineage import RecordedLineage
from actiondbg.lineage.stage import Operation
from actiondbg.lineage.units import outermost, rolled_up, units_of
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.elements import some
from tests.paths import ROOT

BUILDS = ("pypi",)
QUESTIONS = 150  # about each network
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


class Asked(NamedTuple):
    """A network, and its answers that are computed for all operations at once."""

    lineage: Lineage
    exact: bool
    chance: random.Random

    def track(self, operation: Operation, *, back: bool = False) -> Tracking:
        """Return what is compared with all else."""
        to = self.lineage.stages[0 if back else -1]
        return self.lineage.track([operation], to, exact=self.exact)

    def kinds(self, operation: Operation) -> frozenset[str]:
        """Return the kinds of the outermost operations that one became."""
        last = self.lineage.stages[-1]
        found = outermost(last, (one.index for one in self.track(operation).operations))
        return frozenset(last.names[index] for index in found)

    def fates(self, operations: Iterable[Operation]) -> set[frozenset[str]]:
        """Return the kinds without common ones, unless there is nothing else."""
        every = {self.kinds(operation) for operation in operations}
        return {kinds - COMMON_KINDS or kinds for kinds in every}


@pytest.fixture(params=[(name, exact) for name in NETWORKS for exact in (True, False)])
def asked(request: pytest.FixtureRequest, mlir_opt: str, tmp_path: Path) -> Asked:
    name, exact = request.param
    packed = (ROOT / "tests" / "inputs" / f"{name}.mlir.xz").read_bytes()
    source, run = tmp_path / f"{name}.mlir", tmp_path / "run.adbrec"
    source.write_bytes(lzma.decompress(packed))
    passes = f"--pass-pipeline=builtin.module({NETWORKS[name]})"
    record([mlir_opt, str(source), passes, "-o", "/dev/null"], run, lineage=True)
    return Asked(RecordedLineage(open_recording(run)), exact, random.Random(name))


def some_of(asked: Asked, operations: Iterable[Operation]) -> list[Operation]:
    every = list(some(operations))
    return asked.chance.sample(every, min(QUESTIONS, len(every)))


def test_kinds(asked: Asked) -> None:
    first, last = asked.lineage.stages
    became: dict[str, Counter[str]] = {}
    lost: Counter[str] = Counter()
    for operation in some(first):
        kinds = asked.kinds(operation)
        became.setdefault(operation.name, Counter()).update(kinds)
        lost[operation.name] += not kinds
    rows = kind_rows(asked.lineage, exact=asked.exact)
    drawn = flows(asked.lineage, exact=asked.exact, most=10_000)
    gone = sum(kind.value for kind in drawn.kinds if kind.column == 1 and kind.is_lost)
    assert {row.kind: row.became for row in rows} == {kind: dict(became[kind]) for kind in became}
    assert {row.kind: sum(row.lost.values()) for row in rows} == dict(lost)
    assert round(gone) == sum(lost.values())
    assert len(last) > 1


def test_groups(asked: Asked) -> None:
    first, last = asked.lineage.stages
    wrong: list[tuple[str, Operation]] = []
    compared = 0
    for one in some(some_of(asked, first)[:20]):
        wanted = asked.chance.choice(last.names)
        found = groups(asked.lineage, one.name, wanted, exact=asked.exact)
        became = set(found.became)
        tracked = {each: asked.track(each).operations for each in first.named(one.name)}
        reached = [each for each in tracked if wanted in {to.name for to in tracked[each]}]
        wrong += [(wanted, each) for each in reached if each not in became]
        dialect = wanted.partition(".")[0]
        final = [
            fate
            for fate in found.fates
            if not any(kind.startswith(f"{dialect}.") for kind in fate.kinds)
        ]  # the others may have been of the dialect at another time
        compared += len(final)
        wrong += [
            (wanted, fate.operations[0])
            for fate in final
            if asked.fates(fate.operations) != {frozenset(fate.kinds)}
        ]
    assert not wrong
    assert compared


@pytest.mark.parametrize("level", LEVELS)
def test_the_matrix(asked: Asked, level: Level) -> None:
    found = matrix(asked.lineage, level, exact=asked.exact)
    unit_of = _unit_of(found, level)
    cells: dict[int, set[int]] = {}
    for source, place in zip(found.sources.tolist(), found.cell_units.tolist(), strict=True):
        cells.setdefault(source, set()).add(int(found.units[place]))
    lost = {orphan.operation.index for orphan in found.lost}
    unfounded = {orphan.operation.index for orphan in found.unfounded}
    for operation in some(some_of(asked, found.source)):
        tracked = rolled_up(asked.track(operation), level).operations
        assert cells.get(operation.index, set()) == {unit_of(one.index) for one in tracked}
        assert (operation.index in lost) == (not tracked)
    for operation in some(some_of(asked, found.target)):
        assert (operation.index in unfounded) == (not asked.track(operation, back=True).traces)


def _unit_of(found: Matrix, level: Level) -> Callable[[int], int]:
    """Return a function from an answer of track to the unit of the matrix that has it."""
    around = units_of(found.target, level)
    units = {one for one in around if one >= 0}

    def unit_of(index: int) -> int:
        inside = index if index in units else around[index]
        # A loop inside another one is a unit if it was made of the operation.
        return index if index in found.units.tolist() else inside

    return unit_of


def test_annotations(asked: Asked) -> None:
    first, last = asked.lineage.stages
    origins = Annotation(asked.lineage, last, first, exact=asked.exact).origins
    for operation in some(some_of(asked, last)):
        shown = {one.operation.index for one in origins.get(operation.index, [])}
        tracked = asked.track(operation, back=True).operations
        around = {one.index for each in tracked for one in _with_parents(each)}
        assert shown <= around


def _with_parents(operation: Operation) -> list[Operation]:
    found = [operation]
    while found[-1].parent is not None:
        found.append(found[-1].parent)
    return found


@pytest.mark.parametrize("level", LEVELS[1:])
def test_kinds_of_units(asked: Asked, level: Level) -> None:
    first, last = asked.lineage.stages
    became: dict[str, Counter[str]] = {}
    for operation in some(first):
        units = rolled_up(asked.track(operation), level).operations
        became.setdefault(operation.name, Counter()).update({one.name for one in units})
    rows = kind_rows(asked.lineage, exact=asked.exact, level=level)
    assert {row.kind: row.became for row in rows} == {kind: dict(became[kind]) for kind in became}
    kind, wanted = asked.chance.choice([(row.kind, one) for row in rows for one in row.became])
    found = groups(asked.lineage, kind, wanted, exact=asked.exact, level=level)
    assert len(found.became) >= became[kind][wanted] > 0
    assert len(last) > 1
