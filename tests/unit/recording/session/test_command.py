"""``actiondbg open``: the commands over a recording."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actiondbg.cli import main
from actiondbg.commands.cli.debug import open_ as open_cli
from actiondbg.commands.shell.topics import COMMANDS
from actiondbg.recording import RecordingError
from tests.fakes.recording.recordings import fake_recording, write_recording
from tests.fakes.recording.session import OPERATIONS, actions
from tests.paths import ROOT

TOOL = (
    "needs a running tool, not a recording: start the tool with "
    "`actiondbg mlir-opt in.mlir --canonicalize`."
)
NO_IR = "run.adbrec holds no IR: record it with --ir function."
Open = Callable[..., str]


@pytest.fixture(autouse=True)
def _recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    monkeypatch.setenv("XDG_CACHE_HOME", cache)  # which has the agent, compiled
    monkeypatch.setenv("HOME", str(tmp_path))
    write_recording("run.adbrec", actions(), OPERATIONS, ir="function")


@pytest.fixture
def do(capsys: pytest.CaptureFixture[str]) -> Open:
    """Execute commands; return what they print, errors too."""

    def execute(*lines: str, code: int = 0, file: str = "run.adbrec") -> str:
        words = [word for line in lines for word in ("-ex", line)]
        assert open_cli(["--batch", "-nx", *words, file]) == code
        captured = capsys.readouterr()
        return captured.out + captured.err

    return execute


def _without_ir() -> None:
    plain = actions()
    for each in plain:
        each.ir = ()
    write_recording("run.adbrec", plain, OPERATIONS)


def test_stops_are_shown_as_live_ones(do: Open) -> None:
    assert do("goto #5", "next", "backtrace", "context") == (
        "Stopped before #5 apply-pattern (B) in @f at in.mlir:3:8\n"
        "Stopped after #5 apply-pattern (B) in @f at in.mlir:3:8: succeeded\n"
        "  replaced  @3 arith.addi by @10 arith.muli\n"
        "  erased    @3 arith.addi\n"
        "  inserted  @10 arith.muli\n"
        "The cursor is on @10 arith.muli, which replaced @3.\n"
        "-> 0  #5 apply-pattern (B) in @f at in.mlir:3:8 on @3\n"
        "   1  #2 GreedyPatternRewriteIteration (iteration 1) in @f at in.mlir:1:1 on @1\n"
        "   2  #1 pass-execution (canonicalize) in @f at in.mlir:1:1 on @1\n"
        "0: operation @10, replaced: arith.muli  at in.mlir:3:8\n"
    )


def test_answers_equal_those_of_a_tool(do: Open) -> None:
    told = do("run", "why-not A --all", "history @3", "info cycles", "diff #5")
    assert told == (
        "The tool ended with status 0 after 8 actions.\n"
        "2 attempts of A: 2 failed\n"
        "  #4 @3 arith.addi at in.mlir:3:8 in @f: failed: no constant\n"
        "  #7 @10 arith.muli at in.mlir:3:8 in @f: failed: no constant; again\n"
        "@3 arith.addi\n"
        "  #0  created                     by the parser\n"
        "  #5  replaced by @10 arith.muli  by apply-pattern (B) in canonicalize\n"
        "  It became @10.\n"
        "No cycle was found: the latest actions do not repeat.\n"
        "--- before #5 apply-pattern B\n"
        "+++ after\n"
        "@@ -1,4 +1,4 @@\n"
        " func.func @f() {\n"
        "-  %0 = arith.constant 7 : i32\n"
        "+  %0 = arith.muli %a, %b : i32\n"
        "   return %0 : i32\n"
        " }\n"
    )
    assert re.search(r"2 +0 +2 +0 +0\.001 ms  A\n", do("run", "info patterns A"))
    assert do("goto 5", "info cursor", "info action") == (
        "Stopped before #5 apply-pattern (B) in @f at in.mlir:3:8\n"
        "@f\n"
        "operation @3: arith.addi  at in.mlir:3:8\n"
        "action     #5, before it\n"
        "tag        apply-pattern\n"
        "name       (anonymous namespace)::B\n"
        "labels     one, two\n"
        "iteration  1\n"
        "depth      2\n"
        "operation  @3 arith.addi\n"
        "function   f\n"
        'location   loc("in.mlir":3:8)\n'
        "unit 0: operation @3: arith.addi  at in.mlir:3:8\n"
    )


def test_recorded_run_is_described(do: Open) -> None:
    told = do("info program")
    assert "command    mlir-opt in.mlir --canonicalize\n" in told
    assert "recording  run.adbrec\nactions    8\ndirectory  /somewhere\n" in told
    assert "llvm       22.1.8\n" in told


def test_ir_is_printed(do: Open) -> None:
    assert do("print function") == (
        "func.func @f() {\n  %0 = arith.addi %a, %b : i32\n  return %0 : i32\n}\n"
    )
    assert do("goto 8", "print --skip-regions").endswith("func.func @f() {...}\n")
    assert do("goto 8", "print function > f.mlir") and "muli" in Path("f.mlir").read_text()
    told = do("set print-stop on", "goto 4", code=0)
    assert "does not hold the IR of @3 here" in told


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("skip", f"Skipping actions {TOOL}"),
        ("apply 3", f"Applying actions {TOOL}"),
        ("kill", f"Killing the tool {TOOL}"),
        ("restart 1", f"A checkpoint {TOOL}"),
        ("run in.mlir", f"Passing arguments to 'run' {TOOL}"),
        ("start > out", f"Passing arguments to 'start' {TOOL}"),
        ("count arith.*", f"Counting operations {TOOL}"),
        ("cursor-parent", f"Walking the IR {TOOL}"),
        ("cursor-goto @f", f"Moving the cursor to anything but a value or an id {TOOL}"),
        (
            "cursor-goto %0",
            "run.adbrec does not identify the values in its IR: name the operation of %0 by its "
            "id.",
        ),
        ("load skips x", f"Skipping actions {TOOL}"),
        (
            "set checkpoints off",
            f"The setting 'checkpoints' {TOOL}",
        ),
        (
            "watch attribute value of cursor",
            f"Watching attribute value of cursor {TOOL}",
        ),
    ],
)
def test_commands_that_need_the_tool_are_refused_in_one_sentence(
    do: Open, line: str, why: str
) -> None:
    assert do(line, code=1) == f"{why}\n"


@pytest.mark.parametrize("line", ["print", "print module", "diff #5", "cursor-print"])
def test_missing_ir_names_the_option_that_records_it(do: Open, line: str) -> None:
    _without_ir()
    assert do(line, code=1) == f"{NO_IR}\n"


@pytest.mark.slow
def test_every_command_works_or_is_refused_in_a_sentence(do: Open) -> None:
    """No command of the front end meets something that a recording's session has not."""
    _without_ir()
    skipped = {"quit", "shell", "py", "edit", "alias", "macro", "trust", "source", "commands"}
    for command in COMMANDS:
        for each in [command, *command.subcommands.values()]:
            if each.name in skipped or (each.subcommands and not each.fields):
                continue
            for code in (0, 1):
                try:
                    told = do("goto #4", each.example, code=code)
                except AssertionError:
                    assert code == 0, each.name
                    continue
                assert "Traceback" not in told
                break


