"""Session against a fake agent: what replicas tell of the past."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from actiondbg import protocol
from actiondbg.errors import (
    FileNotWritten,
    NoAnswer,
    NoSuchUnit,
    NotStopped,
    ToolGone,
    UsageError,
)
from actiondbg.session.past.pass_reproducer import pass_around

if TYPE_CHECKING:
    from actiondbg.session.session import Session
    from tests.fakes.agent.fixtures import Launch


def processes(session: Session) -> int:
    from tests.fakes.agent.fixtures import processes_of

    return len(processes_of(session.target.tool.path))


def at(session: Session, ordinal: int, after: bool = False) -> None:
    """Stop at an action."""
    one = session.breakpoints.add(f"#{ordinal}", after=after)
    session.run()
    session.breakpoints.delete([one.id])


# --- why not --------------------------------------------------------------------


def test_why_not_lists_every_attempt_up_to_now(fake: Launch) -> None:
    session = fake()
    at(session, 5)
    found = session.past.why_not("FoldA")
    assert found.name == "FoldA"
    (first,) = found.attempts
    assert (first.ordinal, first.op, first.id, first.location) == (
        2,
        "arith.addi",
        12,
        "in.mlir:3:5",
    )
    assert first.outcome.reasons == ["no constant"]
    session.step()
    found = session.past.why_not("Fold*", "in.mlir:3", op_id=12)
    assert [one.ordinal for one in found.attempts] == [2, 3, 5]
    assert [(one.result, one.reason, one.count) for one in found.grouped()] == [
        ("failed", "no constant", 1),
        ("succeeded", "", 1),
        ("failed", "no constant; and no use", 1),
    ]
    assert found.attempts[1].change_count == 3
    assert session.past.why_not("Nothing").attempts == []
    assert session.past.why_not("FoldA", op_id=99).grouped() == []
    assert session.past.why_not("FoldA", "in.mlir:4").attempts == []
    for name, place in (("[", None), ("FoldA", "patern:x"), ("FoldA", "op:x")):
        with pytest.raises(UsageError):
            session.past.why_not(name, place)


def test_groups_are_sorted_by_count(fake: Launch) -> None:
    session = fake()
    session.run()
    attempts = session.past.why_not("Fold*").attempts
    more = [*attempts, attempts[1], attempts[1]]
    from actiondbg.analysis.attempts import Attempts

    assert Attempts(name="x", attempts=more).grouped()[0].count == 3


def test_replays_repeat_skips(fake: Launch) -> None:
    session = fake()
    session.breakpoints.add("Fold*")
    session.run()
    stop = session.skip(2)
    assert stop.ordinal == 5
    assert [one.outcome.result for one in session.past.why_not("Fold*").attempts] == ["skipped"] * 2
    session.continue_()
    results = [one.outcome.result for one in session.past.why_not("Fold*").attempts]
    assert results == ["skipped", "skipped", "failed"], "the agent is no longer there to ask"
    assert session.past.diff(3).is_empty


# --- a life ----------------------------------------------------------------------


def test_the_life_of_an_operation(fake: Launch) -> None:
    session = fake()
    at(session, 4)
    life = session.past.history()
    assert (life.id, life.op, life.became, life.made_from) == (12, "arith.addi", [14], [])
    assert [(one.ordinal, one.kind, one.name) for one in life.events] == [
        (0, "created", "the parser"),
        (2, "modified", "FoldA"),
        (3, "replaced", "FoldB"),
        (3, "erased", "FoldB"),
    ]
    assert life.events[2].message == "@12 arith.addi was replaced by @14 arith.muli"
    assert session.past.history("%0") == life
    life = session.past.history("@14")
    assert (life.op, life.made_from, life.became) == ("arith.muli", [12], [])
    assert [(one.ordinal, one.kind) for one in life.events] == [(3, "created")]
    untouched = session.past.history("@7")
    assert [one.kind for one in untouched.events] == ["created"]
    assert untouched.op == "func.func"
    with pytest.raises(NoSuchUnit, match="There is no operation @99"):
        session.past.history("@99")
    with pytest.raises(UsageError, match="is not an operation"):
        session.past.history("op:x count")


def test_history_after_the_end(fake: Launch) -> None:
    session = fake()
    session.run()
    assert session.past.history("@14").events[0].ordinal == 3
    with pytest.raises(NotStopped):
        session.past.history()


# --- differences -------------------------------------------------------------------


def test_difference_that_an_action_makes(fake: Launch, base: Path) -> None:
    session = fake()
    at(session, 3, after=True)
    found = session.past.diff()
    assert (found.ordinal, found.title) == (3, "#3 apply-pattern FoldB")
    assert found.unified(0) == ["@@ -2 +2 @@", "-  %0 = foo.old", "+  %0 = foo.new"]
    assert session.past.diff(2).is_empty
    assert session.past.diff(3, module=True).is_empty  # the fake's module never changes
    while session.step().when == "after":
        pass
    with pytest.raises(UsageError, match="is not stopped after an action"):
        session.past.diff()
    with pytest.raises(UsageError, match="has not been dispatched"):
        session.past.diff(77)
    assert list(base.glob("actiondbg-*/print-*")) == list(base.glob("actiondbg-*/f*")) == []


def test_erased_operation_is_compared_in_its_module(fake: Launch) -> None:
    session = fake("--erase")
    session.run()
    assert "builtin.module" in session.past.diff(3).before
    assert "builtin.module" not in session.past.diff(2).before
    with pytest.raises(UsageError, match="is not stopped after"):
        session.past.diff()


def test_both_sides_are_printed_in_one_form(fake: Launch) -> None:
    session = fake("--invalid")
    session.run()
    found = session.past.diff(3)
    assert found.before.startswith('"func.func"') and found.after.startswith('"func.func"')
    assert session.past.diff(2).before.startswith("func.func")


# --- cycles, reproducers, statistics ---------------------------------------------------


def test_no_cycle_in_a_short_stream(fake: Launch) -> None:
    session = fake()
    session.run()
    assert session.past.cycles() is None


def test_a_cycle_has_the_diffs_of_its_round(fake: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    from actiondbg.analysis import cycles as cycle

    session = fake()
    session.run()
    seen: list[cycle.Applied] = []

    def find(stream: list[cycle.Applied], cut: bool) -> cycle.Cycle:
        assert not cut
        seen.extend(stream)
        return cycle.Cycle(stream, 5)

    monkeypatch.setattr(cycle, "find_cycle", find)
    found = session.past.cycles()
    assert [(one.ordinal, one.name, one.id) for one in seen] == [(3, "FoldB", 12)]
    assert found is not None and [one.ordinal for one in found.diffs] == [3]
    assert not found.diffs[0].is_empty


def test_a_reproducer_of_the_pass_that_runs(fake: Launch, tmp_path: Path) -> None:
    session = fake("--allow-unregistered-dialect", "-load-pass-plugin=x.so")
    at(session, 5)
    made = session.past.reproducer(tmp_path / "again.mlir")
    assert made.pipeline == 'builtin.module(cse{s="a b"})'
    assert made.path == str(tmp_path / "again.mlir")
    assert made.command == [
        str(session.target.tool.path),
        made.path,
        "--run-reproducer",
        "--allow-unregistered-dialect",
        "-load-pass-plugin=x.so",
    ]
    text = (tmp_path / "again.mlir").read_text()
    assert text.startswith('"builtin.module"')
    assert text.endswith(
        "{-#\n  external_resources: {\n    mlir_reproducer: {\n"
        '      pipeline: "builtin.module(cse{s=\\"a b\\"})",\n'
        "      disable_threading: true,\n      verify_each: true\n    }\n  }\n#-}\n"
    )
    with pytest.raises(FileNotWritten, match="nowhere"):
        session.past.reproducer(tmp_path / "nowhere/again.mlir")
    session.continue_()
    with pytest.raises(UsageError, match="did not end in a pass"):
        session.past.reproducer(tmp_path / "again.mlir")


def test_questions_after_a_crash(fake: Launch, tmp_path: Path) -> None:
    session = fake("--crash-in", "3")
    stop = session.run()
    assert (stop.reason, stop.ordinal) == ("crashed", 3)
    assert [one.ordinal for one in session.past.why_not("Fold*").attempts] == [2]
    assert session.past.diff(2).is_empty
    assert session.past.reproducer(tmp_path / "x").pipeline.startswith(
        "builtin.module(canonicalize"
    )
    with pytest.raises(UsageError, match="#3 has not ended"):
        session.past.diff(3)
    with pytest.raises(UsageError, match="#1 has not ended: the tool crashes in #3"):
        session.past.diff(1)
    with session.past.replay(3) as one:
        assert one.stop is not None and one.stop.ordinal == 3
    assert processes(session) == 1


def test_questions_after_a_kill(fake: Launch) -> None:
    session = fake("--misbehave", "SIGKILL", "--at", "1")
    session.run()
    session.breakpoints.add("#4")
    assert session.run().reason == "killed"
    with pytest.raises(NoAnswer, match="SIGKILL, at an unknown action"):
        session.past.why_not("FoldA")
    session = fake()
    at(session, 4)
    assert session.target.pid is not None
    os.kill(session.target.pid, signal.SIGKILL)
    with pytest.raises(ToolGone):
        session.stack.context()
    assert [one.ordinal for one in session.past.why_not("Fold*").attempts] == [2, 3]


def test_statistics_after_the_end(fake: Launch) -> None:
    session = fake()
    session.run()
    assert [row.name for row in session.past.statistics("pattern")] == ["FoldA", "FoldB", "FoldA"]
    assert [row.name for row in session.past.statistics("pass")] == ["canonicalize", "cse"]


def test_the_pass_of_a_reproducer_is_no_adaptor() -> None:
    def frame(index: int, tag: str, name: str) -> protocol.Frame:
        about: dict[str, Any] = {
            "depth": 3 - index,
            "op": None,
            "location": None,
            "function": None,
            "units": [],
        }
        return protocol.Frame(index=index, ordinal=9 - index, tag=tag, name=name, **about)

    frames = [
        frame(0, "apply-pattern", "FoldA"),
        frame(1, "pass-execution", "mlir::detail::OpToOpPassAdaptor"),
        frame(2, "pass-execution", "inline"),
    ]
    assert pass_around(frames).ordinal == 7
    with pytest.raises(UsageError, match="no pass to reproduce"):
        pass_around(frames[:2])
