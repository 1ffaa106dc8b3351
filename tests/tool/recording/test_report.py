"""``actiondbg report`` on real tools of both builds, and the examples of docs/report.md."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fakes import command_line

pytest.importorskip("duckdb")

from actiondbg.errors import ActiondbgError
from actiondbg.recording import open_recording
from actiondbg.recording.report.suspects import CHANGING
from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock
from tests.fakes.recording.recordings import fake_recording
from tests.fakes.recording.report import Page, page_of
from tests.paths import COMMAND, ROOT

BUILDS = LIBRARY

PAGE = (ROOT / "docs/report.md").read_text()


def report(*words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = command_line.run("report", *words)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def page(name: str = "report.html") -> Page:
    return Page(Path(name).read_text())


# --- of a tool ------------------------------------------------------------------------------------


def test_a_tool_is_run_and_reported(mlir_opt: str, folds: str) -> None:
    bare = stock.run([mlir_opt, folds, "--canonicalize", "--cse"], check=True).stdout
    done = report("--ir", "function", "--", mlir_opt, folds, "--canonicalize", "--cse")
    assert done.stdout == bare
    assert re.search(r"actiondbg: \d+ actions in report.html \([\d.]+ kB\)\.\n$", done.stderr)
    made = page()
    rows = {row["group"]: row for row in made.rows("groups")}
    assert rows["AddIAddConstant"]["succeeded"] == 2 and rows["cse"]["calls"] == 1
    assert "AddIMulNegativeOneRhs" in rows and rows["arith.addi"]["calls"] > 2  # a fold
    assert "22.1" in made.text and f"{mlir_opt} {folds} --canonicalize --cse" in made.text
    assert "actiondbg record -o RUN.adbrec" in made.text  # it was not kept
    ordinal = next(
        row["ordinal"]
        for row in made.rows("actions")
        if row["group"] == "AddIAddConstant" and row["flags"] & 1
    )
    changed = [row for row in made.diff(ordinal) if row[0] in ("!", "+")]
    assert any("arith.constant 7 : i32" in (row[2] or "") for row in changed)
    told = made.run["changes"]
    kinds = [
        made.word(change[told["columns"].index("kind")]) for change in told["of"][str(ordinal)]
    ]
    assert {"inserted", "replaced", "erased"} <= set(kinds)


def test_the_lines_of_operations_are_the_usual_diff(mlir_opt: str, folds: str) -> None:
    report("-q", "-o", "a.html", "--", mlir_opt, folds, "--canonicalize", "-o", "/dev/null")
    made = page("a.html")
    rows = [row for ordinal in made.run["diffs"]["of"] for row in made.diff(int(ordinal))]
    assert any("arith.addi(" in (row[1] or "") for row in rows)
    assert made.rows("reasons")[0]["count"] > 0


def test_status_of_the_tool_is_passed_on(mlir_opt: str, folds: str) -> None:
    failing = "--pass-pipeline=builtin.module(canonicalize{test-convergence=true max-iterations=1})"
    done = report("--", mlir_opt, folds, failing, status=1)
    assert "actions in report.html" in done.stderr
    made = page()
    assert "by itself, with status 1" in made.text
    assert next(r for r in made.rows("groups") if r["group"] == "canonicalize")["failed"] == 1


def test_a_tool_that_makes_no_context(mlir_opt: str, folds: str) -> None:
    done = report("--", mlir_opt, "--version", status=1)
    assert "There is nothing to report" in done.stderr
    assert not Path("report.html").exists()
    done = report("--", "no-such-tool", status=3)
    assert "no-such-tool" in done.stderr


def test_driver_that_does_not_converge(mlir_opt: str, folds: str) -> None:
    report("-q", "--", mlir_opt, folds, "--canonicalize=max-iterations=1", "-o", "/dev/null")
    [driver] = page().rows("suspects", "drivers")
    assert (driver["group"], driver["iterations"], driver["state"]) == ("canonicalize", 1, CHANGING)
    report("-q", "--", mlir_opt, folds, "--canonicalize", "-o", "/dev/null")
    assert page().rows("suspects", "drivers") == []


def _count(recording: Path) -> int:
    """Return the number of actions that are whole in a recording so far."""
    with contextlib.suppress(ActiondbgError):
        return open_recording(recording, partial=True).count
    return 0


def test_a_tool_that_is_killed_in_the_middle(mlir_opt: str, tmp_path: Path) -> None:
    source = tmp_path / "many.mlir"
    body = "".join(f"  %{n + 1} = arith.addi %{n}, %c : i32\n" for n in range(20_000))
    source.write_text(
        "func.func @f(%0: i32) -> i32 {\n  %c = arith.constant 1 : i32\n"
        f"{body}  return %20000 : i32\n}}\n"
    )
    recording = tmp_path / "run.adbrec"
    passes = ",".join(["canonicalize{test-convergence=false}", "cse"] * 200)
    process = subprocess.Popen(
        [
            *(COMMAND, "record", "-q", "-o", str(recording), "--", mlir_opt, str(source)),
            *(f"--pass-pipeline=builtin.module({passes})", "-o", "/dev/null"),
        ],
        start_new_session=True,
    )
    while not recording.exists() or _count(recording) <= 1000:
        assert process.poll() is None, "It was over too soon."
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    made = page_of(recording)
    assert "killed, or still running" in made.text
    assert made.run["count"] > 1000 and -1 in made.actions["duration"]


def test_threads_have_lanes_of_their_own(mlir_opt: str, tmp_path: Path) -> None:
    functions = "".join(
        f"func.func @f{n}(%a: i32) -> i32 {{\n  %c = arith.constant {n} : i32\n"
        "  %x = arith.addi %a, %c : i32\n  %y = arith.addi %x, %c : i32\n  return %y : i32\n}\n"
        for n in range(400)
    )
    source = tmp_path / "threads.mlir"
    source.write_text(functions)
    passes = "--pass-pipeline=builtin.module(func.func(canonicalize))"
    output = tmp_path / "threads.html"
    report("-q", "-o", str(output), "--", mlir_opt, str(source), passes, "-o", "/dev/null")
    made = page(str(output))
    used = {thread["thread"] for thread in made.run["density"]["threads"]}
    assert set(made.actions["thread"]) == used and 0 in used
    assert next(r for r in made.rows("groups") if r["group"] == "canonicalize")["calls"] == 400
    if len(used) > 1:
        assert sum(made.actions["elsewhere"]) > 0


# --- of a recording -------------------------------------------------------------------------------


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return fake_recording(tmp_path / "run.adbrec", 500).name


# --- the manual -----------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["sh", "python"])
def test_the_examples(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mlir_opt: str
) -> None:
    shutil.copy(ROOT / "examples/fold.mlir", tmp_path)
    monkeypatch.chdir(tmp_path)
    path = f"{Path(mlir_opt).parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    program = {"sh": ["sh", "-e", "-c"], "python": [sys.executable, "-c"]}[language]
    subprocess.run(
        ["sh", "-c", "actiondbg record -q -o run.adbrec -- mlir-opt fold.mlir --canonicalize"],
        env={**os.environ, "PATH": path},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    examples = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
    assert examples
    for example in examples:
        Path("report.html").unlink(missing_ok=True)
        subprocess.run([*program, example], env={**os.environ, "PATH": path}, check=True)
        assert "AddIAddConstant" in Path("report.html").read_text()
