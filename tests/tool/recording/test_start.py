"""What a tool that is recorded has to wait for: as little as can be is imported before it."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from actiondbg.recording import is_recording, open_recording
from actiondbg.recording.capture.recorder import record, start_recording
from tests.conftest import LIBRARY

BUILDS = LIBRARY

INPUT = "func.func @f(%x: i32) -> i32 {\n  return %x : i32\n}\n"
# Says what is imported when a process is started. The last one is the tool: the first is the
# loader, which is asked for its libMLIR.
WATCHED = """
import subprocess, sys
start = subprocess.Popen.__init__
def watched(*arguments, **keywords):
    print("IMPORTED", *sys.modules, file=sys.stderr)
    start(*arguments, **keywords)
subprocess.Popen.__init__ = watched
from actiondbg.cli import main
sys.exit(main())
"""
READING = {"duckdb", "numpy", "pyarrow"}
SLOW = {"dataclasses", "hashlib", "shutil", "socket", "tempfile", "rich"}
# msgspec imports typing_extensions where it is installed, which imports inspect.
LAZY = SLOW if find_spec("typing_extensions") else SLOW | {"inspect"}


def imported(command: list[str], mlir_opt: str, directory: Path) -> set[str]:
    (directory / "in.mlir").write_text(INPUT)
    tool = [mlir_opt, "in.mlir", "--canonicalize", "-o", "/dev/null"]
    words = [sys.executable, "-c", WATCHED, *command, "--", *tool]
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("IMPORTED ")]
    assert len(lines) == 2
    return set(lines[-1].split())


def test_a_recording_begins_at_once(mlir_opt: str, tmp_path: Path) -> None:
    modules = imported(["record", "-o", "run.adbrec"], mlir_opt, tmp_path)
    assert "actiondbg.recording.capture.recorder" in modules
    assert not modules & (READING | LAZY)
    assert is_recording(tmp_path / "run.adbrec")


@pytest.mark.parametrize(
    "command",
    [
        ["log", "-o", "run.log"],
        ["log", "--json", "--filter", "tag:fold", "-o", "run.log"],
        ["trace", "-o", "run.json"],
        ["trace", "--filter", "tag:fold", "-o", "run.pftrace"],
        ["stat", "--events", "none"],
        ["report"],
        ["--batch", "-ex", "run"],
    ],
    ids=" ".join,
)
def test_reader_is_imported_while_the_tool_runs(
    command: list[str], mlir_opt: str, tmp_path: Path
) -> None:
    assert not imported(command, mlir_opt, tmp_path) & READING


def test_two_recorders_with_one_file_do_not_mix(mlir_opt: str, folds: str, tmp_path: Path) -> None:
    argv, path = [mlir_opt, folds, "--canonicalize", "-o", "/dev/null"], tmp_path / "run.adbrec"
    whole = record(argv, tmp_path / "whole.adbrec").path
    assert whole is not None
    wanted = open_recording(whole).table("actions", ["name", "op"])
    for _ in range(3):
        path.unlink(missing_ok=True)
        with start_recording(argv, path) as one:
            one.process.send_signal(signal.SIGSTOP)  # before it writes
            with start_recording(argv, path) as other:
                one.process.send_signal(signal.SIGCONT)
                statuses = sorted([one.wait().status, other.wait().status])
        assert statuses[0] == 0
        recording = open_recording(path)
        assert recording.table("actions", ["name", "op"]).equals(wanted)
        assert recording.cut is None


def test_an_empty_recording_that_another_tool_writes_is_left(tmp_path: Path) -> None:
    """The tool has claimed it, and has not come to its first byte."""
    path = tmp_path / "run.adbrec"
    reader, writer = os.pipe()
    with start_recording(["cat"], path, stdin=reader) as running, path.open("rb") as claimed:
        fcntl.flock(claimed, fcntl.LOCK_EX)
        os.close(writer)
        assert running.wait().path is None
        assert path.exists()
    os.close(reader)
    assert record(["true"], path).path is None
    assert not path.exists()
