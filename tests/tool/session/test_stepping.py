"""Controls, breakpoints and units at stops of the real tool, of both builds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.stop import Stop
from tests.elements import some
from tests.fakes import stock_tool as stock
from tests.fakes.stops import all_stops

Launch = Callable[..., actiondbg.Session]


def trail(session: actiondbg.Session, go: str) -> list[tuple[str, int, int]]:
    """Go on with one control to the end; return (when, ordinal, depth) of each stop."""
    stops = [session.start()]
    while stops[-1].when != "exit":
        stops.append(getattr(session, go)())
    return [(s.when, s.ordinal, s.depth) for s in stops[:-1]]


def test_step_stops_once_before_and_after_each_action(launch: Launch) -> None:
    stops = trail(launch(), "step")
    befores = [ordinal for when, ordinal, _ in stops if when == "before"]
    afters = [ordinal for when, ordinal, _ in stops if when == "after"]
    assert befores == list(range(1, len(befores) + 1))
    assert sorted(afters) == befores
    # Nested actions lie between the two stops of the one around them.
    open_actions: list[int] = []
    for when, ordinal, depth in some(stops):
        if when == "before":
            assert depth == len(open_actions)
            open_actions.append(ordinal)
        else:
            assert open_actions.pop() == ordinal


def test_ordinals_are_the_same_in_each_run(launch: Launch) -> None:
    session = launch()
    first = trail(session, "step")
    assert trail(session, "step") == first


def test_next_stays_at_its_depth(launch: Launch) -> None:
    session = launch()
    stop = session.start()
    assert (stop.when, stop.depth, stop.reason) == ("before", 0, "start")
    stop = session.next()
    assert (stop.when, stop.ordinal, stop.reason) == ("after", 1, "next")
    assert session.next().when == "exit"


def test_finish_stops_after_the_action_around(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("tag:apply-pattern")
    stop = session.run()
    session.breakpoints.disable([1])
    around = session.stack.frames()[1]
    finished = session.finish()
    assert (finished.when, finished.ordinal, finished.reason) == (
        "after",
        around.ordinal,
        "finish",
    )
    assert finished.depth == stop.depth - 1


def test_finish_of_the_outermost_action_is_refused(launch: Launch) -> None:
    session = launch()
    session.start()
    with pytest.raises(errors.ControlRefused, match="has no parent"):
        session.finish()
    assert session.next().when == "after"


def test_skip_after_an_action_is_refused_and_loses_nothing(launch: Launch) -> None:
    session = launch()
    session.start()
    session.next()
    with pytest.raises(errors.ControlRefused, match="The action is over"):
        session.skip()
    assert session.continue_().when == "exit"


def test_count_of_step_equals_as_many_steps(launch: Launch) -> None:
    session = launch()
    session.start()
    one_by_one = [session.step() for _ in range(7)][-1]
    session.start()
    assert session.step(7) == one_by_one


def test_continue_with_a_count_passes_breakpoints(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("tag:fold")
    ordinals = [session.run().ordinal]
    for _ in range(3):
        ordinals.append(session.continue_().ordinal)
    session.run()
    assert session.continue_(3).ordinal == ordinals[3]


def test_skipping_a_pattern_leaves_its_operations(launch: Launch, bare: Callable[..., str]) -> None:
    session = launch()
    session.breakpoints.add("pattern:AddIAddConstant and func:twice")
    stop = session.run()
    assert (stop.op, stop.function) == ("arith.addi", "twice")
    while stop.when != "exit":
        stop = session.skip()
    skipped = session.target.output()
    assert stop.status == 0
    assert skipped.count("arith.addi") == 3
    assert bare("--canonicalize").count("arith.addi") == 2


def test_skip_that_steps_stops_at_the_end_of_the_skipped_action(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("pattern:AddIAddConstant")
    stop = session.run()
    skipped = session.skip(step=True)
    assert (skipped.when, skipped.ordinal, skipped.reason) == ("after", stop.ordinal, "step")
    assert skipped.event == stop.event + 1
    assert skipped.outcome is not None and skipped.outcome.result == "skipped"
    assert session.timeline.branches().branches[0].skips[0].ordinal == stop.ordinal
    assert session.timeline.goto(stop.ordinal).ordinal == stop.ordinal
    assert session.continue_().ordinal > stop.ordinal


def test_skip_that_steps_with_an_observer(launch: Launch) -> None:
    session = launch()
    seen: list[int] = []
    session.observers.add("tag:apply-pattern", after=lambda stop: seen.append(stop.ordinal))
    session.breakpoints.add("pattern:AddIAddConstant")
    stop = session.run()
    skipped = session.skip(step=True)
    assert (skipped.when, skipped.ordinal, skipped.reason) == ("after", stop.ordinal, "step")
    assert seen[-1] == stop.ordinal


def test_skip_that_steps_after_an_action_is_refused(launch: Launch) -> None:
    session = launch()
    session.start()
    session.next()
    with pytest.raises(errors.ControlRefused, match="The action is over"):
        session.skip(step=True)
    with pytest.raises(errors.UsageError, match="takes no count"):
        session.skip(2, step=True)


def test_skipping_a_pass_leaves_the_ir(launch: Launch, bare: Callable[..., str]) -> None:
    session = launch()
    session.breakpoints.add("pass:canonicalize")
    session.run()
    assert session.skip().when == "exit"
    assert session.target.output() == bare()


def test_skipping_a_fold(launch: Launch) -> None:
    Path("zero.mlir").write_text(
        "func.func @zero(%a: i32) -> i32 {\n"
        "  %c0 = arith.constant 0 : i32\n"
        "  %x = arith.addi %a, %c0 : i32\n"
        "  return %x : i32\n}\n"
    )
    session = launch("--canonicalize", source="zero.mlir")
    session.breakpoints.add("fold:arith.addi")
    stop = session.run()
    while stop.when != "exit":
        stop = session.skip()
    assert "arith.addi" in session.target.output()
    session.breakpoints.delete([1])
    assert session.run().when == "exit"
    assert "arith.addi" not in session.target.output()


def test_output_is_the_tools_own_when_nothing_is_skipped(
    launch: Launch, bare: Callable[..., str]
) -> None:
    session = launch()
    session.breakpoints.add("tag:apply-pattern", after=True)
    stop = session.run()
    while stop.when != "exit":
        session.ir.print("module").close()
        stop = session.continue_()
    assert session.target.output() == bare("--canonicalize")


def line_of(stop: Stop) -> int:
    return int(str(stop.location).split(":")[-2])


SPECS: list[tuple[str, Callable[[Stop], bool]]] = [
    ("tag:pass-execution", lambda s: s.tag == "pass-execution"),
    ("canonicalize", lambda s: s.name == "canonicalize"),
    ("pattern:AddI*", lambda s: str(s.name).startswith("AddI")),
    ("AddIAddConstant", lambda s: s.name == "AddIAddConstant"),
    ("fold:arith.*", lambda s: s.tag == "fold" and str(s.op).startswith("arith.")),
    ("op:func.return", lambda s: s.op == "func.return"),
    ("func:twice", lambda s: s.function == "twice"),
    ("folds.mlir:14", lambda s: s.location == "folds.mlir:14:8"),
    ("folds.mlir:13-14 and tag:fold", lambda s: s.tag == "fold" and line_of(s) in (13, 14)),
    ("#5", lambda s: s.ordinal == 5),
]


def hits_of(session: actiondbg.Session) -> list[int]:
    """Run to the end; return the ordinals of the stops."""
    found: list[int] = []
    stop = session.run()
    while stop.when != "exit":
        assert stop.when == "before"
        assert stop.breakpoints == [session.breakpoints.all()[0].id]
        found.append(stop.ordinal)
        stop = session.continue_()
    return found


def passed_by(session: actiondbg.Session, expected: Callable[[Stop], bool]) -> list[int]:
    """Step through the run; return the ordinals of the actions for which a predicate holds."""
    stops = [stop for stop in all_stops(session).values() if stop.when == "before"]
    found = [stop.ordinal for stop in stops if expected(stop)]
    assert 0 < len(found) < len(stops)
    return found


@pytest.mark.parametrize(("spec", "expected"), SPECS)
def test_each_kind_of_spec(launch: Launch, spec: str, expected: Callable[[Stop], bool]) -> None:
    wanted = passed_by(launch(), expected)
    session = launch()
    session.breakpoints.add(spec)
    assert hits_of(session) == wanted


CONDITIONS: list[tuple[str, Callable[[Stop], bool]]] = [
    ("depth == 2 and ordinal > 10", lambda s: s.depth == 2 and s.ordinal > 10),
    (
        "op ~ 'arith.*' and not func == 'sum'",
        lambda s: str(s.op)[:6] == "arith." and s.function == "twice",
    ),
    ("file == 'folds.mlir' and line >= 14", lambda s: line_of(s) >= 14),
    ("name == 'AddIAddConstant'", lambda s: s.name == "AddIAddConstant"),
]


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS)
def test_conditions(launch: Launch, condition: str, expected: Callable[[Stop], bool]) -> None:
    wanted = passed_by(launch(), expected)
    session = launch()
    session.breakpoints.add("tag:*", condition)
    assert hits_of(session) == wanted


def test_a_condition_on_the_iteration_holds_inside_it(launch: Launch) -> None:
    stops = all_stops(launch()).values()
    inside: list[int] = []
    is_second = False
    for stop in stops:
        if stop.name == "iteration 2":
            is_second = stop.when == "before"
        if is_second and stop.when == "before":
            inside.append(stop.ordinal)
    assert 1 < len(inside) < len(stops) // 2
    session = launch()
    session.breakpoints.add("tag:*", "iteration == 2")
    assert hits_of(session) == inside


def test_hits_ignore_and_temporary(launch: Launch) -> None:
    session = launch()
    all_of_them = session.breakpoints.add("tag:fold")
    session.breakpoints.disable([all_of_them.id])
    ignored = session.breakpoints.add("fold:arith.addi")
    session.breakpoints.set_ignore(ignored.id, 2)
    once = session.breakpoints.add("tag:pass-execution", temporary=True)
    stop = session.run()
    assert stop.breakpoints == [once.id]
    assert once not in session.breakpoints.all()
    assert session.continue_().breakpoints == [ignored.id]
    session.breakpoints.hits()
    assert (ignored.hits, all_of_them.hits) == (3, 0)


def test_stop_after_an_action_describes_the_remaining_ir(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("pattern:AddIAddConstant and folds.mlir:14", after=True)
    stop = session.run()
    assert (stop.when, stop.op) == ("after", "arith.addi")
    [unit] = session.stack.context()
    assert unit.state == "replaced"
    assert unit.text is not None and "arith.addi" in unit.text
    assert session.cursor.get().unit.text == unit.text


def test_until_ends_with_the_action_around_and_advance_does_not(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("#3", temporary=True)
    around = session.run().depth - 1
    stop = session.until("op:no.such")
    assert (stop.when, stop.depth, stop.reason) == ("after", around, "until")
    session.start()
    assert session.advance("pattern:AddIAddConstant").name == "AddIAddConstant"


def test_until_and_advance_stop_after_actions_with_an_outcome(launch: Launch) -> None:
    session = launch()
    session.start()
    stop = session.advance("pattern:AddIAddConstant", after=True)
    assert (stop.when, stop.name, stop.reason) == ("after", "AddIAddConstant", "until")
    ways: list[dict[str, Any]] = [
        {"outcome": "failed"},
        {"condition": "outcome == 'failed'"},
    ]
    for way in ways:
        session.start()
        stop = session.advance("pattern:*", **way)
        assert (stop.when, stop.outcome and stop.outcome.result) == ("after", "failed")


# --- the next success ----------------------------------------------------------------------------


def successes(session: actiondbg.Session, spec: str) -> list[int]:
    """The ordinals of the successes, by a breakpoint with an outcome."""
    session.breakpoints.add(spec, outcome="succeeded")
    found, stop = list[int](), session.run()
    while stop.when != "exit":
        found.append(stop.ordinal)
        stop = session.continue_()
    return found


def test_next_success_passes_the_failures_of_a_pattern(launch: Launch) -> None:
    wanted = successes(launch("--canonicalize", "--cse"), "pattern:AddIAddConstant")
    assert wanted
    session = launch("--canonicalize", "--cse")
    mine = session.breakpoints.add("pattern:AddIAddConstant")
    assert session.run().when == "before"
    session.breakpoints.add("op:arith.*", temporary=True)
    passes = session.breakpoints.add("pass:cse")
    found = list[int]()
    while (stop := session.next_success()).when == "after":
        assert stop.outcome is not None and stop.outcome.result in ("succeeded", "unchanged")
        assert (stop.tag, stop.name, stop.reason) == ("apply-pattern", "AddIAddConstant", "until")
        found.append(stop.ordinal)
    assert found == wanted
    # Breakpoints at passes stop, and those that were passed have counted their hits.
    assert stop.breakpoints == [passes.id]
    attempts = len(session.past.why_not("AddIAddConstant").attempts)
    assert session.breakpoints.all()[0].hits == attempts == mine.hits
    temporary = [one for one in session.breakpoints.all() if one.temporary]
    assert [one.spec for one in temporary] == ["op:arith.*"]
    assert session.continue_().when == "exit"


def test_next_success_is_of_what_the_breakpoint_names(launch: Launch) -> None:
    def mixed() -> actiondbg.Session:
        passes = "--pass-pipeline=builtin.module(inline,canonicalize,symbol-dce)"
        return launch(passes, source=stock.write("mixed.mlir", stock.MIXED))

    wanted = successes(mixed(), "pattern:*")
    session = mixed()
    session.breakpoints.add("pattern:*")
    session.run()
    found = [session.next_success() for _ in wanted]
    assert [stop.ordinal for stop in found] == wanted
    assert len({stop.name for stop in found}) > 1
    session = mixed()
    session.breakpoints.add("pattern:*", condition=f"ordinal != {wanted[0]}")
    session.run()
    assert session.next_success().ordinal == wanted[1]


def test_next_success_of_a_fold_and_of_a_spec(launch: Launch) -> None:
    wanted = successes(launch(), "fold:arith.addi")
    session = launch()
    session.breakpoints.add("fold:arith.addi")
    stop = session.run()
    assert stop.tag == "fold" and [session.next_success().ordinal for _ in wanted] == wanted
    patterns = successes(launch(), "tag:apply-pattern")
    session = launch()
    assert session.start().tag == "pass-execution"
    assert [session.next_success().ordinal for _ in patterns] == patterns
    session = launch()
    session.start()
    last = f"ordinal == {patterns[-1]}"
    assert session.next_success("tag:apply-pattern", last).ordinal == patterns[-1]


def test_next_success_is_stopped_by_watches_and_catches(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("pattern:AddIAddConstant")
    session.run()
    watch = session.breakpoints.watch("op:arith.constant count")
    assert session.next_success("pattern:NoSuch*").breakpoints == [watch.id]


def test_interrupt_stops_before_the_next_action(launch: Launch, tmp_path: Path) -> None:
    many = tmp_path / "many.mlir"
    body = "".join(f"  %v{i + 1} = arith.muli %v{i}, %v{i} : i32\n" for i in range(3000))
    functions = "".join(
        f"func.func @f{n}(%v0: i32) -> i32 {{\n{body}  return %v3000 : i32\n}}\n" for n in range(8)
    )
    many.write_text(functions)
    session = launch("--canonicalize", "--cse", source=str(many))
    threading.Timer(0.8, session.interrupt).start()
    stop = session.run()
    if stop.when != "exit":
        assert (stop.when, stop.reason) == ("before", "interrupt")
        assert session.continue_().when == "exit"


def test_tool_ends_with_its_front_end(mlir_opt: str, folds: str) -> None:
    code = (
        "import actiondbg, sys, time\n"
        f"s = actiondbg.launch([{mlir_opt!r}, {folds!r}, '--canonicalize'])\n"
        "s.start()\n"
        "print(s.status and s.target.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as front:
        assert front.stdout is not None
        pid = int(front.stdout.readline())
        front.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()


def test_tool_killed_from_outside_is_reported(launch: Launch) -> None:
    session = launch()
    session.start()
    assert session.target.pid is not None
    os.kill(session.target.pid, signal.SIGKILL)
    with pytest.raises(errors.ToolGone, match="SIGKILL"):
        session.stack.frames()
    assert session.exit_status == -signal.SIGKILL


def test_breakpoints_are_listed_when_the_tool_was_killed(launch: Launch) -> None:
    session = launch()
    session.start()
    added = session.breakpoints.add("pass:*")
    assert session.target.pid is not None
    os.kill(session.target.pid, signal.SIGKILL)
    assert [one.id for one in session.breakpoints.hits()] == [added.id]
    with pytest.raises(errors.NotStopped, match="SIGKILL"):
        session.stack.frames()


def test_log_actions_to_works_with_the_agent(launch: Launch, bare: Callable[..., str]) -> None:
    session = launch("--canonicalize", "--log-actions-to=log.txt")
    session.breakpoints.add("tag:apply-pattern")
    stop = session.run()
    while stop.when != "exit":
        stop = session.continue_()
    ours = Path("log.txt").read_text()
    bare("--canonicalize", "--log-actions-to=log.txt", "--mlir-disable-threading")
    assert ours == Path("log.txt").read_text()


def test_several_contexts(launch: Launch) -> None:
    Path("split.mlir").write_text(
        "func.func @a() { return }\n// -----\nfunc.func @b() { return }\n"
    )
    session = launch("--split-input-file", "--canonicalize", source="split.mlir")
    session.breakpoints.add("pass:canonicalize")
    assert session.run().depth == 0
    second = session.continue_()
    assert second.ordinal > 1
    assert "@b" in session.ir.print("module").text
    assert session.continue_().when == "exit"
