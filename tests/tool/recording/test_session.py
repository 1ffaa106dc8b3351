"""A session over a recording, compared with a live session over the same command."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest

import actiondbg
from actiondbg.commands.interpreter.console import Console
from actiondbg.commands.render.legalization.explanation_text import (
    ExplanationShown,
    explanation_text,
)
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.process.stop import Stop
from actiondbg.protocol import Changes, Outcome
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.session import open_session
from actiondbg.recording.session.recorded_session import RecordedSession
from tests.conftest import LIBRARY
from tests.elements import some

if TYPE_CHECKING:
    from actiondbg.recording.session.recorded_session import DebugSession

BUILDS = LIBRARY

PASSES = ("--canonicalize", "--cse", "--mlir-disable-threading")
PIPELINE = "--pass-pipeline=builtin.module(func.func(canonicalize,cse))"
LOOP = """\
func.func @f(%m: memref<4xi32>) {
  %c3 = arith.constant 3 : i32
  affine.for %i = 0 to 4 {
    %x = affine.load %m[%i] : memref<4xi32>
    %y = arith.addi %x, %c3 : i32
    affine.store %y, %m[%i] : memref<4xi32>
  }
  return
}
"""
DIVIDE = """\
func.func @divide(%a: i32, %b: i32) -> i32 {
  %0 = arith.ceildivsi %a, %b : i32
  %1 = arith.floordivsi %0, %b : i32
  return %1 : i32
}
func.func @store(%m: memref<4xi32>, %v: i32, %i: index) {
  %c0 = arith.constant 0 : i32
  %x = arith.ori %v, %c0 : i32
  memref.store %x, %m[%i] : memref<4xi32>
  return
}
"""
LOWER = (
    "--lower-affine",
    "--convert-scf-to-cf",
    "--convert-arith-to-llvm",
    "--canonicalize",
    "--mlir-disable-threading",
)
# What a stop tells of where it is. Not the ids of operations: each process counts its own.
FIELDS = (
    *("when", "reason", "ordinal", "event", "nth", "tag", "name", "op", "location", "function"),
    *("depth", "breakpoints", "skipped", "message", "status", "actions"),
)


class Both(NamedTuple):
    """Two sessions over one command."""

    live: actiondbg.Session
    recorded: RecordedSession

    def do(self, method: str, *args: Any, **options: Any) -> Stop:
        """Do the same with both; they have to say the same."""
        live, recorded = (_said(each, method, args, options) for each in self)
        assert recorded == live, f"{method}{args}{options} from {self.live.stop}"
        return self.live.stop or Stop(when="exit", reason="exited")


def _said(session: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    try:
        stop = attrgetter(method)(session)(*args, **options)
    except ActiondbgError as error:
        return type(error).__name__
    if not isinstance(stop, Stop):
        return None
    return {name: getattr(stop, name) for name in FIELDS}, _outcome(stop.outcome)


def _outcome(outcome: Outcome | None) -> Outcome | None:
    """Return an outcome without the values of a fold, which are not recorded."""
    return msgspec.structs.replace(outcome, values=[]) if outcome else None


Start = Callable[..., Both]


@pytest.fixture
def both(mlir_opt: str, folds: str, tmp_path: Path) -> Iterator[Start]:
    """Launch mlir-opt, and record it."""
    opened: list[actiondbg.Session | RecordedSession] = []

    def start(*args: str, source: str = folds, ir: Any = "none") -> Both:
        argv = [mlir_opt, source, *(args or PASSES)]
        record(argv, tmp_path / "run.adbrec", ir=ir, stdout=tmp_path / "out.mlir")
        sessions = Both(actiondbg.launch(argv), open_session(tmp_path / "run.adbrec"))
        opened.extend(sessions)
        return sessions

    yield start
    for session in opened:
        session.close()


def _loop(tmp_path: Path) -> str:
    (tmp_path / "loop.mlir").write_text(LOOP)
    return "loop.mlir"


@pytest.mark.parametrize("lowers", [False, True])
def test_every_stop_is_the_same(both: Start, tmp_path: Path, lowers: bool) -> None:
    sessions = both(*LOWER, source=_loop(tmp_path)) if lowers else both()
    stop, count = sessions.do("start"), 0
    while stop.when != "exit":
        live, recorded = (each.stack.frames() for each in sessions)
        assert [_frame(each) for each in recorded] == [_frame(each) for each in live]
        count += 1
        stop = sessions.do("step")
    assert count > 20
    for kind in ("pattern", "pass", "fold"):
        live, recorded = (sorted(map(_counted, each.past.statistics(kind))) for each in sessions)
        assert recorded == live


@pytest.mark.parametrize("outcome", [None, "changed"])
@pytest.mark.parametrize("where", ["before", "after"])
def test_breakpoints_stop_at_the_ends_of_actions_that_run_when_they_are_set(
    both: Start, where: str, outcome: str | None
) -> None:
    sessions = both()
    inner = {"after": where == "after", "temporary": True}
    sessions.do("breakpoints.add", "pattern:AddIAddConstant", **inner)
    sessions.do("run")
    # The condition on the hits is evaluated once for each action, however often the list changes.
    sessions.do("breakpoints.add", "pass:*", "hits == 1", after=True)
    sessions.do("breakpoints.add", "#1", after=True)
    sessions.do("breakpoints.disable", [2])
    sessions.do("breakpoints.enable", [2])
    sessions.do("breakpoints.add", "tag:*", after=outcome is None, outcome=outcome)
    ends = 0
    while sessions.do("continue_").when != "exit":
        ends += 1
    assert ends >= 4


@pytest.mark.parametrize("seed", range(6))
def test_breakpoints_that_change_on_the_way_stop_at_the_same_places(
    both: Start, tmp_path: Path, seed: int
) -> None:
    """Those at ends of actions, which may have begun before the change."""
    dice = random.Random(seed)
    sessions = both(*LOWER, source=_loop(tmp_path)) if seed % 2 else both()
    specs = ("pass:*", "tag:*", "pattern:*", "fold:*", "pass:canonicalize", "#1")
    conditions = (None, "depth == 0", "depth > 1", "line > 5", "outcome == 'unchanged'")
    outcomes = (None, None, "changed", "failed", "succeeded")

    def change() -> None:
        ids = [one.id for one in sessions.live.breakpoints.all()]
        match dice.randrange(4) if ids else 0:
            case 0:
                outcome = dice.choice(outcomes)
                after = outcome is None and dice.random() < 0.7
                condition = dice.choice(conditions)
                chosen = {"after": after, "outcome": outcome}
                sessions.do("breakpoints.add", dice.choice(specs), condition, **chosen)
            case 1:
                sessions.do("breakpoints.disable", [dice.choice(ids)])
            case 2:
                sessions.do("breakpoints.enable", [dice.choice(ids)])
            case _:
                sessions.do("breakpoints.set_condition", dice.choice(ids), dice.choice(conditions))

    stops, stop = 0, sessions.do("start")
    for _ in range(60):
        while dice.random() < 0.5:
            change()
        moves = ("continue_", "continue_", "step", "next", "finish")
        stop = sessions.do(dice.choice(moves) if stop.when != "exit" else "run")
        stops += stop.reason == "breakpoint"
    assert stops > 5


def test_a_breakpoint_counts_the_running_actions_at_whose_ends_it_stops(both: Start) -> None:
    sessions = both()
    sessions.do("breakpoints.add", "pattern:AddIAddConstant", temporary=True)
    stop = sessions.do("run")
    sessions.do("breakpoints.add", "pass:*", after=True)
    sessions.do("breakpoints.add", "tag:*", outcome="changed")
    sessions.do("breakpoints.add", "pass:*")
    agree: list[bool] = []
    while stop.when != "exit":
        counts = [[(one.hits, one.matched) for one in each.breakpoints.all()] for each in sessions]
        agree.append(counts[0] == counts[1])
        sessions.do("breakpoints.disable", [2])
        sessions.do("step")
        sessions.do("breakpoints.enable", [2])
        stop = sessions.do("continue_")
    assert agree and all(agree)
    (passes, _, begun) = sessions.recorded.breakpoints.all()
    assert passes.hits == passes.matched > begun.matched > 0


def test_a_running_action_keeps_its_number_when_the_condition_changes(both: Start) -> None:
    sessions = both("--canonicalize", "--cse", "--canonicalize", "--mlir-disable-threading")
    sessions.do("breakpoints.add", "pass:*", after=True)
    sessions.do("breakpoints.add", "pattern:AddIAddConstant", temporary=True)
    sessions.do("run")
    for condition in ("depth > 1", "hits == 7", "depth == 0 and hits == 1"):
        sessions.do("breakpoints.set_condition", 1, condition)
        sessions.do("step")
    counts = [[(one.hits, one.matched) for one in each.breakpoints.all()] for each in sessions]
    assert counts == [[(0, 1)], [(0, 1)]]
    stop = sessions.do("continue_")
    assert (stop.when, stop.ordinal, stop.breakpoints) == ("after", 1, [1])
    sessions.do("breakpoints.set_condition", 1, "hits == 3")
    stop = sessions.do("continue_")
    assert (stop.when, stop.name, stop.breakpoints) == ("after", "canonicalize", [1])
    assert sessions.do("continue_").when == "exit"


def test_a_condition_on_hits_counts_each_action_once(both: Start) -> None:
    sessions = both("--canonicalize", "--cse", "--canonicalize", "--mlir-disable-threading")
    sessions.do("breakpoints.add", "pass:canonicalize", "hits == 2", after=True)
    sessions.do("breakpoints.add", "fold:*", temporary=True)
    assert sessions.do("run").breakpoints == [2]
    sessions.do("breakpoints.disable", [1])
    sessions.do("breakpoints.enable", [1])
    stop = sessions.do("continue_")
    assert (stop.when, stop.breakpoints) == ("after", [1]) and stop.ordinal > 1
    assert sessions.do("continue_").when == "exit"


@pytest.mark.parametrize("nested", [True, False])
def test_every_frame_has_made_the_same_changes(both: Start, tmp_path: Path, nested: bool) -> None:
    sessions = both(*LOWER, source=_loop(tmp_path))
    sessions.do("breakpoints.add", "*", after=True)
    stop, outer, dated = sessions.do("run"), 0, 0
    while stop.when != "exit":
        for index in some(range(len(sessions.live.stack.frames()))):
            live, recorded = (_changes_in(each, index, nested) for each in sessions)
            outer += bool(index and live.total)
            assert not live.undated
            missing = Counter(live.counts)
            missing.subtract(recorded.counts)
            assert min(missing.values(), default=0) >= 0, f"{stop}, frame {index}"
            assert missing.total() <= recorded.undated, f"{stop}, frame {index}"
            dated += bool(recorded.total and not recorded.undated)
        stop = sessions.do("continue_")
    assert outer > 20
    assert dated > 10


def _changes_in(session: Any, frame: int, nested: bool) -> Changes:
    session.stack.select(frame)
    found = session.outcome.changes(nested=nested)
    # A conversion applies what it collected in the order of addresses.
    assert Counter(each.kind for each in found.changes) == found.counts
    assert found.total == len(found.changes)
    return found


def _counted(row: Any) -> tuple[Any, ...]:
    return row.name, row.attempts, row.succeeded, row.unchanged, row.failed


def _frame(frame: Any) -> tuple[Any, ...]:
    names = ("index", "ordinal", "tag", "name", "depth", "op", "location", "function")
    return tuple(getattr(frame, name) for name in names)


@pytest.mark.parametrize("seed", range(4))
def test_random_walks_reach_the_same_stops(both: Start, seed: int) -> None:
    dice = random.Random(seed)
    sessions = both()
    sessions.do("start")
    specs = ("tag:fold", "op:arith.*", "pattern:*Add*", "func:sum", "#9", "folds.mlir:5")
    for _ in range(80):
        move = dice.choice(_MOVES)
        count = dice.randint(1, 4)
        if move == "breakpoints.add":
            sessions.do(move, dice.choice(specs), **_moment(dice))
        elif move == "breakpoints.delete":
            sessions.do(move, [each.id for each in sessions.live.breakpoints.all()][:1])
        elif move == "timeline.goto":
            where = dice.choice(("before", "after"))
            sessions.do(move, dice.randint(1, sessions.recorded.recording.count + 2), where)
        elif move in ("until", "advance"):
            condition = dice.choice((None, None, "depth > 1", "outcome != 'failed'"))
            sessions.do(move, dice.choice(("tag:fold", "pass:*")), condition, **_moment(dice))
        elif move == "start":
            sessions.do(move)
        else:
            sessions.do(move, count)


def _moment(dice: random.Random) -> dict[str, Any]:
    outcome = dice.choice((None, None, "failed", "succeeded", "reason:*"))
    return {"after": dice.random() < 0.3, "outcome": outcome}


_MOVES = (
    *("breakpoints.add", "breakpoints.delete", "start", "timeline.goto", "until", "advance"),
    *("step", "next", "finish", "continue_", "continue_"),
    *(
        "timeline.reverse_step",
        "timeline.reverse_next",
        "timeline.reverse_finish",
        "timeline.reverse_continue",
    ),
)


def test_attempts_and_changes_equal_the_live_ones(both: Start) -> None:
    live, recorded = both()
    for session in (live, recorded):
        session.run()
    tried = [
        [(each.ordinal, each.op, each.location, _outcome(each.outcome)) for each in attempts]
        for attempts in (live.past.why_not("*").attempts, recorded.past.why_not("*").attempts)
    ]
    assert tried[1] == tried[0]
    for session in (live, recorded):
        session.timeline.goto(1, "after")
    found, told = live.outcome.changes(), recorded.outcome.changes()
    assert (told.total, told.counts) == (found.total, found.counts)
    made = [[(each.kind, each.op, each.ordinal) for each in one.changes] for one in (found, told)]
    assert made[1] == made[0]


def _listed(action: Any) -> tuple[Any, ...]:
    result = action.outcome and action.outcome.result
    where = (action.op, action.location, action.function, action.depth, action.state)
    return action.ordinal, action.tag, action.name, *where, result, action.change_count


@pytest.mark.parametrize("ordinal", [1, 12, 10**6])
def test_lists_of_actions_are_the_same(both: Start, ordinal: int) -> None:
    sessions = both(PIPELINE, "--mlir-disable-threading")
    sessions.do("start")
    sessions.do("continue_") if ordinal == 10**6 else sessions.do("timeline.goto", ordinal)
    options: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {"count": 7}),
        ((), {"first": 5, "count": 3}),
        ((), {"count": 1}),
        (("pattern:*", "line > 3"), {}),
        (("pattern:*", "hits > 5"), {"count": 4}),
        (("tag:fold",), {"changed": True, "count": 2}),
        ((), {"changed": True, "first": 4, "count": 100}),
        (("pass:nosuch",), {}),
        (("arith.addi", "pass == 'canonicalize'"), {"count": 5}),
        (("in:canonicalize", "outcome == 'succeeded'"), {"count": 3}),
        (("tag:*", "outcome != 'failed'"), {"first": 4, "count": 6}),
    ]
    for words, named in options:
        live, recorded = (each.past.actions(*words, **named) for each in sessions)
        assert [*map(_listed, recorded.actions)] == [*map(_listed, live.actions)], (words, named)
        assert (recorded.earlier, recorded.later) == (live.earlier, live.later), (words, named)
    live, recorded = (each.past.passes() for each in sessions)
    assert [*map(_listed, recorded)] == [*map(_listed, live)]
    assert all(action.seconds for action in live if action.outcome)


def _successes(session: DebugSession) -> list[tuple[int, list[int]]]:
    """Return the ordinal and the breakpoints of each stop at a success, up to the end."""
    found: list[tuple[int, list[int]]] = []
    spec = None
    while (stop := session.next_success(spec)).when != "exit":
        found.append((stop.ordinal, stop.breakpoints))
        spec = "tag:apply-pattern"
    return found


def test_next_success_equals_the_live_one(both: Start) -> None:
    live, recorded = both(ir="function")
    for session in (live, recorded):
        session.breakpoints.add("pattern:*")
        session.breakpoints.add("op:arith.addi", temporary=True)
        session.run()
    here, there = (_successes(session) for session in (live, recorded))
    assert here == there and len(here) > 1
    hits = [[one.hits for one in session.breakpoints.all()] for session in (live, recorded)]
    assert hits[0] == hits[1]


def test_diffs_of_patterns_equal_the_live_ones(both: Start) -> None:
    live, recorded = both(ir="function")
    live.start()
    recorded.start()
    count = 0
    while (stop := live.next_change()).when != "exit":
        count += 1
        assert recorded.next_change().ordinal == stop.ordinal
        # A live module ends in an empty line.
        live_lines, lines = (
            [line for line in each.past.diff().unified() if line != " " and line[0] != "@"]
            for each in (live, recorded)
        )
        assert lines == live_lines
    assert count > 3


def test_diffs_in_a_conversion_equal_the_live_ones(both: Start, tmp_path: Path) -> None:
    """Of folds, patterns and passes on functions: both sides of each are in the same form."""
    (tmp_path / "divide.mlir").write_text(DIVIDE)
    passes = "--pass-pipeline=builtin.module(func.func(arith-expand),finalize-memref-to-llvm)"
    live, recorded = both(passes, "--mlir-disable-threading", source="divide.mlir", ir="function")
    live.start()
    recorded.continue_()
    changed: Counter[str] = Counter()
    for one in some(live.past.actions(count=1000).actions):
        live.timeline.goto(one.ordinal, "after")
        counts = [
            [
                sum(line[0] == sign for line in each.past.diff(one.ordinal).unified())
                for sign in "+-"
            ]
            for each in (live, recorded)
        ]
        assert counts[0] == counts[1], one.title
        changed[one.tag] += counts[0] != [0, 0]
    assert changed["apply-pattern"] > 1 and changed["pass-execution"] == 3


def test_actions_have_the_full_names_of_live_ones(both: Start) -> None:
    live, recorded = both()
    live.start()
    recorded.start()
    names: set[str] = set()
    while live.step().when != "exit":
        recorded.step()
        name, other = (each.stack.action().full_name for each in (live, recorded))
        assert name == other
        names.add(name)
    assert "cse" in names and len(names) > 5


def test_operations_that_no_pattern_was_tried_on_are_not_recorded(both: Start) -> None:
    _, recorded = both("--convert-arith-to-llvm")
    recorded.continue_()
    found = ExplanationShown(recorded.past.explain("op:func.func"), all=False)
    text = explanation_text(Console(recorded, color=False), found)
    assert text == (
        "No dialect conversion that is recorded up to now tried a pattern on op:func.func in vain."
    )


def test_a_closed_session_answers_nothing(both: Start) -> None:
    for session in some(both()):
        session.start()
        session.close()
        for ask in (session.past.actions, session.stack.frames, session.continue_, session.run):
            with pytest.raises(UsageError, match="The session is closed"):
                ask()


def test_printed_functions_equal_the_live_ones(both: Start) -> None:
    sessions = both(PIPELINE, "--mlir-disable-threading", ir="function")
    stop, same = sessions.do("start"), 0
    while stop.when != "exit":
        try:
            with sessions.recorded.ir.print("function") as text:
                recorded = text.text
        except ActiondbgError:
            recorded = None  # an action around this one may have changed it meanwhile
        if recorded is not None:
            with sessions.live.ir.print("function") as text:
                assert recorded.strip() == text.text.strip()
            same += 1
        stop = sessions.do("step")
    assert same > 50


def test_actions_with_threads_equal_those_of_one_thread(both: Start) -> None:
    alone, beside = both(PIPELINE, "--mlir-disable-threading").recorded, both(PIPELINE).recorded
    assert _by_function(beside) == _by_function(alone)


def _by_function(session: RecordedSession) -> dict[str | None, list[Any]]:
    """Return what was done in each function, in the order of the line."""
    done: dict[str | None, list[Any]] = {}
    stop = session.start()
    while stop.when != "exit":
        done.setdefault(stop.function, []).append((stop.when, stop.tag, stop.name, stop.op))
        stop = session.step()
    return done


def test_an_operation_without_results_is_replaced_by_no_argument(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text("func.func @f() {\n  return\n}\n")
    words = ["mlir-opt", str(tmp_path / "in.mlir"), "--convert-to-llvm"]
    record(words, tmp_path / "run.adbrec", stdout=os.devnull)
    with open_session(tmp_path / "run.adbrec") as session:
        session.start()
        session.breakpoints.watch("@2")
        told = session.continue_().message
    assert told == "@2 func.return was replaced"