def test_help_lists_working_commands(do: Open) -> None:
    _without_ir()
    told = do("help all")
    assert "\n  reverse-step, rs  " in told and "\n  skip  " not in told
    missing = " ".join(told.partition("Not available here: ")[2].split()).partition(". ")[0]
    needed = {"kill", "skip", "apply", "delete checkpoint", "save skips", "print", "cursor-child"}
    assert needed <= set(missing.split(", "))
    assert f"Not available here. Skipping actions {TOOL}" in do("help skip")
    assert f"Not available here. {NO_IR}" in do("help diff")
    write_recording("run.adbrec", actions(), OPERATIONS, ir="function")
    assert "Not available" not in do("help diff")
    assert "\n  diff  " in do("help past")
    assert "Past actions           diff, why-not," in do("help")


def test_settings_are_those_of_the_front_end(do: Open) -> None:
    names = [line.split()[0] for line in do("show").splitlines()]
    assert names == [
        *("style", "print-stop", "context", "context-defs", "pagination", "elide", "confirm"),
    ]
    assert do("show checkpoints", code=1).endswith(f"{TOOL}\n")


def test_scripts_and_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("s.adbg").write_text("break pattern:A\ncommands\n  silent\n  info outcome\nend\nrun\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO("next\ninfo outcome\nskip\nstep\n"))
    assert open_cli(["-nx", "-x", "s.adbg", "--keep-going", "run.adbrec"]) == 1
    captured = capsys.readouterr()
    assert captured.out == (
        "Breakpoint 1: pattern:A\n"
        "Stopped after #4 apply-pattern (A) in @f at in.mlir:3:8: failed\n"
        "  no match: no constant\n"
        "#4 apply-pattern (A): failed\n  no match: no constant\n  0 changes\n"
        "Stopped before #5 apply-pattern (B) in @f at in.mlir:3:8\n"
    )
    assert captured.err.startswith("The action has no outcome yet")
    assert captured.err.endswith(f"<stdin>:3: Skipping actions {TOOL}\n")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ("goto 5 --after", "why-not A", "info changes", "info patterns", "skip")
    words = [word for line in lines for word in ("-ex", line)]
    assert open_cli(["--batch", "--keep-going", "--json", "-nx", *words, "run.adbrec"]) == 1
    results: list[Any] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    stop = results[0]["result"]
    assert (stop["when"], stop["ordinal"], stop["outcome"]["result"]) == ("after", 5, "succeeded")
    assert results[1]["result"]["groups"] == [
        {"result": "failed", "reason": "no constant", "count": 1, "first": 4}
    ]
    assert results[2]["result"]["counts"] == {"erased": 1, "inserted": 1, "replaced": 1}
    assert results[3]["result"]["rows"][0]["name"] == "A"
    assert not results[4]["ok"] and results[4]["error"].endswith(TOOL)


def test_file_that_is_no_recording_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in.mlir").write_text("module {}")
    assert main(["open", "in.mlir"]) == 1
    assert "actiondbg: 'in.mlir' is not a recording" in capsys.readouterr().err
    assert main(["open", "missing.adbrec"]) == 1
    assert "'missing.adbrec' cannot be read" in capsys.readouterr().err
    with pytest.raises(SystemExit) as usage:
        open_cli([])
    assert usage.value.code == 2


def test_a_damaged_recording_is_read_on_demand(do: Open) -> None:
    content = bytearray(fake_recording("run.adbrec", 30_000).read_bytes())
    content[len(content) // 2] ^= 255
    Path("run.adbrec").write_bytes(content)
    with pytest.raises(RecordingError, match="use --partial"):
        do("step")
    assert open_cli(["--partial", "--batch", "-nx", "-ex", "run", "run.adbrec"]) == 0


# --- docs/open.md ----------------------------------------------------------------------


def test_the_page_names_every_command_that_works() -> None:
    page = (ROOT / "docs" / "open.md").read_text()
    table = page.partition("## What works")[2].partition("## What is different")[0]
    named = set(re.findall(r"`([a-z][a-z -]*)", table))
    every = [one for each in COMMANDS for one in (each, *each.subcommands.values())]
    assert named & {each.name for each in every if each.needs_tool} == set()
    assert {"step", "goto", "why-not"} <= named


def test_no_output_replaces_the_recording(do: Open) -> None:
    before = Path("run.adbrec").read_bytes()
    said = do("break pattern:A", "save breakpoints run.adbrec", code=1)
    assert "'run.adbrec' is a recording and is not overwritten: name another file." in said
    assert Path("run.adbrec").read_bytes() == before
