"""The command trace on real runs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import start_recording
from actiondbg.recording.trace import writer as writing
from actiondbg.recording.trace.options import SliceSelection
from actiondbg.recording.trace.writer import Written
from tests.conftest import LIBRARY
from tests.fakes.recording.recordings import fake_recording
from tests.fakes.recording.traces import (
    Slice,
    by_ordinal,
    check_slices,
    chrome_slices,
    expected,
    read_json,
    read_perfetto,
)
from tests.paths import COMMAND
from tests.processes import children, wait_until

BUILDS = LIBRARY

FUNCTION = """\
func.func @f{number}(%a: i32) -> i32 {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.addi %a, %c0 : i32
  %y = arith.addi %x, %c1 : i32
  %z = arith.addi %y, %c1 : i32
  return %z : i32
}}
"""
PER_FUNCTION = "--pass-pipeline=builtin.module(func.func(canonicalize,cse))"
ONE_THREAD = "--mlir-disable-threading"


def _actiondbg(*words: object, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *map(str, words)], capture_output=True, text=True, check=False, **how
    )


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A file of many functions."""
    path = tmp_path / "many.mlir"
    path.write_text("\n".join(FUNCTION.format(number=number) for number in range(400)))
    return path


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return fake_recording(tmp_path / "run.adbrec", actions=500)


# --- real runs ----------------------------------------------------------------------------


def _check_run(found: list[Slice], recording: Path) -> None:
    """Compare a trace with a recording of another run: all is the same but the times."""
    wanted = expected(open_recording(recording))
    assert {each.ordinal for each in found} == wanted.keys()
    for each in found:
        want = wanted[each.ordinal]
        assert (each.name, each.parent, each.arguments) == (want.name, want.parent, want.arguments)


def test_trace_of_a_run_equals_that_of_its_recording(
    mlir_opt: str, many: Path, tmp_path: Path
) -> None:
    passes = ("--canonicalize", "--cse", "--convert-arith-to-llvm")
    command = (mlir_opt, many, *passes, "-o", os.devnull, ONE_THREAD)
    for name in ("run.json", "run.pftrace"):
        done = _actiondbg("trace", "-o", tmp_path / name, "--", *command)
        assert done.returncode == 0, done.stderr
    assert _actiondbg("record", "-o", tmp_path / "run.adbrec", "--", *command).returncode == 0
    _check_run(chrome_slices(read_json(tmp_path / "run.json")), tmp_path / "run.adbrec")
    trace = read_perfetto(tmp_path / "run.pftrace")
    _check_run(trace.slices, tmp_path / "run.adbrec")
    assert any(len(ends) > 1 for ends in trace.flows.values())
    assert {each.name for each in tmp_path.iterdir()} == {
        *("many.mlir", "run.json", "run.pftrace", "run.adbrec")
    }


def _follow(argv: list[str], directory: Path, parts: list[int]) -> Written | None:
    """Trace a run in this process, part by part as soon as there is anything."""
    recording, out = directory / "run.adbrec", directory / "run.json"
    add_part = writing.TraceFile.add_part

    def count(trace: Any, file: Any, last: int) -> None:
        parts.append(last)
        add_part(trace, file, last)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "_SECONDS", 0.01)
        patch.setattr(writing, "_GROWTH", 1)
        patch.setattr(writing, "_SHARE", 1 << 30)
        patch.setattr(writing.TraceFile, "add_part", count)
        with start_recording(argv, recording) as running:
            return writing.trace_run(running, str(out), "chrome", SliceSelection())[1]


def test_a_trace_that_follows_the_run_is_the_same(
    mlir_opt: str, many: Path, tmp_path: Path
) -> None:
    passes = ["--canonicalize", "--cse"] * 4
    argv = [mlir_opt, str(many), *passes, "-o", os.devnull, ONE_THREAD]
    parts: list[int] = []
    written = _follow(argv, tmp_path, parts)
    assert parts and written is not None and written.cut is None
    found = chrome_slices(read_json(tmp_path / "run.json"))
    assert len(found) == written.slices
    wanted = expected(open_recording(tmp_path / "run.adbrec"))
    check_slices(by_ordinal(found), wanted, drift=1e-4)


