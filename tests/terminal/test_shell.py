"""The shell as a person uses it: the real tool, in a terminal."""

from __future__ import annotations

import os
import re
import signal
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from actiondbg.support.recording_file import MAGIC
from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock
from tests.terminal.terminal import BLOCK, ESCAPE, READY, TAKEN, Terminal

BUILDS = LIBRARY


def test_enter_repeats_steps_and_prefixes_work(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "start")
    assert "Stopped before #1 pass-execution (canonicalize)" in shell.ready()
    assert "Stopped before #2" in shell.do("ste")
    assert "Stopped before #3" in shell.do("")
    assert "ambiguous: it could be cursor-parent" in shell.do("cursor-p")
    assert "Stopped" not in shell.do("")


def test_the_first_failed_stop_names_the_way_to_the_next_success(
    terminal: Callable[..., Terminal],
) -> None:
    shell = terminal("-ex", "break pattern:AddIAddConstant")
    shell.ready()
    hint = "next-success (ns): continue to the next attempt that succeeds"
    shell.do("run")
    seen = list[str]()
    while "failed" in (text := shell.do("next")):
        seen.append(text)
        shell.do("continue")
    assert seen and hint in seen[0] and all(hint not in one for one in seen[1:])
    assert "succeeded" in text and hint not in text
    shell.do("run")
    assert "succeeded" in shell.do("ns")


def test_break_print_skip(terminal: Callable[..., Terminal]) -> None:
    shell = terminal()
    shell.ready()
    assert "Breakpoint 1: pattern:AddIAddConstant if depth > 1" in shell.do(
        "br pattern:AddIAddConstant if depth > 1"
    )
    assert "Breakpoint 1, stopped before" in shell.do("r")
    assert re.search(r"^--> .*arith\.addi", shell.do("p func"), re.MULTILINE)
    assert "Breakpoint 1, stopped before" in shell.do("skip")
    assert not Path("3").exists()


def test_tab_completes(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "start", "-ex", "break AddIAddConstant", "-ex", "c")
    shell.ready()
    shell.child.send("tbr\t")
    shell.see("tbreak")
    shell.child.send("pattern:AddIAddC\t")
    shell.see("onstant")  # only what is new is drawn
    assert "Temporary breakpoint 2: pattern:AddIAddConstant" in shell.do("")
    shell.child.send("print --gen\t")
    shell.see("eric")


def test_interrupt_at_the_prompt_clears_the_line(terminal: Callable[..., Terminal]) -> None:
    shell = terminal()
    shell.ready()
    shell.child.send("bogus")
    shell.see("bogus")
    shell.child.sendintr()
    shell.see(TAKEN)
    assert "no command" not in shell.ready()
    assert "no command" in shell.do("bogus")


def test_interrupt_at_the_prompt_repeats_nothing(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "start")
    shell.ready()
    assert "Stopped before #2" in shell.do("step")
    shell.child.sendintr()
    shell.see(TAKEN)
    assert "Stopped" not in shell.ready()
    assert "Stopped before #3" in shell.do("step")


_SECOND_INTERRUPT = """\
import os, signal, sys
from actiondbg.__main__ import main
from actiondbg.commands.shell.prompt.shell import Shell

written = Shell.poutput

def poutput(self, text, *more, **options):
    os.kill(os.getpid(), signal.SIGINT)  # while the shell handles the first one
    written(self, f"{text} taken", *more, **options)

Shell.poutput = poutput
sys.exit(main())
"""


