"""Recorded commands that run again: from Python, with a file on standard input, interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from actiondbg.lint.linted_runs import recorded_runs
from actiondbg.lint.linter import Linter
from actiondbg.lint.rerun import Rerun, changed_by
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import command_line
from tests.fakes.stops import processes_of
from tests.paths import COMMAND
from tests.tool.lint.conftest import Lint, by_pattern, source
from tests.tool.suite.conftest import ADDS

BUILDS = LIBRARY


def recorded(tool: list[str], folder: Path, *names: str) -> None:
    """Record a run of the tool with the input of each name, into the folder ``runs``."""
    (folder / "runs").mkdir()
    for name in names:
        argv = [tool[0], f"{name}.mlir", *tool[2:]]
        path = folder / "runs" / f"{name}.adbrec"
        assert record(argv, path, cwd=folder, stdout=os.devnull).status == 0


def keys(linter: Linter) -> set[tuple[str, str]]:
    return {each.key for each in linter.finish()}


def test_runs_from_python(tool: list[str], tmp_path: Path) -> None:
    for name in ("nothing", "erased-silently", "modified"):
        (tmp_path / f"{name}.mlir").write_text(source(name))
    recorded(tool, tmp_path, "nothing", "erased-silently", "modified")
    (tmp_path / "modified.mlir").unlink()
    linter = Linter()
    rerun = Rerun(linter, jobs=2)
    seen: list[tuple[int, int]] = []
    rerun.run(
        recorded_runs([str(tmp_path / "runs")]), lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert (rerun.total, rerun.done, rerun.failed) == (3, 3, 1)
    assert keys(linter) == {
        ("success-without-change", "nothing"),
        ("not-notified", "erased-silently"),
    }


def test_an_interrupt_ends_the_tools_and_keeps_what_was_found(
    tool: list[str], tmp_path: Path
) -> None:
    for name in ("nothing", "endless-input"):
        (tmp_path / f"{name}.mlir").write_text(source("nothing"))
    recorded(tool, tmp_path, "nothing", "endless-input")
    waiting = tmp_path / "endless-input.mlir"
    waiting.unlink()
    os.mkfifo(waiting)
    writer = os.open(waiting, os.O_RDWR)  # a reader waits for more

    def interrupt(done: int, total: int) -> None:
        while not processes_of(waiting.name, str(tmp_path)):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)  # until the signal

    linter = Linter()
    rerun = Rerun(linter, jobs=2)
    with pytest.raises(KeyboardInterrupt):
        rerun.run(recorded_runs([str(tmp_path / "runs")]), interrupt)
    os.close(writer)
    assert (rerun.total, rerun.done, rerun.failed) == (2, 1, 0)
    assert keys(linter) == {("success-without-change", "nothing")}
    assert processes_of(waiting.name, str(tmp_path)) == []


def test_the_command_reports_what_was_found_before_an_interrupt(
    tool: list[str], tmp_path: Path
) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.mlir").write_text(source("nothing"))
    recorded(tool, tmp_path, "first", "second")
    waiting = tmp_path / "second.mlir"
    waiting.unlink()
    os.mkfifo(waiting)
    running = subprocess.Popen(
        [COMMAND, "lint", "--rerun", "-j1", "--write-baseline", "known.json", "runs"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with waiting.open("wb"):  # until the second tool reads it
        running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGINT
    assert "actiondbg: Interrupted after 1 of 2 commands: what they did is checked." in errors
    assert "success-without-change" in out and out.endswith("1 finding in 1 run.\n")
    assert not (tmp_path / "known.json").exists(), "a part of the findings is no baseline"


def test_a_run_of_a_suite_reads_its_file_again(lint: Lint, tool: list[str], tmp_path: Path) -> None:
    (tmp_path / "rules.mlir").write_text(source("nothing"))
    words = " ".join(f"'{each}'" for each in [tool[0], *tool[2:]])
    (tmp_path / "driver.sh").write_text(
        f"{words} < rules.mlir > out.mlir\ncat rules.mlir | {words} -o other.mlir\ntrue\n"
    )
    driver = ["suite", "record", "-q", "-o", "suite", "--", "sh", "driver.sh"]
    command_line.run(*driver, check=True)
    done = lint("--rerun", "--format", "json", "suite")
    assert by_pattern(done.stdout) == {"nothing": {"success-without-change"}}
    assert "1 command could not be run again" in done.stderr, "the run that reads a pipe"
    (tmp_path / "rules.mlir").unlink()
    gone = lint("--rerun", "suite")
    assert "2 commands could not be run again" in gone.stderr


def test_what_a_run_changed_is_the_same_each_time_it_is_read(mlir_opt: str, tmp_path: Path) -> None:
    """The operations of an action are compared in one order, also by several threads."""
    adds = "".join(ADDS.replace("@f", f"@f{number}") for number in range(1000))
    (tmp_path / "adds.mlir").write_text(adds)
    argv = [mlir_opt, "adds.mlir", "--canonicalize"]
    path = tmp_path / "run.adbrec"
    record(argv, path, cwd=tmp_path, stdout=os.devnull, ir="changed", one_thread=True)
    recording = open_recording(path)
    first, *others = (changed_by(recording, recording.count) for _ in range(10))
    assert len(first) == 1000
    assert all(other == first for other in some(others))


def test_an_import_has_no_command(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    dumps = (f"// -----// IR Dump {when} Own (own) //----- //\n" for when in ("Before", "After"))
    log.write_text("".join(f"{dump}module {{\n}}\n\n\n" for dump in dumps))
    command_line.run("import", "-q", "run.log", cwd=tmp_path, check=True)
    done = command_line.run("lint", "--rerun", "run.adbrec", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "run.adbrec was imported from run.log, which has no command line" in done.stderr


PROGRAM = """
import time
from mlir.ir import Context

with Context():
    open("begun", "w").close()
    time.sleep(600)
"""


def test_an_interrupt_before_the_first_action_is_no_error_of_the_tool(tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    (tmp_path / "program.py").write_text(PROGRAM)
    running = subprocess.Popen(
        [COMMAND, "lint", "--", sys.executable, "program.py"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "begun").exists():
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, errors = running.communicate(timeout=60)
    assert (running.returncode, out) == (128 + signal.SIGINT, "0 findings in 1 run.\n")
    assert "There is nothing to check" not in errors
