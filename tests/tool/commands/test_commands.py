"""Commands about outcomes and past actions, with real tools of both builds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import command_line
from tests.fakes import stock_tool as stock

BUILDS = LIBRARY

ACTIONDBG = str(Path(sys.executable).with_name("actiondbg"))
Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def run(mlir_opt: str, folds: str) -> Run:
    """Run commands with --json, and return their results."""

    def typed(
        *commands: str, flags: tuple[str, ...] = ("--canonicalize", "--cse"), source: str = folds
    ) -> list[dict[str, Any]]:
        typed = [word for command in commands for word in ("-ex", command)]
        argv = [ACTIONDBG, "-nx", "--batch", "--json", *typed, mlir_opt, source, *flags]
        result = subprocess.run(argv, capture_output=True, text=True)
        return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]

    return typed


def last(said: list[dict[str, Any]]) -> Any:
    assert all(one["ok"] for one in said), said
    return said[-1]["result"]


def test_stops_have_the_documented_keys(run: Run) -> None:
    said = run("break pass:canonicalize", "run", "next", "continue")
    before, after, end = (one["result"] for one in said[1:])
    assert last(said) == end
    common = before.keys() & after.keys() & end.keys()
    assert common == {
        *("when", "reason", "ordinal", "tag", "name", "op", "location", "function", "depth"),
        *("mlir", "context", "thread", "process"),
        *("breakpoints", "event", "message"),
    }
    assert before.keys() - common == {"id", "cursor", "outcome", "changes", "culprit"}
    assert after.keys() - before.keys() == {"skipped"}
    assert end.keys() - common == {"status", "actions", "never_hit"}
    assert (before["event"], after["skipped"], end["status"]) == (1, False, 0)
    assert end["event"] == 2 * end["actions"]
    assert end["message"] == f"The tool ended with status 0 after {end['actions']} actions."


def test_break_outcome_and_info_outcome(run: Run) -> None:
    said = run("break pattern:AddIAddConstant --outcome succeeded", "run", "info outcome")
    stop = said[1]["result"]
    assert (stop["when"], stop["outcome"]["result"]) == ("after", "succeeded")
    assert [change["kind"] for change in stop["changes"]].count("replaced") == 1
    assert last(said)["result"] == "succeeded"


def test_break_reason(run: Run) -> None:
    stop = last(run("break pattern:* --outcome 'reason:*operation that defines operand 0*'", "run"))
    assert stop["outcome"]["result"] == "failed" and not stop["changes"]


def test_next_change_and_info_changes(run: Run) -> None:
    said = run("start", "next-change", "next-change", "info changes")
    assert [one["result"]["tag"] for one in said[1:3]] == ["fold", "apply-pattern"]
    assert {change["kind"] for change in last(said)["changes"]} >= {"inserted", "erased"}


def test_diff(run: Run) -> None:
    said = run(
        "tbreak pattern:AddIAddConstant --outcome changed",
        "run",
        "diff",
        "diff --side-by-side --module",
    )
    assert last(said)
    text = json.dumps(said[2]["result"])
    assert "arith.constant 7" in text and "-  " in text


def test_why_not(run: Run) -> None:
    said = run(
        "break pass:cse", "run", "why-not AddIAddConstant", "why-not AddIAddConstant folds.mlir:6"
    )
    text = json.dumps(said[2]["result"])
    assert "no operation that defines operand 0" in text and "succeeded" in text
    one = last(said)["attempts"][0]
    assert (one["tag"], one["name"], one["op"]) == (
        "apply-pattern",
        "AddIAddConstant",
        "arith.addi",
    )
    assert {"ordinal", "location", "function", "id", "outcome", "changes"} <= one.keys()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("AddIAddConstnt", "no pattern 'AddIAddConstnt' is known yet; did you mean AddIAddConst"),
        ("AddIAddConstant fold.mlir:6", "the input is not 'fold.mlir'; did you mean folds.mlir?"),
    ],
)
def test_why_not_does_not_run_on_for_a_slip(run: Run, words: str, why: str) -> None:
    refused = run("start", f"why-not {words}")[-1]
    assert not refused["ok"]
    assert refused["error"].startswith(f"There was no attempt of {words.split()[0]} so far: {why}")


IFS = """\
func.func @f(%c: i1, %m: memref<i32>, %v: i32) {
  scf.if %c { memref.store %v, %m[] : memref<i32> }
  scf.if %c { memref.store %v, %m[] : memref<i32> }
  return
}
"""


@pytest.mark.parametrize("opened", [False, True])
def test_why_not_after_the_end(folds: str, opened: bool) -> None:
    tool = ["mlir-opt", folds, "--canonicalize", "-o", "out.mlir"]
    record = [ACTIONDBG, "record", "-o", "run.adbrec", "--", *tool]
    subprocess.run(record, capture_output=True, check=True)

    def why_not(words: str) -> subprocess.CompletedProcess[str]:
        lines = ["--batch", "-nx", "-ex", "run", "-ex", f"why-not {words}"]
        command = (
            [ACTIONDBG, "open", *lines, "run.adbrec"] if opened else [ACTIONDBG, *lines, *tool]
        )
        return subprocess.run(command, capture_output=True, text=True)

    # Sessions that stop learn the names of patterns.
    Path("ifs.mlir").write_text(IFS)
    for source, name in ((folds, "AddIAddConstant"), ("ifs.mlir", "CombineIfs")):
        stopped = ["-ex", f"break pattern:{name}", "-ex", "run", "-ex", "kill"]
        command = [ACTIONDBG, "--batch", "-nx", *stopped, "mlir-opt", source, "--canonicalize"]
        subprocess.run(command, capture_output=True, check=True)
    [tried] = re.findall(
        r"first #\d+ @\d+ (arith.addi at folds.mlir:(\d+):\d+)", why_not("AddIAddConstant").stdout
    )[:1]
    off = why_not(f"AddIAddConstant folds.mlir:{int(tried[1]) - 1}")
    assert off.returncode == 0
    first = off.stdout.partition("elsewhere:\n")[2].splitlines()[0]
    assert first.partition(" x  ")[2].startswith(tried[0])
    slip = why_not("AddIAddConstnt")
    assert slip.returncode == 1 and "did you mean AddIAddConstant?" in slip.stderr
    where = "in the recording" if opened else "known"
    other = why_not("Nothing")
    assert other.returncode == 1 and f"no pattern 'Nothing' is {where}." in other.stderr
    file = why_not("AddIAddConstant fold.mlir:3")
    assert file.returncode == 1 and "did you mean folds.mlir?" in file.stderr
    # A pattern that another run tried is no slip; it is not recorded.
    untried = why_not("CombineIfs")
    assert (
        untried.returncode == opened
        and "no attempt of CombineIfs" in untried.stdout + untried.stderr
    )


def test_names_and_places_that_are_not_there_are_pending(run: Run) -> None:
    specs = ("tag:foo", "folds.mlir:999", "nofile.mlir:3", "folds.mlir:2")
    said = run(*(f"break {spec}" for spec in specs))
    assert [one["result"]["pending"] for one in said] == [
        "no tag 'foo' is known yet",
        "folds.mlir has 16 lines",
        "no file 'nofile.mlir' is known",
        None,
    ]


def test_watch_history_and_count(run: Run) -> None:
    said = run(
        "start",
        "cursor-goto folds.mlir:7",
        "watch cursor",
        "continue",
        "history @7",
        "count arith.addi",
    )
    stop = said[3]["result"]
    assert stop["reason"] == "watch" and "was replaced by" in stop["message"]
    assert [event["kind"] for event in said[4]["result"]["events"]] == ["created", "replaced"]
    assert last(said)["count"] >= 1


def test_watch_a_count_and_an_attribute(run: Run) -> None:
    said = run("start", "watch op:arith.addi count", "continue")
    assert "arith.addi changed from" in last(said)["message"]
    said = run("start", "cursor-goto folds.mlir:2", "watch attribute value of cursor", "continue")
    assert "value" in json.dumps(said[2]["result"]) and said[3]["ok"]


def test_catch_failure_diagnostic_and_nonconvergence(run: Run) -> None:
    flags = ("--canonicalize=max-iterations=1 test-convergence",)
    for kind, when in (("failure", "after"), ("nonconvergence", "during")):
        stop = last(run(f"catch {kind}", "run", flags=flags))
        assert (stop["when"], stop["reason"]) == (when, "catch"), kind
    bad = stock.write("bad.mlir", "func.func @f() -> i32 {\n}\n")
    stop = last(run("catch diagnostic", "run", source=bad))
    assert (stop["when"], stop["reason"]) == ("during", "catch")


def test_verify_each_action_and_displays(run: Run) -> None:
    said = run("set verify-each-action on", "display count arith.addi", "break pass:cse", "run")
    assert last(said)["name"] == "cse"  # the IR was valid before
    [shown] = said[-1]["result"]["displays"]
    assert "arith.addi" in json.dumps(shown)


def test_info_patterns_passes_folds_and_cycles(run: Run) -> None:
    subjects = ("patterns --sort succeeded", "passes", "folds arith.*", "cycles")
    said = run("break pass:cse", "run", *(f"info {subject}" for subject in subjects))
    patterns = {row["name"]: row for row in said[2]["result"]["rows"]}
    assert patterns["AddIAddConstant"]["succeeded"] == 2
    assert [row["name"] for row in said[3]["result"]["rows"]] == ["canonicalize"]
    assert all(row["name"].startswith("arith.") for row in some(said[4]["result"]["rows"]))
    assert said[5]["ok"]


# --- aliases -----------------------------------------------------------------------------------


def test_aliases_of_an_init_file_and_a_script_in_a_batch(
    mlir_opt: str, folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    monkeypatch.setenv("XDG_CACHE_HOME", cache)  # which has the agent, compiled
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".actiondbginit").write_text(
        "alias create bf break fold:*\nmacro create deep {1} pattern:{2} if depth > {3}\n"
    )
    Path("steps.adbg").write_text("alias create deepest deep break Add*\ndeepest 1\n")
    lines = ["source steps.adbg", "bf and func:sum", "help bf", "list", "run"]
    typed = [word for line in lines for word in ("-ex", line)]
    argv = [ACTIONDBG, "--batch", *typed, mlir_opt, folds, "--canonicalize"]
    shown = subprocess.run(argv, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert "Breakpoint 1: pattern:Add* if depth > 1" in shown.stdout
    assert "Breakpoint 2: fold:* and func:sum" in shown.stdout
    assert "bf: alias of break fold:*" in shown.stdout
    assert "Breakpoint 2, stopped before" in shown.stdout


def test_aliases_as_json(run: Run) -> None:
    said = run("macro create deep break {1} if depth > {2}", "deep Add* 1", "macro list")
    assert said[1]["result"]["condition"] == "depth > 1"
    deep = {"kind": "macro", "name": "deep", "line": "break {1} if depth > {2}"}
    assert last(said)["aliases"] == [deep]


# --- words -------------------------------------------------------------------------------------


def test_a_count_of_one_has_a_singular(run: Run) -> None:
    def text_of(*commands: str) -> str:
        return last(run("start", "cursor-goto folds.mlir:1", *commands))["unit"]["text"]

    assert text_of("cursor-child 0") == "region 0 of func.func, 1 block"
    block = text_of("cursor-child 0", "cursor-child 0")
    assert block == "block ^bb0 of func.func, 2 arguments, 7 operations"


@pytest.mark.parametrize(("place", "notes"), [("pass:canonicalize", 1), ("fold:arith.*", 0)])
def test_what_is_printed_in_no_function_is_no_function(
    place: str, notes: int, mlir_opt: str, folds: str
) -> None:
    commands = ("-ex", f"break {place}", "-ex", "run", "-ex", "print function")
    done = command_line.run("-nx", "--batch", *commands, mlir_opt, folds, "--canonicalize")
    assert done.returncode == 0, done.stderr
    said = "The cursor is in no function: printed is the outermost operation around it."
    assert done.stderr.count(said) == notes
    assert ("module {" in done.stdout) == bool(notes) and "func.func @sum" in done.stdout
    counted = command_line.run(
        *("-nx", "--batch", "-ex", f"break {place}", "-ex", "run"),
        *("-ex", "count arith.* --function", mlir_opt, folds, "--canonicalize"),
    )
    assert counted.stderr.count("The cursor is in no function: leave --function out") == notes
    assert counted.stdout.count("in the function of the cursor") == 1 - notes


def test_a_watch_of_an_erased_operation_says_that_it_is_gone(mlir_opt: str, folds: str) -> None:
    commands = ["start", "finish", "watch cursor", "watch @2", "watch @3", "watch @4"]
    typed = [word for each in commands for word in ("-ex", each)]
    argv = [ACTIONDBG, "-nx", "--batch", *typed, mlir_opt, folds, "--canonicalize"]
    result = subprocess.run(argv, capture_output=True, text=True)
    way_out = "reverse-continue finds what happened to it."
    for id in range(2, 5):
        assert f"There is no operation @{id} now: {way_out}" in result.stderr.splitlines()
    assert result.stderr.count("There is no operation") == 3  # not of the cursor's
