"""The operations of a schedule in the text of a module."""

from __future__ import annotations

import pytest

from actiondbg.bisection.reproducer.run import read_schedule

PIPELINE = "builtin.module(transform-interpreter{debug-payload-root-tag= entry-point=@NAME@})"
TEXT = """\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @other(%arg0: !transform.any_op) {
    transform.print : !transform.any_op
    transform.yield
  }
  module @library attributes {transform.with_named_sequence} {
    transform.named_sequence @main(%arg0: !transform.any_op {transform.readonly}) {
      %0 = transform.structured.match ops{["func.func"]} in %arg0 : !transform.any_op
      %loops, %1:2 = transform.alternatives %0 : !transform.any_op {
      ^bb0(%arg1: !transform.any_op):
        transform.yield
      }, {
      ^bb0(%arg1: !transform.any_op):
        transform.yield
      }
      "transform.unknown"() : () -> ()
      transform.yield
    }
  }
}
"""


def test_an_operation_has_the_lines_of_its_regions() -> None:
    schedule = read_schedule(TEXT, PIPELINE.replace("@NAME@", "main"))
    assert schedule is not None
    assert [one.of(TEXT).count("\n") for one in schedule.operations] == [1, 7, 1]
    assert [schedule.name(number) for number in (1, 2, 3)] == [
        "transform.structured.match",
        "transform.alternatives",
        "transform.unknown",
    ]
    assert schedule.beginning(3) == TEXT
    lines = schedule.beginning(1).splitlines()
    assert lines == [*TEXT.splitlines()[:8], *TEXT.splitlines()[16:]]


@pytest.mark.parametrize("name", ["absent", "oth"])
def test_a_schedule_that_is_elsewhere_is_not_read(name: str) -> None:
    assert read_schedule(TEXT, PIPELINE.replace("@NAME@", name)) is None
    assert read_schedule(TEXT, "builtin.module(canonicalize)") is None
