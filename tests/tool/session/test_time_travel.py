"""Going back in the real tool, and on again: each command, and the hits on the way."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.stop import Stop
from scripts.benchmarks.inputs import PIPELINE, many_functions
from tests.fakes import stock_tool as stock
from tests.fakes.stops import Place, all_stops, alone, place, same

Launch = Callable[..., actiondbg.Session]


def parent_of(stops: dict[int, Stop], stop: Stop) -> int:
    """The event at which the action around another begins."""
    return max(
        event
        for event, one in stops.items()
        if event < stop.event and one.when == "before" and one.depth == stop.depth - 1
    )


# --- there and back -----------------------------------------------------------------------------


def test_reverse_step_goes_back_event_by_event(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    stops = all_stops(session)
    assert list(stops) == list(range(1, len(stops) + 1))
    for event in reversed(stops):
        assert same(session.reverse_step(), stops[event])
    with pytest.raises(errors.ControlRefused, match="first action comes next"):
        session.reverse_step()
    assert same(session.step(9), stops[10])
    assert same(session.reverse_step(4), stops[6])
    stop = session.reverse_step(100)
    assert place(stop) == (1, 1, "before")
    assert (stop.reason, stop.message) == ("start", "this is the beginning of the run")


def test_reverse_next_goes_back_over_what_is_nested(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    stops = all_stops(session)
    last = max(stops)
    assert place(session.reverse_next()) == (last, stops[last].ordinal, "after")
    assert place(session.reverse_next())[1:] == (stops[last].ordinal, "before")
    for event, stop in stops.items():
        if event % 5 or event == 1:
            continue
        session.goto(stop.ordinal, "before" if stop.when == "before" else "after")
        back = session.reverse_next()
        if stop.when == "after":
            assert place(back)[1:] == (stop.ordinal, "before")
        else:
            assert same(back, stops[event - 1])
    session.goto(stops[last].ordinal, "after")
    one_by_one = [session.reverse_next() for _ in range(3)][-1]
    session.goto(stops[last].ordinal, "after")
    assert same(session.reverse_next(3), one_by_one)


def test_reverse_finish_goes_before_the_parent(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    stops = all_stops(session)
    nested = [stop for stop in stops.values() if stop.depth][::7]
    for stop in nested:
        session.goto(stop.ordinal, "before" if stop.when == "before" else "after")
        parent = stops[parent_of(stops, stop)]
        assert same(session.reverse_finish(), parent)
    deep = next(stop for stop in stops.values() if stop.depth == 2)
    session.goto(deep.ordinal)
    assert session.reverse_finish(2).depth == 0
    with pytest.raises(errors.ControlRefused, match="no action is around this place"):
        session.reverse_finish()
    session.goto(deep.ordinal)
    with pytest.raises(errors.ControlRefused, match="2 actions are around this place"):
        session.reverse_finish(3)
    assert place(session.wait()) == place(deep)


def test_goto_goes_both_ways(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    stops = all_stops(session)
    by_place = {(stop.ordinal, stop.when): stop for stop in stops.values()}
    last = max(stop.ordinal for stop in stops.values())
    for ordinal in (last, 1, last // 2, last // 3, last - 1):
        assert same(session.goto(ordinal), by_place[ordinal, "before"])
        assert same(session.goto(ordinal, "after"), by_place[ordinal, "after"])
        assert same(session.goto(ordinal), by_place[ordinal, "before"])
    for ordinal in (0, last + 1):
        with pytest.raises(errors.UsageError):
            session.goto(ordinal)
        assert place(session.wait())[1] == last - 1  # it is still there
    assert session.continue_().status == 0
    with pytest.raises(
        errors.UsageError, match=f"ends after {last} actions: there is no #{last + 7}"
    ):
        session.goto(last + 7)
    assert session.output() == alone(session)


def test_goto_passes_breakpoints(launch: Launch) -> None:
    session = launch()
    session.start()
    every = session.add_breakpoint("pattern:AddIAddConstant")
    attempts = len(session_attempts(launch))
    assert place(session.goto(2))[1] == 2
    stop = session.goto(20)
    assert (stop.ordinal, stop.reason) == (20, "until")
    while stop.when != "exit":
        stop = session.continue_()
    assert session.breakpoint(every.id).hits == attempts


def session_attempts(launch: Launch) -> list[int]:
    session = launch()
    session.add_breakpoint("pattern:AddIAddConstant")
    return [stop.ordinal for stop in stock.stops(session)]


def test_goto_is_not_held_up_by_a_change_that_was_looked_for(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    session.start()
    session.add_breakpoint("tag:fold")
    stop = session.next_change(2)
    assert stop.reason == "breakpoint"  # in an action that may be the change
    assert place(session.goto(stop.ordinal + 10))[1:] == (stop.ordinal + 10, "before")


def test_goto_can_be_interrupted(launch: Launch) -> None:
    source = str(many_functions(Path("many.mlir"), 150))
    session = launch(f"--pass-pipeline={PIPELINE}", source=source)
    session.add_breakpoint("pass:cse")
    session.start()
    ignored = session.add_breakpoint("pass:cse")
    session.set_ignore(ignored.id, 5)
    session.add_breakpoint("pass:cse", temporary=True)

    def interrupt() -> None:
        while session.state != "running":
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        session.goto(40_000)
    thread.join()
    session.interrupt()
    stop = session.wait()
    assert (stop.reason, stop.when) == ("interrupt", "before")
    assert 1 < stop.ordinal < 40_000
    assert [one.ignore for one in session.breakpoints] == [0, 5, 0]  # none of them was used up
    session.goto(2)
    assert session.continue_().breakpoints == [1, 3]
    assert [one.id for one in session.breakpoints] == [1, 2]
    assert session.continue_().status == 0
    assert session.output() == alone(session)


# --- hits, backwards ------------------------------------------------------------------------------


def test_reverse_continue_finds_the_hits_in_reverse(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    session.checkpoint_spacing = 1
    session.add_breakpoint("pattern:*Constant*")
    session.add_breakpoint("pass:cse", after=True)
    session.add_breakpoint("tag:apply-pattern", outcome="changed")
    stop = session.run()
    forward: list[tuple[Place, list[int], list[int]]] = []
    while stop.when != "exit":
        hits = [one.hits for one in session.breakpoints]
        forward.append((place(stop), stop.breakpoints, hits))
        stop = session.continue_()
    assert len(forward) > 4
    for expected in reversed(forward):
        stop = session.reverse_continue()
        assert (place(stop), stop.breakpoints) == expected[:2]
        assert [one.hits for one in session.breakpoints] == expected[2]
        assert stop.reason == "breakpoint"
    stop = session.reverse_continue()
    assert (place(stop), stop.reason) == ((1, 1, "before"), "start")
    assert stop.message is not None and "nothing was hit before" in stop.message
    with pytest.raises(errors.ControlRefused):
        session.reverse_continue()
    assert place(session.continue_(3)) == forward[2][0]
    assert place(session.reverse_continue(2)) == forward[0][0]
    session.goto(stop.ordinal + 1)
    assert session.reverse_continue(2).reason == "start"


def test_reverse_continue_finds_watches(launch: Launch) -> None:
    session = launch()
    session.start()
    session.move_cursor("location", path="folds.mlir", line=5)
    session.watch("cursor")
    changes = [session.continue_()]
    while changes[-1].when != "exit":
        changes.append(session.continue_())
    changes.pop()
    assert changes
    for change in reversed(changes):
        stop = session.reverse_continue()
        assert (stop.reason, stop.message) == ("watch", change.message)
        assert place(stop) == place(change)


def test_reverse_continue_finds_catches_inside_of_actions(
    debian: Callable[[str], str], folds: str
) -> None:
    flags = "--pass-pipeline=builtin.module(func.func(test-interface-pass),cse,canonicalize)"
    argv = [debian("mlir-opt"), folds, flags, "--mlir-disable-threading"]
    with actiondbg.launch(argv) as session:
        session.catch("diagnostic")
        session.add_breakpoint("tag:pass-execution", after=True)
        stop = session.run()
        forward: list[tuple[Place, str | None]] = []
        while stop.when != "exit":
            forward.append((place(stop), stop.message))
            stop = session.continue_()
        assert [where[2] for where, _ in forward].count("during") >= 2
        for expected in reversed(forward):
            stop = session.reverse_continue()
            assert (place(stop), stop.message) == expected
        assert place(session.continue_()) == forward[1][0]
        while stop.when != "exit":
            stop = session.continue_()
        run = stock.run(argv)
        assert (session.output(), session.errors()) == (run.stdout, run.stderr)


def test_breakpoints_keep_what_is_left_to_ignore(launch: Launch) -> None:
    session = launch()
    ordinals = session_attempts(launch)
    one = session.add_breakpoint("pattern:AddIAddConstant")
    session.set_ignore(one.id, 2)
    stop = session.run()
    assert (stop.ordinal, session.breakpoint(one.id).ignore) == (ordinals[2], 0)
    session.set_ignore(one.id, 1)
    session.reverse_step(3)
    assert session.breakpoint(one.id).ignore == 1
    assert session.continue_().ordinal == ordinals[3]  # the first is ignored
    session.reverse_continue(2)
    temporary = session.add_breakpoint("pattern:AddIAddConstant", temporary=True)
    session.goto(ordinals[3] + 1)
    assert [each.id for each in session.breakpoints] == [one.id, temporary.id]
    session.delete_breakpoints([one.id])
    assert session.reverse_continue().ordinal == ordinals[3]
    assert session.breakpoints == []
