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
from tests.elements import some
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


def test_reverse_step_visits_every_event(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    stops = all_stops(session)
    assert list(stops) == list(range(1, len(stops) + 1))
    for event in reversed(stops):
        assert same(session.timeline.reverse_step(), stops[event])
    with pytest.raises(errors.ControlRefused, match="Already before the first action"):
        session.timeline.reverse_step()
    assert same(session.step(9), stops[10])
    assert same(session.timeline.reverse_step(4), stops[6])
    stop = session.timeline.reverse_step(100)
    assert place(stop) == (1, 1, "before")
    assert (stop.reason, stop.message) == ("start", "this is the beginning of the run")


def test_reverse_next_passes_nested_actions(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    stops = all_stops(session)
    last = max(stops)
    assert place(session.timeline.reverse_next()) == (last, stops[last].ordinal, "after")
    assert place(session.timeline.reverse_next())[1:] == (stops[last].ordinal, "before")
    for event, stop in stops.items():
        if event % 5 or event == 1:
            continue
        session.timeline.goto(stop.ordinal, "before" if stop.when == "before" else "after")
        back = session.timeline.reverse_next()
        if stop.when == "after":
            assert place(back)[1:] == (stop.ordinal, "before")
        else:
            assert same(back, stops[event - 1])
    session.timeline.goto(stops[last].ordinal, "after")
    one_by_one = [session.timeline.reverse_next() for _ in range(3)][-1]
    session.timeline.goto(stops[last].ordinal, "after")
    assert same(session.timeline.reverse_next(3), one_by_one)


def test_goto_the_current_stop_shows_it_anew(launch: Launch) -> None:
    session = launch("--canonicalize")
    session.breakpoints.add("pattern:*")
    stops = [session.run(), session.next(), session.step()]
    for stop in some(stops):
        when = "before" if stop.when == "before" else "after"
        assert same(session.timeline.goto(stop.ordinal, when), stop)
        cursor = session.cursor.get()
        for leave in (session.cursor.module, lambda: session.stack.select(1)):
            leave()
            assert same(session.timeline.goto(stop.ordinal, when), stop)
            assert session.cursor.get() == cursor and session.stack.selected == 0


def test_reverse_finish_stops_before_the_parent(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    stops = all_stops(session)
    nested = [stop for stop in stops.values() if stop.depth][::7]
    for stop in some(nested):
        session.timeline.goto(stop.ordinal, "before" if stop.when == "before" else "after")
        parent = stops[parent_of(stops, stop)]
        assert same(session.timeline.reverse_finish(), parent)
    deep = next(stop for stop in stops.values() if stop.depth == 2)
    session.timeline.goto(deep.ordinal)
    assert session.timeline.reverse_finish(2).depth == 0
    with pytest.raises(errors.ControlRefused, match="No action is around this stop"):
        session.timeline.reverse_finish()
    session.timeline.goto(deep.ordinal)
    with pytest.raises(errors.ControlRefused, match="Only 2 actions are around this stop"):
        session.timeline.reverse_finish(3)
    assert place(session.wait()) == place(deep)


def test_goto_works_in_both_directions(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    stops = all_stops(session)
    by_place = {(stop.ordinal, stop.when): stop for stop in stops.values()}
    last = max(stop.ordinal for stop in stops.values())
    for ordinal in (last, 1, last // 2, last // 3, last - 1):
        assert same(session.timeline.goto(ordinal), by_place[ordinal, "before"])
        assert same(session.timeline.goto(ordinal, "after"), by_place[ordinal, "after"])
        assert same(session.timeline.goto(ordinal), by_place[ordinal, "before"])
    for ordinal in (0, last + 1):
        with pytest.raises(errors.UsageError):
            session.timeline.goto(ordinal)
        assert place(session.wait())[1] == last - 1  # it is still there
    assert session.continue_().status == 0
    with pytest.raises(
        errors.UsageError, match=f"ends after {last} actions: there is no #{last + 7}"
    ):
        session.timeline.goto(last + 7)
    assert session.target.output() == alone(session)


def test_goto_passes_breakpoints(launch: Launch) -> None:
    session = launch()
    session.start()
    every = session.breakpoints.add("pattern:AddIAddConstant")
    attempts = len(session_attempts(launch))
    assert place(session.timeline.goto(2))[1] == 2
    stop = session.timeline.goto(20)
    assert (stop.ordinal, stop.reason) == (20, "until")
    while stop.when != "exit":
        stop = session.continue_()
    assert session.breakpoints.get(every.id).hits == attempts


def session_attempts(launch: Launch) -> list[int]:
    session = launch()
    session.breakpoints.add("pattern:AddIAddConstant")
    return [stop.ordinal for stop in stock.stops(session)]


def test_goto_to_this_stop_selects_its_action(launch: Launch) -> None:
    session = launch("--canonicalize")
    session.start()
    stop = session.step(2)
    session.stack.select(1)
    assert session.timeline.goto(stop.ordinal) == stop
    assert session.stack.selected == 0
    assert session.stack.action().ordinal == stop.ordinal


def test_goto_is_not_stopped_by_an_earlier_next_change(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    session.start()
    session.breakpoints.add("tag:fold")
    stop = session.next_change(2)
    assert stop.reason == "breakpoint"  # in an action that may be the change
    assert place(session.timeline.goto(stop.ordinal + 10))[1:] == (stop.ordinal + 10, "before")


def test_goto_can_be_interrupted(launch: Launch) -> None:
    source = str(many_functions(Path("many.mlir"), 150))
    session = launch(f"--pass-pipeline={PIPELINE}", source=source)
    session.breakpoints.add("pass:cse")
    session.start()
    ignored = session.breakpoints.add("pass:cse")
    session.breakpoints.set_ignore(ignored.id, 5)
    session.breakpoints.add("pass:cse", temporary=True)

    def interrupt() -> None:
        while session.state != "running":
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        session.timeline.goto(30_000)
    thread.join()
    session.interrupt()
    stop = session.wait()
    assert (stop.reason, stop.when) == ("interrupt", "before")
    assert 1 < stop.ordinal < 30_000
    assert [one.ignore for one in session.breakpoints.all()] == [
        0,
        5,
        0,
    ]  # none of them was used up
    session.timeline.goto(2)
    assert session.continue_().breakpoints == [1, 3]
    assert [one.id for one in session.breakpoints.all()] == [1, 2]
    assert session.continue_().status == 0
    assert session.target.output() == alone(session)


# --- hits, backwards ------------------------------------------------------------------------------


def test_reverse_continue_finds_the_hits_in_reverse(launch: Launch) -> None:
    session = launch("--canonicalize", "--cse")
    session.timeline.checkpoints.spacing = 1
    session.breakpoints.add("pattern:*Constant*")
    session.breakpoints.add("pass:cse", after=True)
    session.breakpoints.add("tag:apply-pattern", outcome="changed")
    stop = session.run()
    forward: list[tuple[Place, list[int], list[int]]] = []
    while stop.when != "exit":
        hits = [one.hits for one in session.breakpoints.all()]
        forward.append((place(stop), stop.breakpoints, hits))
        stop = session.continue_()
    assert len(forward) > 4
    for expected in reversed(forward):
        stop = session.timeline.reverse_continue()
        assert (place(stop), stop.breakpoints) == expected[:2]
        assert [one.hits for one in session.breakpoints.all()] == expected[2]
        assert stop.reason == "breakpoint"
    stop = session.timeline.reverse_continue()
    assert (place(stop), stop.reason) == ((1, 1, "before"), "start")
    assert stop.message is not None and "nothing was hit before" in stop.message
    with pytest.raises(errors.ControlRefused):
        session.timeline.reverse_continue()
    assert place(session.continue_(3)) == forward[2][0]
    assert place(session.timeline.reverse_continue(2)) == forward[0][0]
    session.timeline.goto(stop.ordinal + 1)
    assert session.timeline.reverse_continue(2).reason == "start"


def test_reverse_continue_finds_watches(launch: Launch) -> None:
    session = launch()
    session.start()
    session.cursor.move("location", path="folds.mlir", line=5)
    session.breakpoints.watch("cursor")
    changes = [session.continue_()]
    while changes[-1].when != "exit":
        changes.append(session.continue_())
    changes.pop()
    assert changes
    for change in reversed(changes):
        stop = session.timeline.reverse_continue()
        assert (stop.reason, stop.message) == ("watch", change.message)
        assert place(stop) == place(change)


def test_reverse_continue_finds_catches_inside_of_actions(
    debian: Callable[[str], str], folds: str
) -> None:
    flags = "--pass-pipeline=builtin.module(func.func(test-interface-pass),cse,canonicalize)"
    argv = [debian("mlir-opt"), folds, flags, "--mlir-disable-threading"]
    with actiondbg.launch(argv) as session:
        session.breakpoints.catch("diagnostic")
        session.breakpoints.add("tag:pass-execution", after=True)
        stop = session.run()
        forward: list[tuple[Place, str | None]] = []
        while stop.when != "exit":
            forward.append((place(stop), stop.message))
            stop = session.continue_()
        assert [where[2] for where, _ in forward].count("during") >= 2
        for expected in reversed(forward):
            stop = session.timeline.reverse_continue()
            assert (place(stop), stop.message) == expected
        assert place(session.continue_()) == forward[1][0]
        while stop.when != "exit":
            stop = session.continue_()
        run = stock.run(argv)
        assert (session.target.output(), session.target.errors()) == (run.stdout, run.stderr)


def test_breakpoints_keep_their_remaining_ignore_count(launch: Launch) -> None:
    session = launch()
    ordinals = session_attempts(launch)
    one = session.breakpoints.add("pattern:AddIAddConstant")
    session.breakpoints.set_ignore(one.id, 2)
    stop = session.run()
    assert (stop.ordinal, session.breakpoints.get(one.id).ignore) == (ordinals[2], 0)
    session.breakpoints.set_ignore(one.id, 1)
    session.timeline.reverse_step(3)
    assert session.breakpoints.get(one.id).ignore == 1
    assert session.continue_().ordinal == ordinals[3]  # the first is ignored
    session.timeline.reverse_continue(2)
    temporary = session.breakpoints.add("pattern:AddIAddConstant", temporary=True)
    session.timeline.goto(ordinals[3] + 1)
    assert [each.id for each in session.breakpoints.all()] == [one.id, temporary.id]
    session.breakpoints.delete([one.id])
    assert session.timeline.reverse_continue().ordinal == ordinals[3]
    assert session.breakpoints.all() == []