def test_a_run_of_several_threads_is_traced_at_its_end(
    mlir_opt: str, many: Path, tmp_path: Path
) -> None:
    argv = [mlir_opt, str(many), PER_FUNCTION, "-o", os.devnull]
    written = _follow(argv, tmp_path, [])
    if (os.cpu_count() or 1) < 2:
        pytest.skip("there is one processor, and so no worker")
    assert written is not None and written.threads > 1
    found = chrome_slices(read_json(tmp_path / "run.json"))
    check_slices(by_ordinal(found), expected(open_recording(tmp_path / "run.adbrec")))
    one = tmp_path / "one.adbrec"
    assert _actiondbg("record", "-o", one, "--", *argv, ONE_THREAD).returncode == 0
    # The same was done, whoever did it.
    alone = expected(open_recording(one)).values()
    assert _done(found) == _done(list(alone))


def _done(slices: list[Slice]) -> Counter[tuple[str, str]]:
    kinds = ("apply-pattern", "fold", "failed-attempts", "pass-execution")
    return Counter(
        (each.name, each.arguments.get("function", ""))
        for each in slices
        if each.category in kinds and each.arguments.get("operation") != "builtin.module"
    )


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_a_tool_that_is_killed_leaves_a_trace(
    mlir_opt: str, tmp_path: Path, by: signal.Signals
) -> None:
    source, out = tmp_path / "many.mlir", tmp_path / "run.json"
    source.write_text("\n".join(FUNCTION.format(number=number) for number in range(20_000)))
    words = (COMMAND, "trace", "-o", out, "--", mlir_opt, source, "--canonicalize", ONE_THREAD)
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as ours:
        wait_until(lambda: _grown(tmp_path))
        # Ctrl-C ends the tool, and not what traces it.
        os.kill(ours.pid if by == signal.SIGINT else children(ours.pid)[0], by)
        _, said = ours.communicate()
    assert ours.returncode == 128 + by
    assert said.startswith(f"actiondbg: The tool was killed by {by.name}.\n")
    assert "still runs" not in said
    content = read_json(out)
    # It may have been in the middle of writing.
    assert re.search("killed|cut off in the middle", content["otherData"]["note"])
    found = {each.ordinal: each for each in chrome_slices(content)}
    unfinished = [each for each in found.values() if each.arguments.get("unfinished")]
    assert found[1] in unfinished and found[1].name == "canonicalize"
    assert found[1].end == max(each.end for each in found.values())
    assert {each.name for each in tmp_path.iterdir()} == {"many.mlir", "run.json"}


def test_a_trace_that_cannot_be_written_does_not_stop_the_tool(
    mlir_opt: str, many: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.mlir"
    trace = ("trace", "-o", "/dev/full", "--format", "chrome")
    done = _actiondbg(*trace, "--", mlir_opt, many, "--canonicalize", "-o", out)
    assert done.returncode == 1
    assert "'/dev/full' cannot be written (No space left on device): free disk space" in done.stderr
    assert "func.func @f399" in out.read_text()


def _grown(directory: Path) -> bool:
    """Whether the recording has its first chunk, which takes less than half of this."""
    return any(each.stat().st_size > 1_000_000 for each in directory.glob("*/run.adbrec"))


def test_the_status_of_the_tool_is_passed_on(mlir_opt: str, tmp_path: Path) -> None:
    source = tmp_path / "wrong.mlir"
    source.write_text("func.func @f() { return 1 }")
    done = _actiondbg("trace", "-o", tmp_path / "a.json", "--", mlir_opt, source)
    assert done.returncode == 1 and "expected" in done.stderr
    assert chrome_slices(read_json(tmp_path / "a.json")) == []


def test_a_tool_that_makes_no_context_has_no_trace(mlir_opt: str, tmp_path: Path) -> None:
    done = _actiondbg("trace", "-o", tmp_path / "a.json", "--", mlir_opt, "--version")
    assert done.returncode == 0 and "There is nothing to trace" in done.stderr
    assert list(tmp_path.iterdir()) == []
