"""Which process judges which query."""

from __future__ import annotations

import pytest

from actiondbg.validation.function_judgement import JudgementLimits, Query
from actiondbg.validation.workers import Numbered, Workers

pytest.importorskip("mlir.ir", reason="needs the extra validate")

_LIMITS = JudgementLimits(seconds=5)


def _stage(number: int) -> str:
    """Return a function that each stage computes by another constant and the same result."""
    return f"""func.func @f(%a: i32) -> i32 {{
  %c = arith.constant {number} : i32
  %d = arith.constant {-number} : i32
  %e = arith.addi %a, %c : i32
  %f = arith.addi %e, %d : i32
  return %f : i32
}}"""


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_query_is_answered_once(count: int) -> None:
    queries = [
        Numbered(number, Query(_stage(number), _stage(number + 1)), 5.0) for number in range(1, 9)
    ]
    with Workers(count) as workers:
        answers = {asked.number: found for asked, found in workers.answers(queries, _LIMITS)}
        again = list(workers.answers(queries[:1], _LIMITS))
    assert sorted(answers) == list(range(1, 9))
    assert all(found[0].verdict == "equivalent" for found in answers.values())
    assert len(again) == 1


def test_one_process_keeps_the_order() -> None:
    queries = [
        Numbered(number, Query(_stage(number), _stage(number + 1)), 5.0) for number in (5, 2, 8, 9)
    ]
    with Workers(1) as workers:
        order = [asked.number for asked, _ in workers.answers(queries, _LIMITS)]
    assert order == [5, 2, 8, 9]


def test_a_process_goes_on_with_what_it_has_read() -> None:
    """The queries of the other chain, which are between, wait."""
    chains = [
        Numbered(10 * chain + at, Query(_stage(10 * chain + at), _stage(10 * chain + at + 1)), 5.0)
        for at in range(1, 4)
        for chain in (1, 2)
    ]
    with Workers(1) as workers:
        order = [asked.number for asked, _ in workers.answers(chains, _LIMITS)]
    assert order == [11, 12, 13, 21, 22, 23]


def test_limits_change_between_queries() -> None:
    query = Numbered(1, Query(_stage(1), _stage(2).replace("-2", "-3")), 5.0)
    with Workers(1) as workers:
        workers.start()
        ((_, (few,)),) = workers.answers([query], JudgementLimits(seconds=5, inputs=1))
        ((_, (many,)),) = workers.answers([query], _LIMITS)
    assert few.verdict == many.verdict == "different"
