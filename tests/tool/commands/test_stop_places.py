"""The pass, its run and the file at a stop, as a real tool shows them."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.commands.interpreter.console import Console
from actiondbg.commands.interpreter.interpreter import Interpreter
from actiondbg.commands.shell.topics import COMMANDS
from actiondbg.session.past.past import Past
from tests.conftest import LIBRARY
from tests.fakes import command_line
from tests.fakes import stock_tool as stock
from tests.paths import COMMAND

BUILDS = LIBRARY

SOURCE = """\
func.func @f(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 0 : i32
  %x = arith.addi %a, %c : i32
  %y = arith.muli %x, %b : i32
  %z = arith.muli %x, %b : i32
  %s = arith.subi %y, %z : i32
  return %s : i32
}
"""
CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  memref.store %v, %m[%i] : memref<4xi1>
  return
}
"""
FAILING = """\
func.func @f(%a: i64) -> f64 {
  %x = arith.sitofp %a : i64 to f64
  return %x : f64
}
"""


def typed(argv: list[str], *commands: str) -> str:
    words = [word for command in commands for word in ("-ex", command)]
    options = ["-nx", "--batch", *words]
    argv = [COMMAND, *options, "--", *argv] if argv[0] != "open" else [COMMAND, *argv, *options]
    return subprocess.run(argv, capture_output=True).stdout.decode()


def test_a_stop_names_the_run_of_its_pass_and_no_directory(mlir_opt: str, tmp_path: Path) -> None:
    source = stock.write(str(tmp_path / "deep.mlir"), SOURCE)
    flags = ["--canonicalize", "--cse", "--canonicalize", "-o", str(tmp_path / "out.mlir")]
    (tmp_path / "out.mlir").touch()  # exists, but is no input
    commands = ["break op:arith.*", "run", "continue 3", "delete", "break in:canonicalize#2"]
    commands += ["continue", "delete", "finish"]
    said = typed([mlir_opt, source, *flags], *commands)
    stops = [line for line in said.splitlines() if "topped" in line]
    assert " in @f at deep.mlir:3:8" in stops[0], "one pass has begun"
    assert stops[2].endswith(" in canonicalize#2"), "on the module"
    assert "(canonicalize#2): " in stops[3]
    assert str(tmp_path) not in "\n".join(stops)


def test_only_the_innermost_of_nested_passes_of_one_name_has_the_run_of_the_stop(
    mlir_opt: str, tmp_path: Path
) -> None:
    source = stock.write(str(tmp_path / "deep.mlir"), SOURCE)
    outer = "composite-fixed-point-pass{name=x pipeline="
    flags = [f"--pass-pipeline=builtin.module({outer}{outer}cse}}}})"]
    commands = ["break pass:composite-fixed-point-pass", "run", "continue", "bt", "frame 1"]
    lines = typed([mlir_opt, source, *flags], *commands).splitlines()
    frames = [line.strip() for line in lines if line.strip().startswith("1  #1 ")]
    assert len(frames) == 2 and not [line for line in frames if "pass#2)" in line], lines
    assert any("0  #2 pass-execution (composite-fixed-point-pass#2)" in line for line in lines)


def test_a_recording_names_the_run_of_its_pass(mlir_opt: str, tmp_path: Path) -> None:
    source = stock.write(str(tmp_path / "deep.mlir"), SOURCE)
    file = str(tmp_path / "run.adbrec")
    argv = [mlir_opt, source, "--canonicalize", "--cse", "--canonicalize"]
    command_line.run("record", "-o", file, "--", *argv, check=True)
    commands = ["break in:canonicalize#2", "run", "delete", "goto cse", "next"]
    live, recorded = typed(argv, *commands), typed(["open", file], *commands)
    stops = [line for line in live.splitlines() if "topped" in line]
    assert any("in canonicalize#2" in line for line in stops)
    assert stops == [line for line in recorded.splitlines() if "topped" in line]


@pytest.mark.parametrize(
    ("text", "flags", "marked", "note"),
    [
        (CRASHING, ["--cse", "--finalize-memref-to-llvm"], "finalize-memref-to-llvm", "1 crashed"),
        (FAILING, ["--cse", "--convert-arith-to-spirv"], "convert-arith-to-spirv", "1 failed"),
    ],
)
def test_the_pipeline_marks_the_pass_that_failed_or_crashed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    flags: list[str],
    marked: str,
    note: str,
) -> None:
    monkeypatch.chdir(tmp_path)  # for the reproducer of the crash
    argv = ["mlir-opt", stock.write("in.mlir", text), *flags]
    said = typed(argv, "catch failure", "run", "info pipeline", "continue", "info pipeline")
    lines = [line for line in said.splitlines() if line[2:3] == "!"]
    assert len(lines) == 2, "at the stop and at the end"
    assert all(line.endswith(f"{marked} ({note})") for line in lines)


def test_a_caught_failure_names_explain(mlir_opt: str, tmp_path: Path) -> None:
    argv = [mlir_opt, stock.write(str(tmp_path / "in.mlir"), FAILING), "--convert-arith-to-spirv"]
    said = typed(argv, "catch failure", "run")
    assert "explain: why it failed" in said


