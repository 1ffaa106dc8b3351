"""What is recorded of threads that do not come to write it: in a crash, or while they wait."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import RecordingError, open_recording
from actiondbg.recording.capture.recorder import record, start_recording
from actiondbg.recording.recording import Recording
from tests.fakes import command_line

FUNCTION = """\
func.func @f{n}(%x: i32, %m: memref<4xi1>, %v: i1, %i: index) -> i32 {{
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = arith.addi %x, %c1 : i32
  %b = arith.addi %a, %c2 : i32
  memref.store %v, %m[%i] : memref<4xi1>
  return %b : i32
}}
"""
EACH = "func.func(canonicalize,cse)"


def many(count: int) -> str:
    Path("many.mlir").write_text("".join(FUNCTION.format(n=n) for n in range(count)))
    return "many.mlir"


def pipeline(*passes: str) -> str:
    return f"--pass-pipeline=builtin.module({','.join(passes)})"


def actions(recording: Recording) -> Counter[tuple[Any, ...]]:
    """How often each action was done, whose number depends on the order of threads."""
    table = recording.table("actions", ("function", "tag", "name", "op", "outcome"))
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def so_far() -> Counter[tuple[Any, ...]]:
    try:
        return actions(open_recording("run.adbrec"))
    except RecordingError:  # it is empty yet
        return Counter()


def unfinished(recording: Recording) -> list[str]:
    table = recording.table("actions", ("name", "outcome"))
    pairs = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return [name for name, outcome in pairs if outcome == "unfinished"]


def test_a_crash_in_all_threads_loses_nothing(
    debian: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first to crash would be killed by the second, before it has written."""
    monkeypatch.chdir(tmp_path)
    tool = [debian("mlir-opt"), many(60)]
    whole = record([*tool, pipeline(EACH, "canonicalize")], "whole.adbrec", stdout=os.devnull)
    assert whole.status == 0 and whole.path is not None
    expected = actions(open_recording(whole.path))
    for _ in range(5):  # it is a matter of who comes first
        passes = pipeline(EACH, "canonicalize", "func.func(test-pass-crash)")
        done = record([*tool, passes], "run.adbrec", stdout=os.devnull, stderr=os.devnull)
        assert done.status == -signal.SIGABRT and done.path is not None
        recording = open_recording(done.path)
        assert (recording.ending.ended, recording.cut) == ("crash", None)
        assert not expected - actions(recording)
        assert "test-pass-crash" in unfinished(recording)


def test_crash_in_one_thread_keeps_the_actions_of_others(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tool = [mlir_opt, many(60)]
    whole = record([*tool, pipeline(EACH)], "whole.adbrec", stdout=os.devnull)
    assert whole.status == 0 and whole.path is not None
    expected = actions(open_recording(whole.path))
    fatal = "test-pass-crash" if mlir_opt.startswith("/usr") else "finalize-memref-to-llvm"
    passes = pipeline(EACH, fatal)
    done = record([*tool, passes], "run.adbrec", stdout=os.devnull, stderr=os.devnull)
    assert done.status == -signal.SIGABRT and done.path is not None
    recording = open_recording(done.path)
    assert recording.ending.ended == "crash"
    assert not expected - actions(recording)
    assert unfinished(recording)[:1] == [fatal]


@pytest.mark.parametrize("threading", [[], ["--mlir-disable-threading"]])
def test_actions_of_a_waiting_thread_are_written(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threading: list[str]
) -> None:
    """Nobody reads what the tool prints: it waits, and all that it did is in the file."""
    monkeypatch.chdir(tmp_path)
    tool = [mlir_opt, many(800), pipeline(EACH), *threading]
    alone = subprocess.run(tool, capture_output=True, check=True).stdout
    assert len(alone) > 2 * 65536
    whole = record(tool, "whole.adbrec", stdout=os.devnull)
    assert whole.path is not None
    expected = actions(open_recording(whole.path))
    reading, writing = os.pipe()
    with start_recording(tool, "run.adbrec", stdout=writing) as running:
        os.close(writing)
        deadline = time.monotonic() + 60
        while so_far() != expected:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert running.process.poll() is None
        with open(reading, "rb") as pipe:
            assert pipe.read() == alone
        assert running.wait().status == 0
    assert actions(open_recording("run.adbrec")) == expected


@pytest.mark.parametrize("words", ["stat", "report -o out.html"])
def test_an_interrupt_before_the_first_action_is_no_failure(words: str, tmp_path: Path) -> None:
    """The tool got the Ctrl-C of the command, or both got that of the terminal."""
    done = command_line.run(*words.split(), "--", "sh", "-c", "kill -INT $$", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
