"""All answers about networks are views of what ``track`` says, at the level that is asked for."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest

from actiondbg.lineage.level import Level
from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.lineage.stage import Stage
from tests.conftest import PYPI
from tests.elements import some
from tests.fakes.lineage.agreement import LEVELS, NETWORKS, Agreement, network_lineage

QUESTIONS = 150  # about each network
T = TypeVar("T")


@pytest.fixture(scope="module", params=NETWORKS)
def lineage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> RecordedLineage:
    tool = PYPI / "mlir-opt"
    if not tool.exists():
        pytest.skip("mlir-opt of pypi is not installed")
    return network_lineage(str(tool), request.param, tmp_path_factory.mktemp("network"))


@pytest.fixture(scope="module", params=[True, False], ids=["exact", "all-evidence"])
def answers(request: pytest.FixtureRequest, lineage: RecordedLineage) -> Agreement:
    return Agreement(lineage, exact=request.param)


def some_of(every: Sequence[T] | Iterable[T], count: int = QUESTIONS) -> list[T]:
    found = list(some(every))
    return random.Random(len(found)).sample(found, min(count, len(found)))


def kinds_of(stage: Stage) -> list[str]:
    return sorted(set(stage.names))


@pytest.mark.parametrize("level", LEVELS)
def test_kinds(answers: Agreement, level: Level) -> None:
    wrong = [kind for kind in kinds_of(answers.first) if not answers.has_kinds(kind, level)]
    assert not wrong
    assert len(answers.last) > 1


def test_flows(answers: Agreement) -> None:
    assert not [kind for kind in kinds_of(answers.first) if not answers.has_flows(kind)]
    lost = sum(not answers.kinds(one) for one in answers.first)
    gone = sum(each.value for each in answers.drawn.kinds if each.column == 1 and each.is_lost)
    assert round(gone) == lost


def test_groups(answers: Agreement) -> None:
    kinds = some_of(answers.first.names, 10)
    pairs = list(zip(kinds, some_of(answers.last.names, 10), strict=False))
    assert not [(kind, to) for kind, to in some(pairs) if not answers.has_groups(kind, to)]
    fates = [answers.has_fates(kind, to) for kind, to in pairs]
    assert False not in fates
    assert True in fates


@pytest.mark.parametrize("level", LEVELS)
def test_the_matrix(answers: Agreement, level: Level) -> None:
    sources, targets = some_of(answers.first), some_of(answers.last)
    assert not [one for one in sources if not answers.has_cells(one, level)]
    assert not [one for one in targets if not answers.has_origin(one, level)]


def test_annotations(answers: Agreement) -> None:
    assert not [one for one in some_of(answers.last) if not answers.has_annotations(one)]


def test_pictures(answers: Agreement) -> None:
    assert not [one for one in some_of(answers.first) if not answers.has_boxes(one)]


def test_random_questions(answers: Agreement) -> None:
    asked = [answers.ask(random.Random(seed)) for seed in range(20)]
    assert not [question for question, is_same in asked if not is_same]
    assert len({question for question, _ in asked}) > 10