def test_a_bare_line_is_a_place_as_for_break(mlir_opt: str, tmp_path: Path) -> None:
    argv = [mlir_opt, stock.write(str(tmp_path / "in.mlir"), SOURCE), "--canonicalize"]
    said = typed(argv, "start", "print 5 --plain", "cursor-goto 6", "source-lines 1", "list 4")
    assert "arith.muli" in said.splitlines()[2]
    assert "5    %z" in said and "->" in said, "source-lines follows the cursor"
    assert said.rstrip().endswith(
        typed(argv, "start", f"list {argv[1]}:4").split("\n", 2)[2].rstrip()
    )


def test_finish_of_an_outermost_action_is_next(mlir_opt: str, tmp_path: Path) -> None:
    argv = [mlir_opt, stock.write(str(tmp_path / "in.mlir"), SOURCE), "--cse", "--canonicalize"]
    finished, after = (typed(argv, "start", *commands) for commands in (("finish",), ("next",)))
    assert "topped after #1 pass-execution (cse)" in finished and finished == after


def test_words_of_gdb(mlir_opt: str) -> None:
    said = typed([mlir_opt], "break pass:cse", "ignore 1 2", "ignore 1 0", "ignore 1 1")
    assert "Will ignore next 2 crossings of breakpoint 1." in said
    assert "Will stop next time breakpoint 1 is reached." in said
    assert "Will ignore next crossing of breakpoint 1." in said


@pytest.mark.parametrize("command", ["bisect", "break", "info breakpoints", "set args", "shell"])
def test_help_is_an_option_of_each_command(mlir_opt: str, command: str) -> None:
    found = typed([mlir_opt], f"help {command}")
    asked = [typed([mlir_opt], f"{command} {option}") for option in ("--help", "-h")]
    assert asked == [found, found] and found


@pytest.mark.parametrize(
    "command", ["track {}", "track-back {}", "related {}", "why-not AddIZero {} --next"]
)
def test_every_question_takes_a_bare_line(mlir_opt: str, tmp_path: Path, command: str) -> None:
    argv = [mlir_opt, stock.write(str(tmp_path / "in.mlir"), SOURCE), "--canonicalize"]
    bare, whole = (typed(argv, "start", command.format(place)) for place in ("4", f"{argv[1]}:4"))
    assert bare == whole != ""


@pytest.mark.parametrize("command", ["track", "track --to cse", "track-back %x", "related"])
def test_a_question_about_a_stop_is_refused_before_a_replay(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A replay of a long run takes long."""

    def recorded(*_: object) -> None:
        pytest.fail("it has begun a replay")

    monkeypatch.setattr(Past, "recorded", recorded)
    source = stock.write(str(tmp_path / "in.mlir"), SOURCE)
    with actiondbg.launch([mlir_opt, source, "--canonicalize"]) as session:
        session.run()
        said = io.StringIO()
        Interpreter(Console(session, session, out=said, err=said), COMMANDS).execute(command)
        assert said.getvalue().startswith("The tool ended with status 0")


@pytest.mark.parametrize("command", ["advance", "until"])
def test_a_place_that_is_not_known_is_reported(mlir_opt: str, tmp_path: Path, command: str) -> None:
    source = stock.write(str(tmp_path / "in.mlir"), SOURCE)
    argv = ["-nx", "--batch", "-ex", "start", "-ex", f"{command} pass:csee"]
    run = command_line.run(*argv, "--", mlir_opt, source, "--cse", check=True)
    assert "No pass 'csee' is known yet; did you mean pass:cse?" in run.stderr
    assert "No action matched pass:csee." in run.stderr


def test_an_advance_to_the_end_is_reported(mlir_opt: str, tmp_path: Path) -> None:
    source = stock.write(str(tmp_path / "in.mlir"), SOURCE)
    argv = ["-nx", "--batch", "-ex", "start", "-ex", "advance pass:cse if depth > 9"]
    run = command_line.run(*argv, "--", mlir_opt, source, "--cse", check=True)
    assert "No action matched pass:cse if depth > 9." in run.stderr
    assert "is known" not in run.stderr


def test_a_recording_refuses_a_place_that_is_not_in_it(mlir_opt: str, tmp_path: Path) -> None:
    source = stock.write(str(tmp_path / "in.mlir"), SOURCE)
    file = str(tmp_path / "run.adbrec")
    argv = ["record", "-o", file, "--", mlir_opt, source, "--cse", "-o", os.devnull]
    command_line.run(*argv, check=True)
    words = ["-nx", "--batch", "-ex", "start", "-ex", "advance pass:csee", "-ex", "info program"]
    run = command_line.run("open", file, *words)
    assert "No pass 'csee' is in the recording; did you mean pass:cse?" in run.stderr
    assert run.returncode == 1


@pytest.mark.parametrize("command", ["break", "tbreak", "break in.mlir:", "break file:in.mlir:"])
def test_a_line_behind_the_end_of_the_input_is_pending(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = [mlir_opt, stock.write("in.mlir", SOURCE), "--cse"]
    place = command if command.endswith(":") else f"{command} "
    said = typed(argv, f"{place}999999", f"{place}8", f"{place}9", f"{place}8-9")
    assert [line.partition(", pending")[2] for line in said.splitlines()] == [
        ": in.mlir has 8 lines",
        "",
        ": in.mlir has 8 lines",
        "",
    ]


def test_the_lines_of_a_large_input_are_counted(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = [mlir_opt, stock.write("in.mlir", SOURCE + "// " + "x" * (5 << 20) + "\n"), "--cse"]
    assert typed(argv, "break 10").strip().endswith("pending: in.mlir has 9 lines")
    assert "pending" not in typed(argv, "break 9")
