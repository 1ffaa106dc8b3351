"""SPEC and EXPR: the pass around an action, its runs, and outcomes in conditions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import actiondbg
from actiondbg.errors import UsageError
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.session.recorded_session import RecordedSession
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]

PIPELINE = "--pass-pipeline=builtin.module(func.func(canonicalize,cse),canonicalize)"


def passes_around(session: actiondbg.Session) -> list[tuple[int, str, str | None]]:
    """Return ordinal, name and function of the passes around the stop, the innermost first."""
    frames = [each for each in session.stack.frames() if each.tag == "pass-execution"]
    return [(each.ordinal, each.name, each.function) for each in frames]


def test_the_runs_of_a_pass_are_numbered_in_order(launch: Launch) -> None:
    session = launch(PIPELINE)
    runs = {"in:canonicalize#1": "sum", "in:canonicalize#2": "twice", "in:canonicalize#3": None}
    for spec in runs:
        session.breakpoints.add(spec, temporary=True)
    session.start()
    for function in runs.values():
        stop = session.continue_()
        assert stop.tag == "GreedyPatternRewriteIteration"
        assert passes_around(session)[0][1:] == ("canonicalize", function)
    assert session.continue_().when == "exit"


def test_a_run_is_counted_before_its_breakpoint_is_set(launch: Launch) -> None:
    session = launch(PIPELINE)
    session.breakpoints.add("pass:cse")
    session.run()
    session.breakpoints.delete([1])
    session.breakpoints.add("in:canonicalize#1")
    second = session.breakpoints.add("in:canonicalize#2")
    stop = session.continue_()
    assert (stop.breakpoints, stop.function) == ([second.id], "twice")


def test_a_condition_about_the_outcome_stops_after_the_action(launch: Launch) -> None:
    session = launch()
    one = session.breakpoints.add(
        "tag:apply-pattern", "outcome == 'succeeded' and op == 'arith.addi'"
    )
    assert one.after
    stop = session.run()
    # The operation was replaced: the other fields are those before the action.
    assert (stop.when, stop.op) == ("after", "arith.addi")
    assert stop.outcome is not None and stop.outcome.result == "succeeded"
    assert any(change.kind == "erased" and change.id == stop.id for change in stop.changes)


def test_the_condition_decides_when_a_breakpoint_stops(launch: Launch) -> None:
    session = launch()
    one = session.breakpoints.add("tag:apply-pattern")
    assert session.run().when == "before"
    session.breakpoints.set_condition(one.id, "outcome == 'failed'")
    stop = session.continue_()
    assert stop.when == "after" and stop.outcome is not None and stop.outcome.result == "failed"
    session.breakpoints.set_condition(one.id, None)
    assert not session.breakpoints.get(one.id).after
    assert session.continue_().when == "before"
    session.breakpoints.set_condition(one.id, "outcome == 'succeeded'")
    assert session.breakpoints.get(one.id).after


def test_a_skipped_action_has_an_outcome(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("tag:apply-pattern", temporary=True)
    first = session.run()
    session.breakpoints.add("tag:*", "outcome == 'skipped'")
    stop = session.skip()
    assert (stop.when, stop.ordinal, stop.skipped) == ("after", first.ordinal, True)


def test_time_travel_finds_the_stops_again(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("in:canonicalize#1 and tag:apply-pattern", "outcome == 'succeeded'")
    stops = [(stop.ordinal, stop.when) for stop in stock.each(session)]
    assert len(stops) == 2
    back: list[tuple[int, str]] = []
    while (stop := session.timeline.reverse_continue()).breakpoints:
        back.append((stop.ordinal, stop.when))
    assert back == stops[::-1]


def test_advance_waits_for_the_outcome(launch: Launch) -> None:
    session = launch(PIPELINE)
    session.start()
    stop = session.advance("in:canonicalize#2", "outcome == 'succeeded'")
    assert (stop.when, stop.function, stop.reason) == ("after", "twice", "until")
    assert stop.outcome is not None and stop.outcome.result == "succeeded"
    assert session.advance("in:canonicalize#3").when == "before"


def test_a_watch_has_no_outcome_to_compare(launch: Launch) -> None:
    session = launch()
    with pytest.raises(UsageError, match="condition of a watch cannot be about the outcome"):
        session.breakpoints.watch("@5", condition="outcome == 'failed'")
    watch = session.breakpoints.watch("@5", condition="pass == 'canonicalize'")
    with pytest.raises(UsageError, match="cannot be about the outcome"):
        session.breakpoints.set_condition(watch.id, "outcome == 'failed'")
    assert session.run().breakpoints == [watch.id]


def test_a_recording_stops_at_the_same_events(launch: Launch, mlir_opt: str, folds: str) -> None:
    recorded = record(
        [mlir_opt, folds, PIPELINE, "--mlir-disable-threading", "-o", "out"], "run.adbrec"
    )
    assert recorded.path is not None
    wanted = [
        ("in:canonicalize#2", None),
        ("tag:apply-pattern", "outcome == 'succeeded' and pass == 'canonicalize'"),
        ("in:canon*#1", "outcome != 'failed'"),
    ]
    found: list[list[tuple[int, list[int]]]] = []
    with RecordedSession(open_recording(recorded.path)) as past, launch(PIPELINE) as live:
        for session in (past, live):
            for spec, condition in wanted:
                session.breakpoints.add(spec, condition)
            session.start()
            stop = session.advance("in:cse", "outcome == 'unchanged'")
            found.append([])
            while stop.when != "exit":
                found[-1].append((stop.event, stop.breakpoints))
                stop = session.continue_()
    assert found[0] == found[1] and len(found[0]) > 5
