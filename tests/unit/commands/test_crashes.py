"""Crashes, displays, ids and completion, over a fake session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from actiondbg.commands.interpreter.interpreter import candidates
from actiondbg.commands.shell.topics import COMMANDS
from actiondbg.errors import FileNotWritten
from tests.elements import some
from tests.fakes.session.driver import Driver

HEAD = "Stopped after #2 apply-pattern (Fold) in @main at in.mlir:3:10: "
IR = "  %0 = arith.addi %arg0, %arg0 : i32"
CRASH = {
    "when": "during",
    "reason": "catch",
    "breakpoints": [1],
    "message": "SIGABRT: mlir-opt: /src/Fold.cpp:12: void A<int, B>::fold(int) const: "
    "Assertion `a.b(1) == 2' failed.",
}


@pytest.fixture
def driver() -> Driver:
    return Driver()


@pytest.fixture
def stopped() -> Driver:
    driver = Driver()
    driver.do("start")
    driver.session.calls.clear()
    return driver


# --- crashes -------------------------------------------------------------------------


@pytest.fixture
def crashing(driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    monkeypatch.chdir(tmp_path)
    driver.do("start", "catch crash")
    driver.session.next_stop = dict(CRASH)
    return driver


def test_crash_leaves_a_reproducer(crashing: Driver, tmp_path: Path) -> None:
    path = "actiondbg-reproducers/cse.mlir"
    run = f"  mlir-opt {tmp_path / path} --run-reproducer"
    assert crashing.do("continue").splitlines()[-2:] == [
        f"A reproducer was written to {path}. To run it:",
        run,
    ]
    assert Path(path).read_text() == "module {}\n"
    crashing.session.next_stop = dict(CRASH)
    assert crashing.do("continue").splitlines()[-2:] == [
        f"The reproducer of this crash is in {path}. To run it:",
        run,
    ]


def test_reproducers_go_where_the_user_says(crashing: Driver, tmp_path: Path) -> None:
    printed = crashing.do(f"set reproducer-directory {tmp_path / 'mine'}", "continue")
    assert f"A reproducer was written to {tmp_path / 'mine/cse.mlir'}. To run it:" in printed
    assert os.listdir() == ["mine"]


def test_reproducers_can_be_switched_off(crashing: Driver) -> None:
    assert "reproducer" not in crashing.do("set reproducer-directory off", "continue")
    assert os.listdir() == []


def test_error_of_unwritable_reproducer(crashing: Driver) -> None:
    crashing.session.past.reproducer_fails = FileNotWritten("No room.")
    printed = crashing.do("continue")
    assert printed.endswith("No reproducer was written to actiondbg-reproducers: No room.\n")
    assert crashing.interpreter.failure is None


def test_interrupted_reproducer_keeps_the_stop(crashing: Driver) -> None:
    crashing.session.past.reproducer_fails = KeyboardInterrupt
    crashing.console.interactive = True
    printed = crashing.do("continue")
    assert "stopped inside #2" in printed
    assert "No reproducer was written to actiondbg-reproducers: Interrupted." in printed


def test_crash_shows_signal_assertion_and_place(crashing: Driver) -> None:
    crashing.session.next_stop = {**CRASH, "reason": "crash", "breakpoints": []}
    assert crashing.do("continue").splitlines()[:5] == [
        "Crash, stopped inside #2 apply-pattern (Fold) in @main at in.mlir:3:10",
        "  SIGABRT: Assertion `a.b(1) == 2' failed",
        "  at /src/Fold.cpp:12",
        "  in A<int, B>::fold",
        IR,
    ]


def test_other_catches_write_no_reproducer(crashing: Driver) -> None:
    crashing.do("catch verify")
    crashing.session.next_stop = {"when": "during", "reason": "catch", "breakpoints": [2]}
    assert "reproducer" not in crashing.do("continue")
    assert os.listdir() == []


def test_reproducer_in_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    driver = Driver(json=True)
    driver.do("start", "catch crash")
    driver.session.next_stop = dict(CRASH)
    result = driver.results("continue")[0]["result"]
    assert result["reproducer"]["path"] == "actiondbg-reproducers/cse.mlir"
    assert result["reproducer"]["is_new"] is True
    assert result["reproducer"]["pipeline"] == "builtin.module(cse)"


# --- displays ------------------------------------------------------------------------


def test_displays_are_run_at_each_stop(driver: Driver) -> None:
    assert driver.do("display count arith.*") == "Display 1: count arith.*\n"
    assert "\n1: count arith.*\n3 arith.* in the module\n" in driver.do("start")
    assert driver.do("display info outcome").splitlines()[0] == "2: info outcome"
    lines = driver.do("step").splitlines()
    assert lines[-4:-1] == ["1: count arith.*", "3 arith.* in the module", "2: info outcome"]
    assert "no outcome yet" in lines[-1]
    assert driver.interpreter.failure is None
    assert (
        driver.do("display") == driver.do("info displays") == "1: count arith.*\n2: info outcome\n"
    )
    assert driver.do("undisplay 1", "step").splitlines()[-2] == "2: info outcome"
    assert "There is no display 1: the only one is 2." in driver.do("undisplay 1")
    assert driver.do("undisplay", "display") == "There are no displays.\n"


def test_display_prints_ir_and_takes_redirections(stopped: Driver, tmp_path: Path) -> None:
    file = tmp_path / "ir"
    stopped.do(f"display print module > {file}", "display print")
    file.unlink()
    assert stopped.do("step").splitlines()[-2:] == [
        "2: print",
        "--> %0 = arith.addi %arg0, %arg0 : i32",
    ]
    assert file.read_text() == stopped.session.module_text
    assert all(printed.closed for printed in some(stopped.session.printed))


@pytest.mark.parametrize("line", ["step", "nc", "display print", "commands 1", "source x", "bogus"])
def test_commands_that_cannot_be_displayed(stopped: Driver, line: str) -> None:
    assert stopped.do(f"display {line}") != ""
    assert stopped.interpreter.failure is not None
    assert stopped.do("display") == "There are no displays.\n"


def test_display_does_not_let_the_tool_run(stopped: Driver) -> None:
    assert "There was no attempt of Inline." in stopped.do("display why-not Inline")
    assert "A display cannot resume the tool." in stopped.do("display why-not --next Inline")
    assert stopped.session.stop is not None and stopped.session.stop.ordinal == 1
    assert "Stopped before #2" in stopped.do("undisplay", "step")


def test_silent_stop_displays_nothing(driver: Driver) -> None:
    driver.do("display count x", "break x", "commands", "silent", "end")
    assert "count" not in driver.do("run")


def test_displays_in_json() -> None:
    driver = Driver(json=True)
    added, stop, now = driver.results("display count x", "start", "display info outcome")
    assert added["result"] == {"id": 1, "command": "count x"}
    assert stop["result"]["displays"] == [
        {
            "id": 1,
            "command": "count x",
            "ok": True,
            "result": {"glob": "x", "function": False, "count": 3},
            "error": None,
        }
    ]
    assert (now["ok"], now["result"]["ok"]) == (True, False)


# --- ids, and completion -----------------------------------------------------------


def test_ids_are_shown(stopped: Driver) -> None:
    assert stopped.do("context") == f"0: operation @7:{IR[1:]}  at in.mlir:3:10\n"
    assert stopped.do("backtrace").splitlines()[0].endswith("in @main at in.mlir:3:10 on @7")
    assert "operation @7: %0" in stopped.do("info cursor")
    assert "operation  @7 arith.addi" in stopped.do("info action")


@pytest.mark.parametrize(
    ("line", "word", "expected"),
    [
        ("why-not", "Fold", ["FoldA", "FoldB"]),
        ("why-not FoldA", "c", ["cursor"]),
        ("why-not FoldA", "--n", ["--next", "--native"]),
        ("history", "c", ["cursor"]),
        ("catch", "d", ["diagnostic"]),
        ("catch failure", "cs", ["cse"]),
        ("catch diagnostic", "c", []),
        ("catch crash", "", ["if"]),
        ("catch failure cse", "", ["if"]),
        ("catch crash if", "dep", ["depth"]),
        ("watch", "", ["cursor", "op:", "attribute"]),
        ("watch", "op:", ["op:arith.addi"]),
        ("watch op:arith.addi", "", ["count"]),
        ("watch --exact", "at", ["attribute"]),
        ("watch attribute", "", []),
        ("watch attribute value", "", ["of"]),
        ("watch attribute value of @3", "", ["if"]),
        ("watch attribute value of", "", ["cursor"]),
        ('watch attribute "my attr"', "", ["of"]),
        ("watch op: arith.addi", "", ["count"]),
        ("watch cursor", "", ["if"]),
        ("watch cursor if", "dep", ["depth"]),
        ("break --outcome", "s", ["succeeded", "skipped"]),
        ("break --outcome", "failed,sk", ["failed,skipped"]),
        ("info", "pat", ["patterns"]),
        ("info patterns", "--s", ["--sort"]),
        ("info patterns --sort", "t", ["time"]),
        ("info patterns --sort time", "FoldA", ["FoldA"]),
        ("info passes", "c", ["canonicalize", "cse"]),
        ("info bogus", "", []),
        ("help info", "cyc", ["cycles"]),
        ("display", "back", ["backtrace"]),
        ("display info", "out", ["outcome"]),
        ("undisplay", "", ["1", "all"]),
        ("count", "", ["arith.addi"]),
        ("diff", "--si", ["--side-by-side"]),
    ],
)
def test_completion(driver: Driver, line: str, word: str, expected: list[str]) -> None:
    driver.do("display info outcome")
    name, *before = line.split()
    assert candidates(driver.console, COMMANDS.find(name), before, word) == expected


def test_help_of_a_subject(driver: Driver) -> None:
    assert "info patterns [--sort COLUMN] [GLOB]" in driver.do("help info patterns")
    assert "cycles" in driver.do("help info")
