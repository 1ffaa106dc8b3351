"""Command lines through the real parser, over a fake session."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path
from typing import Any

import pytest

from actiondbg.commands.interpreter.interpreter import Lines
from actiondbg.commands.render.ir import IRWriter
from actiondbg.commands.shell.topics import COMMANDS
from actiondbg.errors import UsageError
from tests.elements import some
from tests.fakes.session.driver import Driver
from tests.fakes.session.session import MODULE, FakeSession
from tests.paths import ROOT

DOCS = ROOT / "docs" / "commands.md"


@pytest.fixture
def driver() -> Driver:
    return Driver()


@pytest.fixture
def stopped() -> Driver:
    driver = Driver()
    driver.do("start")
    driver.session.calls.clear()
    return driver


# --- names -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("b", "break"),
        ("br", "break"),
        ("c", "continue"),
        ("cont", "continue"),
        ("s", "step"),
        ("n", "next"),
        ("fin", "finish"),
        ("bt", "backtrace"),
        ("i", "info"),
        ("p", "print"),
        ("r", "run"),
        ("u", "until"),
        ("cursor-pa", "cursor-parent"),
        ("tb", "tbreak"),
        ("nex", "next"),
        ("nc", "next-change"),
        ("dis", "disable"),
        ("disp", "display"),
        ("wa", "watch"),
        ("hist", "history"),
    ],
)
def test_alias_or_unique_prefix(word: str, name: str) -> None:
    assert COMMANDS.find(word).name == name


def test_ambiguous_prefix_lists_the_candidates() -> None:
    with pytest.raises(UsageError, match=r"'cursor-p' is ambiguous: .*cursor-parent, cursor-prev"):
        COMMANDS.find("cursor-p")


def test_unknown_command_suggests() -> None:
    with pytest.raises(UsageError, match="no command 'braek': did you mean 'break'"):
        COMMANDS.find("braek")


def test_a_subcommand_of_the_command_line_is_no_slip() -> None:
    with pytest.raises(UsageError, match=r"'stat' is not a command of the shell.* 'actiondbg stat"):
        COMMANDS.find("stat")


def test_commands_of_the_issue_exist() -> None:
    names = """
    run start restart kill continue step next finish skip apply until advance break
    tbreak break-on-tag break-on-file condition ignore commands enable disable delete list info
    save backtrace up down frame context cursor-select-from-context cursor-print cursor-parent
    cursor-child cursor-previous cursor-next cursor-function cursor-module cursor-defs
    cursor-users cursor-goto print set show source shell py help
    diff why-not next-change watch history catch display undisplay count cursor-select-id
    """
    assert set(names.split()) <= set(COMMANDS.names)


# --- arguments ---------------------------------------------------------------


CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("step", ("step", 1)),
    ("s 3", ("step", 3)),
    ("until op:arith.* if depth > 3", ("until", "op:arith.*", "depth > 3", False, None)),
    ("until --after func:main", ("until", "func:main", None, True, None)),
    ("advance pass:cse if depth > 3", ("advance", "pass:cse", "depth > 3", False, None)),
    ("advance --outcome changed pass:cse", ("advance", "pass:cse", None, False, "changed")),
    ("continue", ("continue", 1)),
    ("c 2", ("continue", 2)),
    ("next", ("next", 1)),
    ("n 2", ("next", 2)),
    ("finish", ("finish", 1)),
    ("fin 2", ("finish", 2)),
    ("skip", ("skip", 1)),
    ("skip 2", ("skip", 2)),
    ("apply", ("apply", 1)),
    ("apply 2", ("apply", 2)),
    ("start", ("start", None, {})),
    ("restart", ("restart",)),
    ("kill", ("kill",)),
    ("reverse-continue 2", ("reverse_continue", 2)),
    ("cursor-select-from-context 1", ("context", {"index": 1})),
    ("cursor-print", ("print", "cursor", {})),
    ("cursor-parent", ("parent", {})),
    ("cursor-next 2", ("next", {"count": 2})),
    ("cursor-function", ("function", {})),
    ("cursor-module", ("module", {})),
    ("cursor-child 2", ("child", {"index": 2})),
    ("cursor-prev 2", ("previous", {"count": 2})),
    ("cursor-goto %0", ("value", {"name": "%0"})),
    ("cursor-goto @main", ("symbol", {"name": "main"})),
    ("cursor-goto a/in.mlir:3", ("location", {"path": "a/in.mlir", "line": 3})),
    ("cursor-goto in.mlir:3:4", ("location", {"path": "in.mlir", "line": 3, "column": 4})),
    ("cursor-goto @12", ("id", {"index": 12})),
    ('cursor-goto @"12"', ("symbol", {"name": "12"})),
    ("cursor-select-id @12", ("id", {"index": 12})),
    ("cursor-select-id 12", ("id", {"index": 12})),
    ("nc 2", ("next_change", 2)),
    ("ns", ("next_success", None, None)),
    ("ns pattern:A if line == 3", ("next_success", "pattern:A", "line == 3")),
    ("cursor-defs", ("defs",)),
    ("cursor-defs 1", ("def", {"index": 1})),
    ("cursor-users", ("users",)),
    ("cursor-users 1", ("user", {"index": 1})),
    ("list", ("hits",)),
    ("print mod --generic --elide 4", ("print", "module", {"generic": True, "elide": 4})),
    ("run", ("run", None, {})),
    ("run 'a b' --x=y", ("run", ["a b", "--x=y"], {})),
    ("run > o < i 2> e", ("run", None, {"stdout": "o", "stdin": "i", "stderr": "e"})),
]


@pytest.mark.parametrize(("line", "call"), CALLS)
def test_calls_of_the_session(stopped: Driver, line: str, call: tuple[Any, ...]) -> None:
    stopped.do(line)
    assert stopped.session.calls[0] == call


def test_operators_in_a_condition_write_no_file(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    driver.do("break x if depth > 3", "condition 1 depth > 4", "tbreak y --after if hits > 2")
    assert list(tmp_path.iterdir()) == []
    assert driver.session.breakpoints.all()[0].condition == "depth > 4"


@pytest.mark.parametrize("line", ["break --after x if depth > 1", "break x if depth > 1 --after"])
def test_option_of_raw_text_at_either_end(driver: Driver, line: str) -> None:
    driver.do(line)
    added = driver.session.breakpoints.all()[0]
    assert (added.spec, added.condition, added.after) == ("x", "depth > 1", True)


@pytest.mark.parametrize(
    ("line", "spec"),
    [
        ("break-on-tag fold", "tag:fold"),
        ("break-on-file in.mlir", 'file:"in.mlir"'),
        ("break-on-file in.mlir:3:4", 'file:"in.mlir":3:4'),
    ],
)
def test_breakpoints_by_the_names_of_the_rfc(driver: Driver, line: str, spec: str) -> None:
    driver.do(line)
    assert driver.session.breakpoints.all()[0].spec == spec


def test_breakpoints_are_disabled_and_enabled_by_their_ids(driver: Driver) -> None:
    driver.do("break a", "break b", "break c")

    def enabled() -> list[int]:
        return [one.id for one in driver.session.breakpoints.all() if one.enabled]

    driver.do("disable 1 3")
    assert enabled() == [2]
    driver.do("enable 3")
    assert enabled() == [2, 3]
    driver.do("enable")
    assert enabled() == [1, 2, 3]


def test_list_shows_every_breakpoint(stopped: Driver) -> None:
    stopped.do("delete", "break pattern:a", "break op:b")
    listed = stopped.do("list")
    assert "pattern:a" in listed
    assert "op:b" in listed


def test_backtrace_shows_so_many_frames_and_marks_the_selected_one(stopped: Driver) -> None:
    def frames(line: str) -> list[tuple[str, str]]:
        return re.findall(r"^(->|  ) (\d)", stopped.do(line), re.MULTILINE)

    assert frames("backtrace") == [("->", "0"), ("  ", "1"), ("  ", "2")]
    assert frames("backtrace 2") == [("->", "0"), ("  ", "1")]
    stopped.do("up 2")
    assert frames("bt") == [("  ", "0"), ("  ", "1"), ("->", "2")]


def test_ids(driver: Driver) -> None:
    driver.do(*["break x"] * 6, "disable 2-3 5")
    assert [b.id for b in driver.session.breakpoints.all() if not b.enabled] == [2, 3, 5]
    driver.do("delete 5 1-2")
    assert [b.id for b in driver.session.breakpoints.all()] == [3, 4, 6]
    driver.do("delete all")
    assert driver.session.breakpoints.all() == []


def test_newest_breakpoint(driver: Driver) -> None:
    driver.do("break x", "break y", "ignore $_ 3", "commands $_", "echo", "end", "disable $_")
    first, newest = driver.session.breakpoints.all()
    assert (newest.ignore, newest.commands, newest.enabled) == (3, ["echo"], False)
    assert (first.ignore, first.commands, first.enabled) == (0, [], True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("step x", "'x' is not a positive integer"),
        ("step 0", "'0' is not a positive integer"),
        ("step 1 2", "unrecognized arguments: 2"),
        ("print --bogus", "--bogus"),
        ("print nothing", "There is no IR 'nothing' to print: give cursor, action, function"),
        ("break", "usage: break [--after] [--outcome OUTCOME,...] SPEC [if EXPR]"),
        ("break --outcome", "'--outcome' is not an option, or its value is missing"),
        ("info", "info: the subcommand is missing: give one of action, frame, breakpoints"),
        ("info pa", "'pa' is ambiguous: it could be patterns, passes"),
        ("cursor-select-id x", "'x' is not an operation id, such as @12"),
        ("set verify-each-action maybe", "give on or off"),
        ("delete x", "'x' is not a breakpoint number"),
        ("delete 7", "There is no breakpoint 7"),
        ("cursor-goto nowhere", "There is no place 'nowhere'"),
        ("info nothing", "there is no subcommand 'nothing'"),
        ("set nothing on", "There is no setting 'nothing'"),
        ("set print-stop maybe", "give on or off"),
        ("set style nothing", "There is no style 'nothing'"),
        ("commands", "There is no breakpoint"),
        ("set args in.mlir > out", "A redirection applies to one run: give it to 'run'"),
        ("backtrace >", "Name one file after '>'"),
        ("backtrace 'x", "A quote is not closed"),
        ("run >", "Name a file after '>'"),
        ("run | cat", "'|' is not supported for the tool"),
        ("source nothing.adbg", "'nothing.adbg' cannot be used (No such file"),
        ("py 1/0", "ZeroDivisionError"),
        ("shell exit 3", "status 3"),
        ("down", "The innermost action is selected"),
        ("frame 9", "There is no frame 9: the outermost frame is 2"),
        ("edit x", "'edit' works only at the interactive prompt"),
        ("alias x = run", "there is no subcommand 'x'"),
        ("alias create break run", "'break' is a command: choose another name"),
        ("alias create x", "the command line of 'x' is missing"),
        ("alias create x nothing", "There is no command 'nothing'"),
        ("alias delete nothing", "There is no alias 'nothing'"),
        ("macro create x break {2}", "The places of a macro are numbered {1}, {2}"),
    ],
)
def test_errors_are_one_message(stopped: Driver, line: str, message: str) -> None:
    printed = stopped.do(line)
    assert message in printed
    assert "Traceback" not in printed
    assert stopped.interpreter.failure is not None


def test_error_of_commands_that_need_a_stop(driver: Driver) -> None:
    for line in ("step", "continue", "print", "context", "backtrace", "info action", "cursor-next"):
        assert "start it with 'start' or 'run'" in driver.do(line)


# --- text --------------------------------------------------------------------


def test_stop_is_two_lines(driver: Driver) -> None:
    driver.do("break x")
    assert driver.do("run").splitlines()[:2] == [
        "Breakpoint 1, stopped before #1 apply-pattern (Fold) in @main at in.mlir:3:10",
        "  %0 = arith.addi %arg0, %arg0 : i32",
    ]
    assert driver.do("set print-stop off", "step").splitlines() == [
        "Stopped before #2 apply-pattern (Fold) in @main at in.mlir:3:10",
    ]


def test_threading_is_reported_once(driver: Driver) -> None:
    assert "Threading of the tool is switched off" in driver.do("run")
    assert "Threading" not in driver.do("run")


def test_exit_prints_the_status(driver: Driver) -> None:
    assert "The tool exited with status 0." in driver.do("run")


def test_print_marks_the_cursor_for_people_only(stopped: Driver, tmp_path: Path) -> None:
    lines = stopped.do("print module").splitlines()
    assert lines[2] == "-->     %0 = arith.addi %arg0, %arg0 : i32"
    assert [line[4:] for line in lines] == MODULE.splitlines()
    assert stopped.do("print module --plain") == MODULE
    file = tmp_path / "with blank.mlir"
    stopped.do(f"print module > '{file}'")
    assert file.read_text() == MODULE
    stopped.do(f"print module >> '{file}'")
    assert file.read_text() == MODULE * 2
    stopped.do(f"print module | cat > '{file}'")
    assert file.read_text().splitlines() == lines, "a pipe keeps the arrow"
    assert all(printed.closed for printed in some(stopped.session.printed))


def test_generic_form_is_explained_unless_requested(stopped: Driver) -> None:
    stopped.session.invalid = True
    assert "printed in generic form" in stopped.do("print function")
    assert "generic" not in stopped.do("print function --generic")


def test_pipe_that_ends_early_is_no_error(stopped: Driver) -> None:
    stopped.session.module_text = MODULE * 10_000
    assert stopped.do("print module | true") == ""
    assert stopped.interpreter.failure is None


def test_ir_writer_joins_chunks_of_lines(driver: Driver) -> None:
    out = io.StringIO()
    writer = IRWriter(out, (2, 3), driver.console.ir_view)
    long_line = "x" * 3_000_000  # more than the writer buffers
    for piece in ("a\nb", "\nc\n", long_line, "\nd"):
        writer.write(piece)
    writer.finish()
    assert out.getvalue() == f"    a\n--> b\n  | c\n    {long_line}\n    d\n"


# --- scripts -----------------------------------------------------------------


def test_script_stops_at_its_first_failure_and_names_the_line(
    driver: Driver, tmp_path: Path
) -> None:
    script = tmp_path / "s.adbg"
    script.write_text("# a comment\n\necho one\nbogus\necho two\n")
    printed = driver.do(f"source {script}", "echo three")
    assert printed == f"one\n{script}:4: There is no command 'bogus': 'help' lists the commands.\n"


def test_keep_going(driver: Driver, tmp_path: Path) -> None:
    driver.interpreter.keep_going = True
    assert "two" in driver.do("bogus", "echo two")
    assert isinstance(driver.interpreter.failure, UsageError)


def test_recursive_script_is_refused(driver: Driver, tmp_path: Path) -> None:
    script = tmp_path / "s.adbg"
    script.write_text(f"source {script}\n")
    assert "does a script source itself?" in driver.do(f"source {script}")


def test_breakpoint_commands_run_at_a_stop(driver: Driver) -> None:
    printed = driver.do("break x", "commands", "  echo hit", "step", "echo never", "end", "run")
    assert "Breakpoint 1, stopped" in printed
    assert "hit\nStopped before #2" in printed
    assert "never" not in printed


def test_silent_keeps_the_stop_from_being_printed(driver: Driver) -> None:
    printed = driver.do("break x", "commands 1", "silent", "echo hit", "end", "run")
    assert "hit\n" in printed
    assert "stopped before" not in printed


def test_commands_that_continue_do_not_recurse(driver: Driver) -> None:
    driver.session = FakeSession(actions=3_000)
    session: Any = driver.session
    driver.console.session = driver.console._live = session
    printed = driver.do("break x", "commands", "silent", "continue", "end", "run", "info program")
    assert "exited with status 0" in printed
    assert driver.interpreter.failure is None


def test_python_sees_the_session(stopped: Driver) -> None:
    assert stopped.do("py print(session.stop.ordinal)") == "1\n"
    assert stopped.do("py", "for i in range(2):", "    print(i)", "end") == "0\n1\n"


def test_block_without_end(driver: Driver) -> None:
    assert "write 'end' after its last line" in driver.do("break x", "commands", "echo")


def test_enter_repeats_stepping_only(stopped: Driver) -> None:
    stopped.do("step 2")
    assert stopped.interpreter.repeat == "step 2"
    stopped.do("print")
    assert stopped.interpreter.repeat == ""


# --- interrupts --------------------------------------------------------------


def test_interrupt_stops_the_tool() -> None:
    driver = Driver(interactive=True)
    driver.do("break x")
    driver.session.interrupts = 1
    assert "Interrupted, stopped before #1" in driver.do("run")
    assert ("interrupt",) in driver.session.calls


def test_second_interrupt_stops_it_inside_the_action() -> None:
    driver = Driver(interactive=True)
    driver.do("break x")
    driver.session.interrupts = 2
    assert "Interrupted, stopped" in driver.do("run")
    assert driver.session.calls.count(("interrupt",)) == 2


def test_third_interrupt_kills_the_tool() -> None:
    driver = Driver(interactive=True)
    driver.session.interrupts = 3
    assert "was killed" in driver.do("run")
    assert driver.session.calls[-1] == ("kill",)


def test_late_stop_brings_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(interactive=True)
    driver.do("break x")
    driver.session.interrupts = 1
    monkeypatch.setattr("actiondbg.commands.interpreter.console._LATE_SECONDS", 0.01)
    wait = driver.session.wait
    monkeypatch.setattr(driver.session, "wait", lambda: time.sleep(0.5) or wait())
    printed = driver.do("run")
    assert "press Ctrl-C again to stop it where it is" in printed
    assert "to kill it" not in printed


def test_interrupt_of_a_batch_ends_it(driver: Driver) -> None:
    driver.session.interrupts = 1
    with pytest.raises(KeyboardInterrupt):
        driver.do("run")


def test_arguments_are_set_for_the_next_run(stopped: Driver) -> None:
    assert stopped.do("set args 'in file.mlir' --cse", "show args") == "'in file.mlir' --cse\n"
    assert stopped.session.target.argv[1:] == ["in file.mlir", "--cse"]
    assert stopped.do("set args", "show args") == "There are no arguments.\n"


def test_commands_of_several_breakpoints(stopped: Driver) -> None:
    stopped.do("break x", "break y", "break z")
    stopped.interpreter.run(Lines(["commands 1 3", "backtrace", "end"]))
    commands = [one.commands for one in stopped.session.breakpoints.all()]
    assert commands == [["backtrace"], [], ["backtrace"]]


def test_the_frame_is_shown_as_the_action(stopped: Driver) -> None:
    assert stopped.do("info frame") == stopped.do("info action") != ""
