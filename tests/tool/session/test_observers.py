"""Observers and predicates over the real tool: callbacks, counts, and the same stops as without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.stop import Stop
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes.stops import Place, all_stops, place
from tests.paths import ROOT

BUILDS = LIBRARY

Move = tuple[Any, ...]  # the name of a control, and its arguments
Launch = Callable[[], actiondbg.Session]

FOLD = str(ROOT / "examples/fold.mlir")
CONTROLS: dict[str, list[Move]] = {
    "run": [("run",)],
    "continue": [("start",), ("continue_",)],
    "step": [("start",), *[("step",)] * 12],
    "steps": [("start",), ("step", 5), ("step", 4)],
    "next": [("start",), ("step", 2), *[("next",)] * 6],
    "nexts": [("start",), ("step", 2), ("next", 3)],
    "finish": [("start",), ("step", 4), ("finish",), ("finish",)],
    "finishes": [("start",), ("step", 4), ("finish", 2)],
    "until": [("start",), ("step",), ("until", "tag:apply-pattern"), ("until", "tag:none")],
    "advance": [("start",), ("advance", "tag:apply-pattern"), ("advance", "tag:fold")],
    "next_change": [("start",), ("next_change",), ("next_change", 2)],
    "next_attempt": [("start",), ("next_attempt", "*"), ("next_attempt", "*Add*")],
    "next_success": [
        ("breakpoints.add", "pattern:AddI*"),
        ("run",),
        ("next_success",),
        ("next_success", "tag:fold"),
    ],
    "skip": [("advance", "tag:apply-pattern"), ("skip",)],
    "breakpoint": [("start",), ("breakpoints.add", "tag:apply-pattern"), *[("continue_",)] * 3],
    "breakpoints": [("start",), ("breakpoints.add", "tag:apply-pattern"), ("continue_", 2)],
    "skips": [("breakpoints.add", "tag:apply-pattern"), ("run",), ("skip", 2), ("apply",)],
}


@pytest.fixture
def fold(launch: Callable[..., actiondbg.Session]) -> Launch:
    """Launch mlir-opt on the example of two additions that become one."""
    return lambda: launch(source=FOLD)


def do(session: actiondbg.Session, move: Move) -> Stop | None:
    """Make a move; return the stop to which it led."""
    name, *arguments = move
    if name == "breakpoints.add":
        session.breakpoints.add(*arguments)
        return None
    if name != "run" and session.state == "not-running":
        session.start()
    return getattr(session, name)(*arguments)


class EventLog:
    """Records the events at which callbacks are called, for actions of every tag."""

    def __init__(self, session: actiondbg.Session) -> None:
        self.places: list[Place] = []
        self._session = session
        session.observers.add("tag:*", before=self._note, after=self._note)

    def _note(self, stop: Stop) -> None:
        assert self._session.stop == stop
        assert self._session.stack[0].ordinal == stop.ordinal
        self.places.append(place(stop))

    def take(self) -> list[Place]:
        """Return the events since the last call."""
        taken, self.places = self.places, []
        return taken


@pytest.mark.parametrize("moves", CONTROLS.values(), ids=CONTROLS)
def test_stops_are_those_of_a_session_without_observers(fold: Launch, moves: list[Move]) -> None:
    alone, observed = fold(), fold()
    EventLog(observed)
    for move in some(moves):
        expected, stop = do(alone, move), do(observed, move)
        assert (stop and stop.as_json()) == (expected and expected.as_json()), move
        assert observed.exit_status == alone.exit_status
    assert observed.breakpoints.hits() == alone.breakpoints.hits()


@pytest.mark.parametrize("name", [name for name in CONTROLS if not name.startswith("skip")])
def test_observers_see_every_event_of_a_control(fold: Launch, name: str) -> None:
    session = fold()
    events = [place(stop) for stop in all_stops(session).values()]
    seen = EventLog(session)
    here = 0
    for move in some(CONTROLS[name]):
        stop = do(session, move)
        if stop is not None:
            there = len(events) if stop.when == "exit" else stop.event
            assert seen.take() == events[here:there], move
            here = there
    assert here > 0


def test_observer_sees_only_actions_of_its_spec(fold: Launch) -> None:
    session = fold()
    stops = all_stops(session).values()
    before: list[Place] = []
    after: list[Place] = []
    session.observers.add("tag:apply-pattern", before=lambda stop: before.append(place(stop)))
    observer = session.observers.add(
        "pattern:AddIAddConstant", after=lambda stop: after.append(place(stop))
    )
    session.run()
    patterns = [stop for stop in stops if stop.tag == "apply-pattern"]
    assert before == [place(stop) for stop in patterns if stop.when == "before"] != []
    ends = [stop for stop in patterns if stop.name == "AddIAddConstant" and stop.when == "after"]
    assert after == [place(stop) for stop in ends] != []
    session.observers.remove(observer)
    session.run()
    assert len(before) == 2 * len(set(before))
    assert len(after) == len(set(after))


def test_time_travel_calls_no_observer(fold: Launch) -> None:
    session = fold()
    seen = EventLog(session)
    session.start()
    session.step(6)
    seen.take()
    session.timeline.reverse_step(3)
    session.timeline.goto(3, "after")
    session.timeline.reverse_next()
    session.timeline.reverse_continue()
    assert seen.take() == []
    session.step()
    assert [event for event, _, _ in seen.take()] == [2]


def test_on_stop_reports_each_stop_once(fold: Launch) -> None:
    session = fold()
    stops: list[Stop] = []
    session.observers.on_stop(stops.append)
    expected = [session.start(), session.step(3), session.timeline.reverse_step()]
    assert stops == expected
    EventLog(session)
    expected += [session.step(3), session.next(), session.continue_()]
    assert stops == expected
    assert stops[-1].when == "exit"


# --- callbacks that misbehave ---------------------------------------------------------


def test_a_callback_cannot_resume(fold: Launch) -> None:
    session = fold()
    session.observers.add("tag:apply-pattern", before=lambda _: session.step())
    with pytest.raises(errors.ControlRefused, match="callback cannot resume"):
        session.run()
    assert session.stop is not None
    assert (session.stop.when, session.stop.tag) == ("before", "apply-pattern")
    assert session.step().event == session.status().event


@pytest.mark.parametrize("move", [("run",), ("start",), ("restart",), ("kill",)])
def test_a_callback_cannot_start_or_end_the_tool(fold: Launch, move: Move) -> None:
    session = fold()
    refused: list[str] = []

    def interfere(_: Stop) -> None:
        with pytest.raises(errors.ControlRefused, match="callback cannot") as raised:
            getattr(session, move[0])()
        refused.append(str(raised.value))

    session.observers.add("tag:pass-execution", before=interfere)
    assert session.run().status == 0
    assert len(refused) == 1


def test_a_callback_cannot_travel(fold: Launch) -> None:
    session = fold()
    travels: list[Callable[[], Stop]] = [
        lambda: session.timeline.goto(1),
        session.timeline.reverse_step,
        session.timeline.reverse_continue,
    ]
    refused: list[int] = []

    def interfere(stop: Stop) -> None:
        for travel in travels:
            with pytest.raises(errors.ControlRefused, match="callback cannot"):
                travel()
        refused.append(stop.ordinal)

    session.observers.add("tag:apply-pattern", before=interfere)
    assert session.run().status == 0
    assert len(refused) > 1


def test_an_exception_in_a_callback_reaches_the_caller(fold: Launch) -> None:
    session = fold()
    events = list(all_stops(session).values())
    first = next(stop for stop in events if stop.tag == "apply-pattern")

    def fail(_: Stop) -> None:
        raise ZeroDivisionError

    observer = session.observers.add("tag:apply-pattern", before=fail)
    with pytest.raises(ZeroDivisionError):
        session.run()
    assert session.stop is not None
    assert place(session.stop) == place(first)
    session.observers.remove(observer)
    assert place(session.step()) == place(events[first.event])
    assert place(session.timeline.reverse_step()) == place(first)
    assert session.continue_().status == 0


# --- predicates -----------------------------------------------------------------------


def patterns(session: actiondbg.Session) -> list[Stop]:
    """Return the stops before the pattern applications of the run."""
    stops = all_stops(session).values()
    return [stop for stop in stops if (stop.tag, stop.when) == ("apply-pattern", "before")]


def test_a_predicate_refuses_stops(fold: Launch) -> None:
    session = fold()
    first, second, *_ = patterns(session)
    asked: list[int] = []

    def is_second(stop: Stop) -> bool:
        assert session.stack[0].ordinal == stop.ordinal
        asked.append(stop.ordinal)
        return stop.ordinal == second.ordinal

    found = session.breakpoints.add("tag:apply-pattern", predicate=is_second)
    stop = session.run()
    assert (place(stop), stop.reason, stop.breakpoints) == (place(second), "breakpoint", [found.id])
    assert asked == [first.ordinal, second.ordinal]
    assert [one.hits for one in session.breakpoints.hits()] == [2]
    assert session.continue_().when == "exit"


def test_a_control_stops_at_its_goal_where_a_predicate_refuses(fold: Launch) -> None:
    alone, session = fold(), fold()
    session.breakpoints.add("tag:apply-pattern", predicate=lambda _: False)
    for move in [("start",), *[("step",)] * 8, ("next",), ("finish",), ("continue_",)]:
        expected, stop = do(alone, move), do(session, move)
        assert (stop and stop.as_json()) == (expected and expected.as_json()), move


def test_a_temporary_breakpoint_waits_for_its_predicate(fold: Launch) -> None:
    session = fold()
    first, second, *_ = patterns(session)
    session.breakpoints.add(
        "tag:apply-pattern",
        temporary=True,
        predicate=lambda stop: stop.ordinal != first.ordinal,
    )
    assert place(session.run()) == place(second)
    assert session.breakpoints.all() == []
    assert session.continue_().when == "exit"


def test_reverse_continue_ignores_refused_stops(fold: Launch) -> None:
    session = fold()
    first, *_, last = found = patterns(session)
    assert len(found) > 2
    accepted = [stop for stop in found if stop.name == last.name]
    reported: list[Stop] = []
    session.observers.on_stop(reported.append)
    session.run()
    session.breakpoints.add("tag:apply-pattern", predicate=lambda stop: stop.name == last.name)
    reported.clear()
    stops: list[Stop] = []
    for one in reversed(accepted):
        stops.append(session.timeline.reverse_continue())
        assert (place(stops[-1]), stops[-1].reason) == (place(one), "breakpoint")
    stops.append(session.timeline.reverse_continue())
    assert (place(stops[-1]), stops[-1].reason) == ((1, 1, "before"), "start")
    assert reported == stops
    assert first.ordinal > 1
    session.timeline.goto(last.ordinal, "after")
    assert place(session.timeline.reverse_continue(len(accepted))) == place(accepted[0])


def test_reverse_continue_ends_at_a_refused_first_action(fold: Launch) -> None:
    session = fold()
    session.start()
    session.step(3)
    session.breakpoints.add("#1", predicate=lambda _: False)
    stop = session.timeline.reverse_continue()
    assert (place(stop), stop.reason) == ((1, 1, "before"), "start")


def test_reverse_continue_keeps_a_temporary_breakpoint_that_is_refused(fold: Launch) -> None:
    session = fold()
    first, *_ = patterns(session)
    session.run()
    session.breakpoints.add(
        "tag:apply-pattern",
        temporary=True,
        predicate=lambda stop: stop.ordinal == first.ordinal,
    )
    assert place(session.timeline.reverse_continue()) == place(first)
    assert session.breakpoints.all() == []