def test_a_second_interrupt_at_the_prompt_ends_nothing(
    terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    (tmp_path / "second.py").write_text(_SECOND_INTERRUPT)
    shell = terminal("-ex", "start", python=[str(tmp_path / "second.py")])
    shell.ready()
    for _ in range(2):
        shell.child.sendintr()
        shell.see(r"\^C taken")
        shell.ready()
    assert re.search(r"^state +stopped$", shell.do("info program"), re.M)


def test_history_is_of_the_cursor_at_a_stop_and_else_of_lines(
    terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    shell = terminal()
    shell.ready()
    shell.do("break op:test.unlikely")
    assert "break op:test.unlikely" in shell.do("history")
    (tmp_path / "my run.adbrec").write_bytes(MAGIC)
    for option in ("-o ", "-o", "-ao ", "--output-file=", "--output "):
        refused = shell.do(f"history {option}'{tmp_path}/my run.adbrec'")
        assert "is a recording and is not overwritten" in " ".join(refused.split())
    assert (tmp_path / "my run.adbrec").read_bytes() == MAGIC
    shell.do(f"history -o {tmp_path}/lines")
    assert "break op:test.unlikely" in (tmp_path / "lines").read_text()
    shell.do("start")
    assert re.search(
        r"^@\d+ builtin\.module\n +#0 +created +by the parser", shell.do("history"), re.M
    )
    assert "break op:test.unlikely" in shell.do("history 1:")


def test_interrupt_stops_the_running_tool(
    terminal: Callable[..., Terminal], mlir_opt: str, tmp_path: Path
) -> None:
    lines = [f"func.func @f{i}(%a: i32) -> i32 {{ return %a : i32 }}" for i in range(6000)]
    source = tmp_path / "long.mlir"
    source.write_text("\n".join(lines))
    # The tool prints the IR to a file before the first pass, which is how its actions begin.
    passes = ",".join(["cse", *["canonicalize"] * 1000])
    printed = tmp_path / "printed"
    dump = ["--mlir-print-ir-before=cse", f"--mlir-print-ir-tree-dir={printed}"]
    pipeline = f"--pass-pipeline=builtin.module({passes})"
    shell = terminal(tool=[mlir_opt, str(source), pipeline, *dump])
    shell.ready()
    shell.enter("run > /dev/null")
    deadline = time.monotonic() + 60
    while not list(printed.rglob("*.mlir")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    shell.child.sendintr()
    assert "Interrupted, stopped before #" in shell.ready()
    assert "-> 0" in shell.do("bt")


def test_history_survives_a_kill(terminal: Callable[..., Terminal]) -> None:
    shell = terminal()
    shell.ready()
    shell.do("break op:test.unlikely")
    shell.child.kill(signal.SIGKILL)
    shell.child.wait()
    shell = terminal()
    shell.ready()
    shell.child.send("\x1b[A")
    shell.see("op:test.unlikely")
    assert "Breakpoint 1: op:test.unlikely" in shell.do("")
    assert "break op:test.unlikely" in shell.do("history")


def test_colours_only_where_wanted(terminal: Callable[..., Terminal]) -> None:
    coloured = re.compile(r"\x1b\[[0-9;]+marith\.addi")
    for options, more in (([], {}), (["--no-color"], {}), ([], {"NO_COLOR": "1"})):
        shell = terminal(*options, "-ex", "break AddIAddConstant", "-ex", "run", **more)
        shell.ready()
        shell.enter("print --plain")
        shell.child.expect(READY)
        assert bool(coloured.search(shell.child.before or "")) == (not options and not more)


def test_long_text_is_paged(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "start", PAGER="sed s/^/paged:/")
    shell.ready()
    assert "paged:Running:" in shell.do("help all")
    assert "paged:" not in shell.do("help")
    assert "paged:" not in shell.do("info program")


def test_a_long_line_is_paged_by_the_rows_that_it_takes(
    terminal: Callable[..., Terminal], mlir_opt: str, tmp_path: Path
) -> None:
    arguments = ", ".join(f"%argument{number}: i32" for number in range(300))
    source = tmp_path / "wide.mlir"
    source.write_text(f"func.func @f({arguments}) {{ return }}\n")
    tool = [mlir_opt, str(source), "--canonicalize"]
    shell = terminal("-ex", "start", tool=tool, PAGER="sed s/^/paged:/")
    shell.ready()
    assert "paged:" in shell.do("print module")
    assert "paged:" in shell.do("echo " + "word " * 800)
    assert "paged:" not in shell.do("echo " + "word " * 200)


def test_commands_block_alias_and_python(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "break AddIAddConstant")
    shell.ready()
    for line in ("commands", "silent", "echo it was hit"):
        shell.enter(line)
        shell.see(BLOCK)
    shell.do("end")
    printed = shell.do("run")
    assert "it was hit" in printed
    assert "stopped before" not in printed
    shell.do("alias create bo break op:{}")
    assert "Breakpoint 2: op:{}" in shell.do("bo")
    assert re.search(r"^\d+$", shell.do("py print(session.stop.ordinal)"), re.MULTILINE)


@pytest.mark.parametrize("ended", ["\x03", "\x04"])
def test_a_block_can_be_ended_early_and_the_next_is_read(
    terminal: Callable[..., Terminal], ended: str
) -> None:
    shell = terminal("-ex", "break AddIAddConstant")
    shell.ready()
    for line in ("commands", "echo of the first block"):
        shell.enter(line)
        shell.see(BLOCK)
    shell.child.send(ended)
    kept = "Interrupted" not in shell.ready()
    assert kept == (ended == "\x04")
    assert ("of the first block" in shell.do("list")) == kept
    for line in ("commands", "echo of the second block"):
        shell.enter(line)
        shell.see(BLOCK)
    shell.do("end")
    assert "of the second block" in shell.do("run")


def test_aliases_and_macros_are_commands_at_the_prompt(terminal: Callable[..., Terminal]) -> None:
    Path("names.adbg").write_text("alias create bops break op:{}\nbops\n")
    shell = terminal("-ex", "source names.adbg")
    assert "Breakpoint 1: op:{}" in shell.ready()
    shell.do("macro create inside break pattern:{1} and func:{2}")
    assert "Breakpoint 2: pattern:Add* and func:sum" in shell.do("inside Add* sum")
    assert "bops: alias of break op:{}" in shell.do("help bops")
    shell.child.send("bo\t")
    shell.see("ps")  # only what is new is drawn
    assert "Breakpoint 3: op:{}" in shell.do("")
    shell.do("alias delete bops")
    assert "There is no command 'bops'" in shell.do("bops")


def test_a_line_that_wraps_has_no_prompt_in_its_middle(terminal: Callable[..., Terminal]) -> None:
    shell = terminal()
    shell.ready()
    shell.child.send("break " + "x" * 150 + "END")
    shell.see("END")
    drawn = ESCAPE.sub("", shell.child.before or "")
    assert drawn.count("x") == 150
    assert ">" not in drawn


def test_waits_show_seconds_until_they_end(
    terminal: Callable[..., Terminal], mlir_opt: str
) -> None:
    tool = [mlir_opt, stock.write("cycle.mlir", stock.CYCLE), "--transform-interpreter"]
    shell = terminal(tool=tool)
    shell.ready()
    for line in ("run", "info cycles"):
        shell.enter(line)
        shell.see(r"\.\.\. 1 s")
        shell.see(r"\.\.\. 2 s")
        shell.child.sendintr()
        shell.see(r"\x1b\[K")  # the line is erased
        assert "Interrupted" in shell.ready()
    assert "-> 0" in shell.do("backtrace")


def test_tab_completes_functions_files_and_values(terminal: Callable[..., Terminal]) -> None:
    shell = terminal()
    shell.ready()
    shell.child.send("tbreak func:tw\t")
    shell.see("ice")  # before the tool has started
    assert "Temporary breakpoint 1: func:twice" in shell.do("")
    shell.do("run")
    shell.child.send("tbreak folds\t")
    shell.see(r"\.mlir:")
    assert "Temporary breakpoint 2: folds.mlir:9999" in shell.do("9999")
    for typed, rest, more in (("@tw", "ice", ""), ("%c", "", "1")):
        shell.child.send(f"cursor-goto {typed}\t")
        shell.see(rest)
        assert "There is no" not in shell.do(more)


def test_tab_completes_options_of_the_tool(
    terminal: Callable[..., Terminal], tmp_path: Path, mlir_opt: str
) -> None:
    shell = terminal(XDG_CACHE_HOME=str(tmp_path / "cache"))
    shell.ready()
    for command in ("run in.mlir", "start", "set args in.mlir"):
        shell.child.send(f"{command} --canonica\t")
        shell.see("lize")
        shell.child.sendintr()
        shell.ready()
    shell.child.send("set args --pass-pipeli\t")
    shell.see("ne=")
    shell.do("builtin.module(cse)")
    assert shell.do("show args").strip() == "'--pass-pipeline=builtin.module(cse)'"


def test_words_of_gdb_before_commands(terminal: Callable[..., Terminal]) -> None:
    shell = terminal()
    shell.ready()
    shell.do("break pattern:Fold*")
    shell.child.send("commands\r")
    shell.see("Type commands for breakpoint 1, one per line.\r\n")
    shell.see('End with a line saying just "end".\r\n')


def test_messages_are_broken_at_words(terminal: Callable[..., Terminal]) -> None:
    shell = terminal()
    shell.ready()
    rows = shell.do("info").splitlines()
    assert {"checkpoints,", "applicable."} <= {word for row in rows for word in row.split()}
    assert max(map(len, rows)) <= 120


def test_why_not_of_what_never_comes_names_the_way_back(
    terminal: Callable[..., Terminal],
) -> None:
    shell = terminal("-ex", "start", "-ex", "step")
    shell.ready()
    assert "There was none. 'goto #2' goes back." in shell.do("why-not NoSuchPattern")
    assert "Stopped before #2" in shell.do("goto #2")


def test_end_of_input_leaves(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "start")
    shell.ready()
    shell.child.sendeof()
    shell.see(r"Quit anyway\? \(y or n\)")
    shell.child.sendeof()
    shell.child.expect(pexpect.EOF)
    assert shell.child.wait() == 0


def test_quit_asks_while_the_tool_is_alive(terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "start")
    shell.ready()
    for key, answer in (("n\r", r"\(actiondbg\)"), ("\x03", "Interrupted")):
        shell.child.send("quit\r")
        shell.see(r"The tool is alive \(process \d+\), and will be killed\.")
        shell.see(r"Quit anyway\? \(y or n\)")
        shell.child.send(key)
        shell.see(answer)
    assert "stopped" in shell.do("info program")
    shell.child.send("q\r")
    shell.see("y or n")
    shell.child.send("perhaps\r")
    shell.see("Please answer y or n.")
    shell.see("y or n")
    shell.child.send("YES\r")
    shell.child.expect(pexpect.EOF)
    assert shell.child.wait() == 0


def test_nothing_is_asked_without_a_tool_or_with_confirm_off(
    terminal: Callable[..., Terminal],
) -> None:
    for lines in (["run"], ["start", "set confirm off"], []):
        shell = terminal(*(word for line in lines for word in ("-ex", line)))
        shell.ready()
        shell.enter("quit")
        shell.child.expect(pexpect.EOF)
        assert shell.child.wait() == 0
        assert "Quit anyway" not in (shell.child.before or "")


def test_delete_asks_before_all_breakpoints_are_deleted(
    terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    shell = terminal("-ex", "break x", "-ex", "break y")
    shell.ready()
    for line in ("delete", "d all"):
        shell.child.send(f"{line}\r")
        shell.see(r"Delete all breakpoints\? \(y or n\)")
        shell.child.send("n\r")
        shell.see(r"\(actiondbg\)")
    shell.do("delete 1")
    assert "y" in shell.do("list")
    (tmp_path / "script").write_text("break z\ndelete\n")
    shell.do(f"source {tmp_path / 'script'}")
    assert "There are no breakpoints" in shell.do("list")
    assert "y or n" not in shell.do("delete")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_termination_leaves_nothing(number: int, terminal: Callable[..., Terminal]) -> None:
    shell = terminal("-ex", "start")
    plain = termios.tcgetattr(shell.child.child_fd)
    shell.ready()
    tool = int(re.search(r"\d+", shell.do("py print(session.target.hello.pid)").split("\n")[-2])[0])  # type: ignore[index]
    shell.child.kill(number)
    shell.child.expect(pexpect.EOF)
    assert "Traceback" not in (shell.child.before or "")
    assert shell.child.wait() == 128 + number
    assert termios.tcgetattr(shell.child.child_fd) == plain
    with pytest.raises(ProcessLookupError):
        os.kill(tool, 0)


def test_ctrl_c_ends_a_bisection_and_not_the_shell(terminal: Callable[..., Terminal]) -> None:
    Path("judge.sh").write_text("touch judging; sleep 60\n")
    shell = terminal("-ex", "start")
    assert "Stopped before #1" in shell.ready()
    shell.enter("bisect --test 'sh judge.sh' --output here")
    deadline = time.monotonic() + 20
    while not Path("judging").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    shell.child.sendintr()
    assert "Interrupted before the first verdict." in shell.ready()
    assert not Path("here").exists()
    assert "Stopped before #2" in shell.do("step")


# --- names in breakpoints -----------------------------------------------------------------


def test_a_name_says_what_it_means_and_when_it_was_never_hit(
    terminal: Callable[..., Terminal],
) -> None:
    shell = terminal()
    shell.ready()
    assert "Breakpoint 1: func:twice" in shell.do("break twice")
    assert "Breakpoint 2: folds.mlir:14" in shell.do("break 14")
    pending = shell.do("break smu")
    words = " ".join(pending.split())
    assert "pending: nothing named 'smu' is known yet; did you mean func:sum?" in words
    refused = shell.do("break arith.addi and canonicalize")
    assert "write in:canonicalize" in refused
    assert "in @twice at folds.mlir:1" in shell.do("run")
    shell.do("delete 1-2")
    said = "Never hit: breakpoint 3 (smu): no action matched its SPEC."
    assert said in shell.do("continue")
