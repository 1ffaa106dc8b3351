"""Going to and fro in a recording, and stopping there, without a tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from actiondbg.errors import ControlRefused, NotRecorded, NotStopped, UsageError
from actiondbg.process.stop import Stop
from actiondbg.protocol import Culprit
from actiondbg.recording.session import open_session
from actiondbg.recording.session.recorded_session import RecordedSession
from tests.fakes.recording.recordings import Action, Change, fake_recording, write_recording
from tests.fakes.recording.session import AFTER, EVENTS, FOLDED, actions, recorded_session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[RecordedSession]:
    with recorded_session(tmp_path) as opened:
        yield opened


def _place(stop: Stop) -> tuple[str, int]:
    return stop.when, stop.ordinal


def test_session_begins_before_the_first_action(session: RecordedSession) -> None:
    assert (session.state, session.stop.reason) == ("stopped", "start")
    assert _place(session.stop) == ("before", 1)
    assert session.target.argv == ["mlir-opt", "in.mlir", "--canonicalize"]


def test_step_stops_at_every_event_and_the_end(session: RecordedSession) -> None:
    stops = [session.stop, *(session.step() for _ in range(EVENTS))]
    assert [stop.event for stop in stops[:-1]] == list(range(1, EVENTS + 1))
    places = [f"{stop.when[0]}{stop.ordinal}" for stop in stops[:-1]]
    assert " ".join(places) == "b1 b2 b3 a3 b4 a4 b5 a5 a2 b6 b7 a7 a6 a1 b8 a8"
    assert {stop.reason for stop in stops[1:-1]} == {"step"}
    assert stops[-1].message == "The tool ended with status 0 after 8 actions."
    assert (session.state, session.exit_status) == ("exited", 0)
    with pytest.raises(NotStopped, match="status 0 after 8 actions; run begins again"):
        session.step()


def test_a_condition_on_a_number_that_is_not_recorded(session: RecordedSession) -> None:
    session.breakpoints.add("tag:*", "regions >= 0 and tag != 'fold'")
    assert session.continue_().when == "exit"
    session.breakpoints.add("tag:fold", "regions == -1")
    assert session.run().ordinal == 3


def test_reverse_step_stops_at_every_event(session: RecordedSession) -> None:
    session.continue_()
    stops = [session.timeline.reverse_step() for _ in range(EVENTS)]
    assert [stop.event for stop in stops] == list(range(EVENTS, 0, -1))
    with pytest.raises(ControlRefused, match="Already before the first action"):
        session.timeline.reverse_step()


def test_count_repeats_a_control(session: RecordedSession) -> None:
    assert _place(session.step(4)) == ("before", 4)
    assert session.step(99).when == "exit"
    assert _place(session.timeline.reverse_step(3)) == ("after", 1)
    with pytest.raises(UsageError, match="at least 1"):
        session.step(0)


def test_next_passes_nested_actions(session: RecordedSession) -> None:
    session.timeline.goto(2)
    assert [_place(session.next()) for _ in range(4)] == [
        ("after", 2),
        ("before", 6),
        ("after", 6),
        ("before", 8),
    ]
    session.timeline.goto(2)
    assert _place(session.next(3)) == ("after", 6)
    assert _place(session.timeline.reverse_next()) == ("before", 6)
    assert _place(session.timeline.reverse_next()) == ("after", 2)


def test_finish_ends_the_actions_around(session: RecordedSession) -> None:
    session.timeline.goto(4)
    assert _place(session.finish()) == ("after", 2)
    session.timeline.goto(4, "after")
    assert _place(session.finish(2)) == ("after", 1)
    with pytest.raises(ControlRefused, match="has no parent"):
        session.finish()
    session.timeline.goto(7)
    assert _place(session.timeline.reverse_finish()) == ("before", 6)
    with pytest.raises(ControlRefused, match="Only 1 action is around"):
        session.timeline.reverse_finish(2)


def test_goto(session: RecordedSession) -> None:
    stop = session.timeline.goto(5, "after")
    assert (_place(stop), stop.reason, stop.event) == (("after", 5), "until", 8)
    assert session.timeline.goto(5, "after") is stop
    with pytest.raises(UsageError, match="ends after 8 actions: there is no #9"):
        session.timeline.goto(9)
    with pytest.raises(UsageError, match="numbered from 1"):
        session.timeline.goto(0)


def test_breakpoints_stop_it_in_both_directions(session: RecordedSession) -> None:
    found = session.breakpoints.add("pattern:A")
    stop = session.continue_()
    assert (_place(stop), stop.reason, stop.breakpoints) == (("before", 4), "breakpoint", [1])
    assert _place(session.continue_()) == ("before", 7)
    assert found.hits == 2
    assert session.continue_().when == "exit"
    assert _place(session.timeline.reverse_continue(2)) == ("before", 4)
    assert found.hits == 1
    back = session.timeline.reverse_continue()
    assert (_place(back), back.reason) == (("before", 1), "start")
    assert back.message == "nothing was hit before: this is the beginning of the run"
    assert _place(session.continue_(2)) == ("before", 7)


@pytest.mark.parametrize(
    ("given", "places"),
    [
        ({"spec": "tag:* if depth == 1"}, ["before 2", "before 6"]),
        ({"spec": "pattern:A", "after": True}, ["after 4", "after 7"]),
        ({"spec": "tag:apply-pattern", "outcome": "succeeded"}, ["after 5"]),
        ({"spec": "tag:apply-pattern", "outcome": "reason:ag*"}, ["after 7"]),
        ({"spec": "op:arith.muli"}, ["before 7"]),
        ({"spec": "in.mlir:3"}, ["before 4", "before 5", "before 7"]),
        ({"spec": "#6"}, ["before 6"]),
        ({"spec": "fold:arith.*"}, ["before 3"]),
        ({"spec": "pattern:A if hits == 2"}, ["before 7"]),
        ({"spec": "B"}, ["before 5"]),
        ({"spec": "func:f and tag:pass-execution if ordinal > 1"}, ["before 8"]),
    ],
)
def test_kinds_of_breakpoints(
    session: RecordedSession, given: dict[str, Any], places: list[str]
) -> None:
    spec, _, condition = given.pop("spec").partition(" if ")
    session.breakpoints.add(spec, condition or None, **given)
    stops: list[str] = []
    while (stop := session.continue_()).when != "exit":
        stops.append(f"{stop.when} {stop.ordinal}")
    assert stops == places


def test_breakpoint_stops_a_control(session: RecordedSession) -> None:
    session.breakpoints.add("pattern:B")
    stop = session.next()
    assert (_place(stop), stop.reason) == (("before", 5), "breakpoint")
    assert session.next().reason == "next"
    session.start()
    assert _place(session.timeline.goto(8)) == ("before", 8)  # nothing stops that


def test_ignored_temporary_and_disabled_breakpoints(session: RecordedSession) -> None:
    session.breakpoints.add("tag:apply-pattern")
    session.breakpoints.set_ignore(1, 1)
    once = session.breakpoints.add("tag:fold", temporary=True)
    assert session.continue_().breakpoints == [once.id]
    assert [each.id for each in session.breakpoints.all()] == [1]
    assert _place(session.continue_()) == ("before", 5)  # the first was ignored
    assert session.breakpoints.get(1).ignore == 0
    session.breakpoints.disable([1])
    assert session.continue_().when == "exit"
    session.breakpoints.enable([1])
    session.breakpoints.set_condition(1, "depth > 5")
    assert session.run().when == "exit"
    assert session.breakpoints.hits()[0].hits == 0


def test_invalid_breakpoint_is_refused(session: RecordedSession) -> None:
    with pytest.raises(UsageError, match="no kind of term"):
        session.breakpoints.add("patern:A")
    with pytest.raises(UsageError, match="no field"):
        session.breakpoints.add("pattern:A", "dept > 1")
    assert session.breakpoints.all() == []


def test_until_advance_and_next_change(session: RecordedSession) -> None:
    session.timeline.goto(4)
    assert _place(session.until("pass:cse")) == ("after", 2)  # no further than the parent
    assert _place(session.advance("pass:cse")) == ("before", 8)
    session.start()
    assert [_place(session.next_change()) for _ in range(2)] == [("after", 3), ("after", 5)]
    session.start()
    assert _place(session.next_change(2)) == ("after", 5)
    assert _place(session.next_attempt("A")) == ("after", 7)
    assert session.next_attempt("A").when == "exit"


def test_a_pass_that_fails_is_caught(session: RecordedSession) -> None:
    session.breakpoints.catch("failure")
    stop = session.continue_()
    assert (_place(stop), stop.reason) == (("after", 8), "catch")
    assert stop.message == "the pass cse failed"
    assert stop.culprit == Culprit(ordinal=8, tag="pass-execution", name="cse", guess=False)
    with pytest.raises(
        UsageError,
        match="Catching crash needs a running tool, not a recording: start the tool with",
    ):
        session.breakpoints.catch("crash")


def test_watch_follows_a_replacement(session: RecordedSession) -> None:
    session.breakpoints.watch("@3")
    stop = session.continue_()
    assert (_place(stop), stop.reason) == (("after", 5), "watch")
    assert stop.message == "@3 arith.addi was replaced by @10 arith.muli"
    assert session.continue_().when == "exit"
    with pytest.raises(UsageError, match=r"Watching .* needs a running tool"):
        session.breakpoints.watch("op:arith.* count")


def test_results_of_a_fold_are_inserted_after_it(session: RecordedSession) -> None:
    session.breakpoints.watch("@2")
    stop = session.continue_()
    # The caller does it, before the next action.
    assert (_place(stop), stop.message) == (
        ("before", 4),
        "@2 arith.addi was replaced by @9 arith.constant",
    )
    assert stop.culprit is not None
    assert (stop.culprit.ordinal, stop.culprit.guess) == (3, True)


def test_commands_that_need_the_tool_are_refused(session: RecordedSession) -> None:
    with pytest.raises(
        UsageError, match="Passing arguments to 'run' needs a running tool, not a recording"
    ):
        session.run(["--cse"])
    with pytest.raises(UsageError, match="arguments to 'start'"):
        session.start(stdout="out.mlir")
    with pytest.raises(NotRecorded, match=r"`actiondbg mlir-opt in\.mlir --canonicalize`"):
        session.cursor.move("parent")
    with pytest.raises(NotRecorded, match=r"The request .cursor/links. needs a running tool"):
        session.cursor.users()


def test_a_tool_that_crashed(tmp_path: Path) -> None:
    ran = actions()[:4]
    for each in (ran[0], ran[1], ran[3]):
        each.duration, each.outcome = None, "unfinished"
    ran[3].changes = [Change("modified", 3)]
    ending = {"ended": "crash", "signal": 6, "row": 3}
    with recorded_session(tmp_path, actions=ran, ending=ending) as session:
        stop = session.continue_()
        assert (stop.reason, stop.status, stop.event) == ("crashed", -6, 5)
        assert stop.message == "The tool died of SIGABRT in #4 apply-pattern A on arith.addi."
        assert _place(session.timeline.reverse_step()) == ("before", 4)
        assert session.next().when == "exit"
        with pytest.raises(UsageError, match="there is no end of #4"):
            session.timeline.goto(4, "after")
        assert session.past.statistics("pattern") == []
        with pytest.raises(UsageError, match="the kinds are pattern, pass, fold"):
            session.past.statistics("zz")  # pyright: ignore[reportArgumentType]
        session.breakpoints.watch("@3")
        assert session.run().when == "exit"


def test_a_tool_that_was_killed(tmp_path: Path) -> None:
    fake_recording(tmp_path / "killed.adbrec", 500, killed=True)
    with open_session(tmp_path / "killed.adbrec") as session:
        stop = session.continue_()
        assert (stop.reason, stop.status) == ("killed", None)
        assert stop.message is not None and "500 actions" in stop.message
        assert session.timeline.reverse_step().when == "after"
        assert session.finish(99).when == "exit"


def test_a_recording_without_actions(tmp_path: Path) -> None:
    write_recording(tmp_path / "empty.adbrec")
    with open_session(tmp_path / "empty.adbrec") as session:
        assert session.state == "exited"
        assert session.stop.message == "The tool ended with status 0 after 0 actions."
        with pytest.raises(ControlRefused):
            session.timeline.reverse_step()
        assert session.past.statistics() == []
        assert session.start().when == "exit"


def _threads() -> list[Action]:
    """Two threads in one pass, which take turns."""
    return [
        Action("outer", "pass-execution", start=0, duration=100_000),
        Action("canonicalize", "pass-execution", thread=1, start=1000, duration=9000),
        Action("canonicalize", "pass-execution", thread=2, start=2000, duration=9000),
        Action("A", thread=1, depth=1, start=3000),
        Action("B", thread=2, depth=1, start=4000),
        Action("C", thread=1, depth=1, start=5000),
    ]


def test_threads_are_shown_one_after_the_other(tmp_path: Path) -> None:
    write_recording(tmp_path / "run.adbrec", _threads())
    with open_session(tmp_path / "run.adbrec") as session:
        stops: list[str] = []
        stop = session.stop
        while stop.when != "exit":
            stops.append(f"{stop.when[0]}{stop.ordinal}")
            assert [frame.ordinal for frame in session.stack.frames()][-1] == 1
            stop = session.step()
        assert " ".join(stops) == "b1 b2 b4 a4 b6 a6 a2 b3 b5 a5 a3 a1"
        session.timeline.goto(2)
        assert _place(session.next()) == ("after", 2)
        session.breakpoints.add("tag:apply-pattern")
        session.start()
        assert [session.continue_().ordinal for _ in range(3)] == [4, 6, 5]
        assert _place(session.timeline.reverse_continue()) == ("before", 6)


@pytest.mark.slow
def test_a_large_recording_is_walked_through(tmp_path: Path) -> None:
    fake_recording(tmp_path / "run.adbrec", 3000, threads=True)
    with open_session(tmp_path / "run.adbrec") as session:
        parents = session.recording.table("actions", ["parent"]).column("parent").to_pylist()
        depth, met = 0, set[tuple[str, int]]()
        stop = session.stop
        while stop.when != "exit":
            met.add(_place(stop))
            assert abs(stop.depth - depth) <= 1
            depth = stop.depth
            stop = session.step()
        assert len(met) == 6000
        for ordinal in range(1, 3001, 71):
            session.timeline.goto(ordinal)
            stack = [frame.ordinal for frame in session.stack.frames()]
            assert [parents[each - 1] for each in stack] == [*stack[1:], None]


@pytest.mark.slow
def test_recording_with_lost_actions(tmp_path: Path) -> None:
    whole = fake_recording(tmp_path / "run.adbrec", 2000).read_bytes()
    ends = [16]
    while ends[-1] < len(whole):
        ends.append(ends[-1] + int.from_bytes(whole[ends[-1] + 8 : ends[-1] + 12], "little"))
    (tmp_path / "run.adbrec").write_bytes(whole[: ends[3]] + whole[ends[4] :])
    with open_session(tmp_path / "run.adbrec") as session:
        kept = session.recording.table("actions", ["ordinal"]).column("ordinal").to_pylist()
        lost = min(set(range(1, 2001)) - set(kept))
        with pytest.raises(UsageError, match=f"has lost #{lost}: go to another"):
            session.timeline.goto(lost)
        session.breakpoints.add(f"#{kept[-1]}")
        session.breakpoints.add("tag:apply-pattern if ordinal > 1900")
        assert session.continue_().ordinal > 1900
        stop, met = session.start(), set[int]()
        session.breakpoints.delete([1, 2])
        while stop.when != "exit":
            met.add(stop.ordinal)
            assert len(session.stack.frames()) == stop.depth + 1
            stop = session.step()
        assert sorted(met) == kept


# --- observers and predicates ---------------------------------------------------------


def test_observers_are_called_for_passed_events(session: RecordedSession) -> None:
    seen: list[str] = []

    def note(word: str) -> Callable[[Stop], None]:
        return lambda stop: seen.append(f"{word} {stop.when} {stop.ordinal}")

    every = session.observers.add("tag:apply-pattern", before=note("any"), after=note("any"))
    session.observers.add("pattern:A", before=note("A"))
    session.run()
    assert seen == [
        *("any before 4", "A before 4", "any after 4", "any before 5", "any after 5"),
        *("any before 7", "A before 7", "any after 7"),
    ]
    seen.clear()
    session.observers.remove(every)
    session.timeline.goto(8)
    session.timeline.reverse_continue()
    assert seen == []  # only controls pass actions
    session.timeline.goto(4)
    session.next()
    assert seen == []  # where it stood is not passed again
    session.step(2)
    assert seen == []
    session.advance("pattern:A")
    assert seen == ["A before 7"]  # what it stops at is


def test_an_observer_sees_the_session_at_its_event(session: RecordedSession) -> None:
    seen: list[tuple[str, str]] = []

    def look(stop: Stop) -> None:
        assert session.stop is stop
        seen.append((session.stack[0].name, session.ir.print("function").text))

    session.observers.add("pattern:B", before=look, after=look)
    assert session.continue_().when == "exit"
    assert seen == [("B", FOLDED), ("B", AFTER)]
    with pytest.raises(UsageError, match="no kind of term"):
        session.observers.add("patern:B", before=look)
    with pytest.raises(UsageError, match="needs a callback"):
        session.observers.add("pattern:B")


def test_a_callback_cannot_resume(session: RecordedSession) -> None:
    session.observers.add("pattern:B", before=lambda _: session.step())
    with pytest.raises(ControlRefused, match="callback cannot resume"):
        session.run()
    assert _place(session.stop) == ("before", 5)
    assert _place(session.step()) == ("after", 5)


def test_each_stop_is_reported_once(session: RecordedSession) -> None:
    stops: list[Stop] = []
    session.observers.on_stop(stops.append)
    expected = [session.step(), session.timeline.goto(5), session.timeline.reverse_continue()]
    assert stops == expected
    assert stops[-1].reason == "start"
    with pytest.raises(ControlRefused):
        session.timeline.reverse_step()
    assert len(stops) == 3


def test_a_predicate_refuses_a_stop(session: RecordedSession) -> None:
    asked: list[int] = []

    def is_late(stop: Stop) -> bool:
        asked.append(session.stop.ordinal)
        return stop.ordinal > 4

    found = session.breakpoints.add("tag:apply-pattern", predicate=is_late)
    assert _place(session.continue_()) == ("before", 5)
    assert (asked, found.hits) == ([4, 5], 2)
    assert _place(session.continue_()) == ("before", 7)
    assert session.continue_().when == "exit"
    session.start()
    assert _place(session.continue_(2)) == ("before", 7)  # the refused one does not count
    session.continue_()
    assert _place(session.timeline.reverse_continue(2)) == ("before", 5)
    assert _place(session.timeline.reverse_continue()) == ("before", 1)


def test_a_temporary_breakpoint_that_refuses_a_stop_remains(session: RecordedSession) -> None:
    refusing = session.breakpoints.add("#4", temporary=True, predicate=lambda _: False)
    other = session.breakpoints.add("#4", temporary=True)
    assert session.continue_().breakpoints == [other.id]
    assert [one.id for one in session.breakpoints.all()] == [refusing.id]


def test_a_predicate_reads_the_hits_with_this_one(session: RecordedSession) -> None:
    hits: list[tuple[int, int]] = []

    def note(stop: Stop) -> bool:
        hits.append((stop.ordinal, session.breakpoints.get(found.id).hits))
        return False

    found = session.breakpoints.add("tag:apply-pattern", predicate=note)
    assert session.continue_().when == "exit"
    assert hits == [(4, 1), (5, 2), (7, 3)]
    hits.clear()
    assert session.timeline.reverse_continue().reason == "start"
    assert hits == [(7, 3), (5, 2), (4, 1)]


def test_reverse_continue_counts_only_accepted_hits(session: RecordedSession) -> None:
    session.breakpoints.add("tag:apply-pattern", predicate=lambda stop: stop.ordinal != 5)
    session.timeline.goto(8)
    assert _place(session.timeline.reverse_continue(2)) == ("before", 4)
    stop = session.timeline.reverse_continue()
    assert (_place(stop), stop.reason) == (("before", 1), "start")
    session.timeline.goto(8)
    stop = session.timeline.reverse_continue(3)
    assert stop.message == "only 2 hits were found before: this is the beginning of the run"


def test_goto_shows_no_breakpoint_that_refuses(session: RecordedSession) -> None:
    session.breakpoints.add("pattern:A", predicate=lambda _: False)
    asked: list[int] = []

    def note(stop: Stop) -> bool:
        asked.append(stop.ordinal)
        return True

    other = session.breakpoints.add("#4", predicate=note)
    session.timeline.goto(8)
    stop = session.timeline.goto(4)
    assert (stop.reason, stop.breakpoints, asked) == ("breakpoint", [other.id], [4])
    session.timeline.goto(8)
    asked.clear()
    assert session.timeline.reverse_continue().breakpoints == [other.id]
    assert asked == [4]
    stop = session.timeline.goto(7)
    assert (_place(stop), stop.reason, stop.breakpoints) == (("before", 7), "until", [])


def test_going_back_ends_at_a_refused_first_action(session: RecordedSession) -> None:
    session.breakpoints.add("#1", predicate=lambda _: False)
    session.timeline.goto(4)
    stop = session.timeline.reverse_continue()
    assert (_place(stop), stop.reason) == (("before", 1), "start")


def test_other_reasons_stop_at_a_refused_breakpoint(session: RecordedSession) -> None:
    refused = session.breakpoints.add("pattern:A", predicate=lambda _: False)
    other = session.breakpoints.add("#7")
    assert session.continue_().breakpoints == [other.id]
    session.timeline.goto(3, "after")
    stop = session.step()  # its goal, not the breakpoint that refused
    assert (_place(stop), stop.reason, stop.breakpoints) == (("before", 4), "step", [])
    assert refused.hits == 1
