"""Replays of a tool that does not repeat itself: a file that it reads changes meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock

BUILDS = LIBRARY

Launch = Callable[..., actiondbg.Session]

SHARED = """\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %f {
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    transform.yield
  }
}
"""
FLAGS = (
    "--cse",
    "--transform-preload-library=transform-library-paths=library.mlir",
    "--transform-interpreter",
    "--canonicalize",
)
_KINDS = ("addi", "muli", "subi", "xori")
FIRST = (
    "#9: run apply-pattern AddIAddConstant on arith.addi @7, replay fold on arith.addi @6. "
    "The tool may be nondeterministic."
)


def change_library() -> None:
    """Make the next run of the transform library apply other patterns."""
    text = SHARED.replace("patterns.canonicalization", "patterns.linalg.tiling_canonicalization")
    Path("library.mlir").write_text(text)


@pytest.fixture
def session(launch: Launch) -> actiondbg.Session:
    """A session without checkpoints, so that each replay reads the library again."""
    Path("library.mlir").write_text(SHARED)
    session = launch(*FLAGS)
    session.timeline.checkpoints.spacing = 0
    return session


def first_change(session: actiondbg.Session) -> actiondbg.Stop:
    """Stop after the first pattern that changed the IR."""
    session.breakpoints.add("pattern:AddIAddConstant", outcome="succeeded")
    return session.run()


def test_a_replay_that_differs_answers_nothing(session: actiondbg.Session) -> None:
    stop = first_change(session)
    assert session.past.why_not("*").attempts
    change_library()
    for ask in (
        lambda: session.past.why_not("*"),
        lambda: session.past.history("@6"),
        lambda: session.past.diff(),
        lambda: session.past.actions(),
        lambda: session.past.passes(),
        lambda: session.past.statistics(),
        lambda: session.past.cycles(),
        lambda: session.timeline.goto(stop.ordinal),
        lambda: session.timeline.reverse_step(),
        lambda: session.timeline.reverse_continue(),
    ):
        with pytest.raises(errors.NoAnswer) as refused:
            ask()
        assert str(refused.value) == f"The replay differs from the run at {FIRST}"
    assert session.stop == stop, "the session is where it was"


def test_a_place_before_the_difference_is_reached(session: actiondbg.Session) -> None:
    stop = first_change(session)
    change_library()
    assert session.timeline.goto(stop.ordinal - 1).ordinal == stop.ordinal - 1
    assert session.past.actions().is_complete


def test_a_run_that_went_back_reports_where_it_differs(session: actiondbg.Session) -> None:
    first_change(session)
    session.timeline.goto(3)
    change_library()
    session.timeline.goto(1)
    differs = FIRST.replace("run ", "before ").replace("replay ", "now ")
    stop = session.continue_()
    assert stop.message == f"The run differs from before it went back at {differs}"
    assert session.next().message is None, "it is reported once"


def test_a_skip_is_no_difference(session: actiondbg.Session) -> None:
    stop = first_change(session)
    session.timeline.goto(stop.ordinal)
    session.breakpoints.delete([1])
    end = session.skip()
    assert end.message is not None and "differs" not in end.message
    session.timeline.goto(stop.ordinal + 1)
    assert session.past.why_not("AddI*").attempts[0].ordinal == stop.ordinal


def test_a_run_that_ended_is_compared_too(session: actiondbg.Session) -> None:
    first_change(session)
    session.breakpoints.delete([1])
    end = session.continue_()
    assert end.when == "exit" and session.past.actions().is_complete
    change_library()
    with pytest.raises(errors.NoAnswer, match="The replay differs from the run at #9: run apply"):
        session.past.why_not("*")


def test_a_run_that_goes_back_over_a_million_actions_is_no_other_one(
    launch: Launch, tmp_path: Path
) -> None:
    """The oldest actions are no longer known then."""
    count = 230_000
    lines = [f"  %v0 = arith.{_KINDS[0]} %x, %c : i32"]
    lines += [f"  %v{i} = arith.{_KINDS[i % 4]} %v{i - 1}, %c : i32" for i in range(1, count)]
    text = "\n".join(
        ["func.func @f(%x: i32, %c: i32) -> i32 {", *lines, f"  return %v{count - 1} : i32", "}"]
    )
    session = launch(
        "--canonicalize",
        "--cse",
        "-o",
        "/dev/null",
        source=stock.write(str(tmp_path / "in.mlir"), text),
    )
    last = session.breakpoints.add("#1060000")
    stop = session.run()
    assert stop.ordinal == 1_060_000
    for ordinal in (5, 1_000_000, 6, 1_060_000, 7):
        assert session.timeline.goto(ordinal).ordinal == ordinal
    session.breakpoints.delete([last.id])
    assert session.continue_().status == 0
