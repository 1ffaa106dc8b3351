"""Sessions over imports: what a log shows, and what it cannot."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from actiondbg.errors import NotRecorded
from actiondbg.recording.errors import RecordingError
from actiondbg.recording.imported.importer import import_log
from actiondbg.recording.session import open_session
from actiondbg.recording.session.recorded_past import RecordedPast
from actiondbg.recording.session.recorded_session import RecordedSession
from tests.paths import ROOT

LOGS = ROOT / "tests/inputs/logs"


def opened(name: str, tmp_path: Path) -> RecordedSession:
    import_log(str(LOGS / name), tmp_path / "run.adbrec")
    return open_session(tmp_path / "run.adbrec")


@pytest.fixture
def both(tmp_path: Path) -> Iterator[RecordedSession]:
    with opened("both.log", tmp_path) as session:
        yield session


@pytest.fixture
def after(tmp_path: Path) -> Iterator[RecordedSession]:
    with opened("after.log", tmp_path) as session:
        yield session


def test_steps_through_the_passes(both: RecordedSession) -> None:
    stops = [both.start()]
    while stops[-1].when != "exit":
        stops.append(both.step())
    places = " ".join(f"{stop.when[0]}{stop.ordinal}" for stop in stops[:-1])
    assert places == "b1 a1 b2 a2 b3 a3 b4 a4 b5 b6 a6 b7 a7 a5 b8 a8"
    end = stops[-1]
    assert (end.reason, end.message) == ("exited", "The log ends after 8 passes.")
    assert (both.state, both.exit_status) == ("exited", None)


def test_breakpoints_and_time_travel(both: RecordedSession) -> None:
    both.breakpoints.add("pass:canonicalize", "depth > 0")
    assert (both.run().ordinal, both.stop.function) == (6, "f")
    assert both.continue_().ordinal == 7
    assert both.timeline.reverse_continue().ordinal == 6
    assert both.timeline.goto(8, "after").outcome is not None
    changes = [(one.kind, one.op) for one in both.stop.changes]
    assert changes == [("erased", "func.func")]


def test_ir_before_and_after(both: RecordedSession) -> None:
    both.timeline.goto(1)
    assert "arith.constant 1" in both.ir.print("module").text
    both.next()
    assert "arith.constant 1" not in both.ir.print("module").text
    assert "\nfunc.func @f(%arg0: i32" in both.ir.print("function").text
    diff = both.past.diff(1)
    lines = [line for line in diff.unified() if line[:1] in "+-"]
    assert len([line for line in lines if "arith.constant" in line]) == 3
    assert both.past.diff(1, module=True).unified() == diff.unified()


def test_the_diff_leaves_new_numbers_of_locations_out(both: RecordedSession) -> None:
    both.timeline.goto(8, "after")
    lines = [line for line in both.past.diff(8).unified() if line[:1] in "+-"]
    assert [line for line in lines if "@h()" not in line and "#loc" not in line[:5]] == []


def test_history_and_passes(both: RecordedSession) -> None:
    both.timeline.goto(8, "after")
    kinds = [(event.kind, event.name) for event in both.past.history("@2").events]
    assert kinds == [("created", "the parser"), ("modified", "canonicalize")]
    counted = {
        row.name: (row.attempts, row.unchanged, row.seconds) for row in both.past.statistics()
    }
    assert counted == {
        "canonicalize": (4, 3, None),
        "cse": (2, 2, None),
        "inline": (1, 1, None),
        "symbol-dce": (1, 0, None),
    }
    assert {one.seconds for one in both.past.passes()} == {None}


QUESTIONS: list[Callable[[RecordedPast], object]] = [
    lambda past: past.why_not("Fold"),
    lambda past: past.explain(),
    lambda past: past.cycles(),
    lambda past: past.statistics("pattern"),
    lambda past: past.statistics("fold"),
]


@pytest.mark.parametrize("ask", QUESTIONS)
def test_questions_about_patterns_are_refused(
    both: RecordedSession, ask: Callable[[RecordedPast], object]
) -> None:
    with pytest.raises(NotRecorded, match=r"both\.log, which has passes and no patterns or folds"):
        ask(both.past)


def test_a_control_that_needs_the_tool_names_none(both: RecordedSession) -> None:
    with pytest.raises(NotRecorded, match=r"start the tool with `actiondbg TOOL ARGS\.\.\.`"):
        both.timeline.checkpoints.add()


def test_ir_that_no_dump_shows(after: RecordedSession) -> None:
    after.timeline.goto(1)
    with pytest.raises(
        NotRecorded, match=r"the IR of @1 func\.func before #1: the log has no dump"
    ):
        after.ir.print("function")
    after.next()
    assert after.ir.print("function").text == "func.func private @h()\n"
    with pytest.raises(NotRecorded, match="does not hold the IR before #1: its log has no dump"):
        after.past.diff(1)
    with pytest.raises(NotRecorded, match="the IR of the module after #1"):
        after.ir.print("module")
    after.timeline.goto(8)
    assert "@h" in after.ir.print("module").text
    after.next()
    assert "@h" not in after.ir.print("module").text


def test_the_module_is_not_one_inside_it(tmp_path: Path) -> None:
    with opened("iree-executable.log", tmp_path) as session:
        session.timeline.goto(10, "after")
        assert session.ir.print("cursor").text.startswith("module {\n  func.func @mm_dispatch_0")
        text = session.ir.print("module").text
        assert "hal.executable private @mm_dispatch_0" in text
        assert "    builtin.module {\n        func.func @mm_dispatch_0" in text


def test_the_end_of_the_last_pass_is_unknown(tmp_path: Path) -> None:
    with opened("triton.log", tmp_path) as session:
        session.timeline.goto(6)
        assert "tt.func public @add" in session.ir.print("module").text
        stop = session.next()
        assert (stop.when, stop.message) == ("exit", "The log ends after 6 passes.")


@pytest.mark.parametrize("seed", range(30))
def test_damaged_logs_are_refused_or_read(seed: int, tmp_path: Path) -> None:
    """Lines that are lost, doubled, cut or garbled may lose passes, and nothing else."""
    dice = random.Random(seed)
    name = dice.choice(("after", "both", "failed", "iree-executable", "triton"))
    lines = (LOGS / f"{name}.log").read_bytes().split(b"\n")
    for _ in range(dice.randint(1, 12)):
        at, other = dice.randrange(len(lines)), dice.randrange(len(lines))
        damages = (
            lines[:at] + lines[at + dice.randint(1, 20) :],
            [*lines[:at], lines[other], *lines[at:]],
            [*lines[:at], lines[at][: dice.randint(0, 60)], *lines[at + 1 :]],
            [*lines[:at], dice.randbytes(20), *lines[at + 1 :]],
            [line.replace(b"Dump After", b"Dump Before") for line in lines[:at]] + lines[at:],
        )
        lines = dice.choice(damages) or [b""]
    log = tmp_path / "damaged.log"
    log.write_bytes(b"\n".join(lines))
    try:
        import_log(str(log), tmp_path / "run.adbrec")
    except RecordingError:
        return
    with open_session(tmp_path / "run.adbrec") as session:
        stop = session.start()
        events = 0
        while stop.when != "exit":
            for what in ("module", "cursor"):
                with contextlib.suppress(NotRecorded):
                    assert session.ir.print(what).text
            stop = session.step()
            events += 1
        outcomes = session.recording.table("actions", ["outcome"]).column("outcome").to_pylist()
        assert events == 2 * len(outcomes) - outcomes.count("unfinished")
        assert len(session.past.passes()) == session.recording.count
