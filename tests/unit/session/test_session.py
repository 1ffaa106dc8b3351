"""Session against a fake agent: runs, breakpoints, looking, streams."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import actiondbg
from actiondbg.errors import ControlRefused, FileNotWritten, LaunchError, NotStopped, UsageError
from actiondbg.support.recording_file import MAGIC

if TYPE_CHECKING:
    from tests.fakes.agent.fixtures import Launch


# --- runs and controls --------------------------------------------------------


def test_nothing_runs_before_a_control(fake: Launch, base: Path) -> None:
    session = fake()
    assert (session.state, session.stop, session.exit_status) == ("not-running", None, None)
    with pytest.raises(NotStopped, match="start it with run or start"):
        session.step()
    assert list(base.glob("actiondbg-*")) == []


def test_run_without_breakpoints_reaches_the_end(fake: Launch) -> None:
    session = fake("--exit", "3", "--print", "words")
    stop = session.run()
    assert stop.message == "The tool ended with status 3 after 5 actions."
    assert (stop.when, stop.reason, stop.status, stop.actions) == ("exit", "exited", 3, 5)
    assert (session.state, session.exit_status) == ("exited", 3)
    assert session.target.output() == "words"
    assert session.target.errors() == "the fake's last words\n"
    with pytest.raises(NotStopped, match="status 3 after 5 actions; run starts it again"):
        session.stack.context()


def test_start_stops_before_the_first_action_and_step_continues(fake: Launch) -> None:
    session = fake()
    stop = session.start()
    assert stop.as_json() == {
        "when": "before",
        "reason": "start",
        "ordinal": 1,
        "tag": "pass-execution",
        "name": "canonicalize",
        "op": "arith.addi",
        "location": "in.mlir:3:5",
        "function": "f",
        "context": None,
        "mlir": None,
        "thread": None,
        "process": None,
        "depth": 0,
        "breakpoints": [],
        "event": 1,
        "id": 12,
        "cursor": {"kind": "operation", "id": 12, "op": "arith.addi", "by": "action"},
        "outcome": None,
        "changes": [],
        "message": None,
        "culprit": None,
    }
    assert session.target.hello is not None
    places = [(stop.when, stop.ordinal) for stop in (session.step() for _ in range(3))]
    assert places == [("before", 2), ("after", 2), ("before", 3)]
    stop = session.step(2)
    assert (stop.when, stop.ordinal) == ("after", 1)


def test_stop_at_exit_has_the_same_keys(fake: Launch) -> None:
    session = fake()
    keys = set(session.start().as_json())
    end = session.continue_().as_json()
    assert keys - set(end) == {"id", "cursor", "outcome", "changes", "culprit"}
    assert set(end) - keys == {"status", "actions", "never_hit"}
    assert end["status"] == 0 and end["ordinal"] is None and end["tag"] is None


def test_a_refused_control_leaves_the_stop_as_it_was(fake: Launch) -> None:
    session = fake()
    stop = session.start()
    with pytest.raises(ControlRefused, match=r"^There is no action around this one\.$"):
        session.finish()
    assert (session.state, session.stop) == ("stopped", stop)
    assert session.step().ordinal == 2


@pytest.mark.parametrize("count", [0, -1])
def test_a_count_below_one_is_refused(fake: Launch, count: int) -> None:
    session = fake()
    session.start()
    with pytest.raises(UsageError, match=f"The count must be at least 1, got {count}"):
        session.step(count)


def test_restart_repeats_the_control_with_breakpoints(fake: Launch) -> None:
    session = fake()
    session.start()
    session.breakpoints.add("pattern:FoldB")
    assert session.continue_().ordinal == 3
    assert session.restart().reason == "start"
    assert session.breakpoints.all()[0].hits == 0
    assert session.continue_().breakpoints == [1]


def test_run_takes_new_arguments_and_keeps_them(fake: Launch) -> None:
    session = fake("--exit", "3")
    assert session.run(["--exit", "4"]).status == 4
    assert session.run().status == 4


def test_kill_and_close_can_be_repeated(fake: Launch) -> None:
    session = fake()
    session.start()
    session.kill()
    assert (session.state, session.stop) == ("not-running", None)
    session.kill()
    session.close()
    session.close()
    with pytest.raises(UsageError, match="closed"):
        session.run()


def test_bad_command_lines(base: Path) -> None:
    with pytest.raises(UsageError, match="empty"):
        actiondbg.launch([])
    with pytest.raises(LaunchError, match="no-such-tool"):
        actiondbg.launch(["no-such-tool"]).run()
    assert list(base.glob("actiondbg-*")) == []


# --- breakpoints --------------------------------------------------------------


def test_breakpoints_count_ignore_and_are_deleted(fake: Launch) -> None:
    session = fake()
    first = session.breakpoints.add("pattern:FoldA")
    second = session.breakpoints.add("#4", temporary=True)
    session.breakpoints.set_ignore(first.id, 1)
    stop = session.run()
    assert (stop.ordinal, stop.breakpoints) == (4, [second.id])
    assert [(one.id, one.hits, one.ignore) for one in session.breakpoints.all()] == [(1, 1, 0)]
    # The change is sent with what is left to ignore, which is nothing.
    third = session.breakpoints.add("#5", after=True)
    assert third.id == 3
    assert session.continue_().breakpoints == [first.id]
    assert session.continue_().when == "after"
    session.continue_()
    assert session.state == "exited"
    assert [one.hits for one in session.breakpoints.all()] == [2, 1]


def test_enable_disable_delete_condition_commands(fake: Launch) -> None:
    session = fake()
    session.breakpoints.add("#2")
    session.breakpoints.add("#3", "depth > 0")
    session.breakpoints.disable([1])
    assert session.run().ordinal == 3
    session.kill()
    session.breakpoints.enable([1])
    session.breakpoints.set_commands(1, ["context"])
    with pytest.raises(UsageError, match="deep"):
        session.breakpoints.set_condition(2, "deep > 0")
    assert session.breakpoints.get(2).condition == "depth > 0"
    session.breakpoints.set_condition(2, None)
    with pytest.raises(UsageError, match="There is no breakpoint 7: the breakpoints are 1 and 2"):
        session.breakpoints.delete([1, 7])
    session.breakpoints.delete([2])
    assert [(one.id, one.commands) for one in session.breakpoints.all()] == [(1, ["context"])]
    assert session.run().ordinal == 2


def test_a_breakpoint_that_the_agent_refuses_is_not_kept(fake: Launch) -> None:
    session = fake("--refuse", "breakpoints/set")
    with pytest.raises(ControlRefused):
        session.start()
    assert session.state == "exited"
    session.kill()
    assert session.breakpoints.all() == []


def test_until_and_advance_check_before_resuming(fake: Launch) -> None:
    session = fake()
    session.start()
    with pytest.raises(UsageError):
        session.until("patern:x")
    with pytest.raises(UsageError):
        session.advance("pattern:x", "dept > 1")
    assert session.state == "stopped"


def test_saved_breakpoints(fake: Launch, tmp_path: Path) -> None:
    session = fake()
    session.breakpoints.add("pattern:A and op:arith.*", "depth > 1", after=True)
    session.breakpoints.add("#3", temporary=True)
    session.breakpoints.add("op:arith.*", "depth > 1", outcome="failed,reason:*no use*")
    session.breakpoints.add("#4", temporary=True, outcome="changed")
    session.breakpoints.watch("@12", exact=True, condition="depth > 0")
    session.breakpoints.watch('attribute "a b" of @12')
    session.breakpoints.watch("op:arith.* count")
    session.breakpoints.catch("diagnostic", "*is unknown*")
    session.breakpoints.set_ignore(1, 4)
    session.breakpoints.disable([2])
    session.breakpoints.set_commands(2, ["context", "continue"])
    session.breakpoints.save(tmp_path / "saved")
    assert (tmp_path / "saved").read_text() == (
        "break --after pattern:A and op:arith.* if depth > 1\n"
        "ignore $_ 4\n"
        "tbreak #3\n"
        "disable $_\n"
        "commands $_\n"
        "  context\n"
        "  continue\n"
        "end\n"
        "break --outcome 'failed,reason:*no use*' op:arith.* if depth > 1\n"
        "tbreak --outcome changed #4\n"
        "watch --exact @12 if depth > 0\n"
        'watch attribute "a b" of @12\n'
        "watch op:arith.* count\n"
        "catch diagnostic *is unknown*\n"
    )
    with pytest.raises(FileNotWritten, match="nowhere"):
        session.breakpoints.save(tmp_path / "nowhere" / "saved")


# --- looking ------------------------------------------------------------------


def test_print_is_read_lazily_and_removed(fake: Launch, base: Path) -> None:
    session = fake()
    session.start()
    with session.ir.print("module", mark=True) as printed:
        (file,) = base.glob("actiondbg-*/print-*")
        assert printed.bytes == len(printed.text.encode())
        assert printed.mark == (2, 2)
        text, binary = io.StringIO(), io.BytesIO()
        printed.copy_to(text)
        printed.copy_to(binary)
        assert text.getvalue() == printed.text == binary.getvalue().decode()
    assert not file.exists()
    session.ir.print()  # forgotten
    assert list(base.glob("actiondbg-*/print-*")) == []


def test_module_and_cursor_op_are_of_one_copy(fake: Launch) -> None:
    pytest.importorskip("mlir.ir")
    session = fake()
    session.start()
    module, op = session.ir.module(), session.ir.cursor_op()
    assert [one.operation.name for one in module.body.operations] == ["foo.bar", "foo.é"]
    assert op.operation == module.body.operations[1].operation
    del module
    session.step()
    assert session.ir.module() is not None
    assert op.operation.name == "foo.é", "an operation keeps its module"


def test_frame_index_is_reset_by_a_stop(fake: Launch) -> None:
    session = fake()
    session.start()
    assert session.stack.select(1).index == session.stack.selected == 1
    session.step()
    assert session.stack.selected == 0


def test_names_are_kept_for_later_sessions(fake: Launch, base: Path) -> None:
    session = fake()
    assert session.names.get("pattern") == []
    session.start()
    session.close()
    assert fake().names.get("pattern") == ["pattern-name"]
    (cache,) = (base / "cache/actiondbg").iterdir()
    cache.write_text("{ damaged")
    assert fake().names.get("pattern") == []


# --- streams ------------------------------------------------------------------


def test_streams_can_be_sent_elsewhere(fake: Launch, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("from the file")
    session = fake("--read-stdin", stdin=tmp_path / "in", stdout=tmp_path / "out")
    session.run()
    assert (tmp_path / "out").read_text() == "from the file"
    with pytest.raises(UsageError, match="stdout is redirected"):
        session.target.output()
    session.run(stdout=str(tmp_path / "other"))
    assert (tmp_path / "other").read_text() == "from the file"
    with (tmp_path / "third").open("wb") as file:
        session.run(stdout=file)
    assert (tmp_path / "third").read_text() == "from the file"
    with pytest.raises(LaunchError, match=r"nowhere/out.*cannot be written"):
        session.run(stdout=str(tmp_path / "nowhere/out"))


def test_a_recording_as_the_output_is_refused_before_the_run_is_ended(
    fake: Launch, tmp_path: Path
) -> None:
    (tmp_path / "run.adbrec").write_bytes(MAGIC)
    session = fake("--print", "words")
    stop = session.start()
    with pytest.raises(UsageError, match="is a recording and is not overwritten"):
        session.run(["--read-stdin"], stdout=tmp_path / "run.adbrec")
    assert session.stop == stop and session.state == "stopped"
    assert session.target.argv[1:] == ["--print", "words"]
    assert session.run().status == 0


def test_inherited_streams_are_ours(fake: Launch, capfd: pytest.CaptureFixture[str]) -> None:
    fake("--print", "words", stdout="inherit").run()
    assert capfd.readouterr().out == "words"


def test_the_environment_is_the_users_but_for_the_agent(fake: Launch) -> None:
    session = fake("--show-environment", env={**os.environ, "LD_PRELOAD": ""})
    session.run()
    assert session.target.output() == "none"
    libc = session.target.tool.libmlir
    session = fake("--show-environment", env={**os.environ, "LD_PRELOAD": str(libc)})
    session.run()
    assert session.target.output() == str(libc)
