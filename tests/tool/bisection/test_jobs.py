"""Outputs that are judged at the same time: the first runs, and those of the reproducer."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection import Progress
from tests.conftest import LIBRARY
from tests.fakes.folds import folded, write_folds

BUILDS = LIBRARY

SECONDS = 60  # a run waits so long for another one
# A module, which repro.sh does not copy, so that no output counts as judged.
JUDGE = f"""
import os, pathlib, sys, time
meeting = pathlib.Path("meeting")
if meeting.is_dir():
    (meeting / str(os.getpid())).touch()
    deadline = time.monotonic() + {SECONDS}
    while len(list(meeting.iterdir())) < 2:
        if time.monotonic() > deadline:
            sys.exit(126)
        time.sleep(0.01)
lines = open(sys.argv[1]).read().partition("@f5(")[2].splitlines()
sys.exit(lines[1].strip().startswith("return"))
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return write_folds(Path("folds.mlir"), 20)


def test_the_first_two_outputs_are_judged_at_the_same_time(mlir_opt: str, source: str) -> None:
    """They are of the whole run and of the start, in which no pass runs that is a candidate."""
    with open(source, "a") as file:
        file.write("func.func private @unused()\n")
    meeting = threading.Barrier(2)
    first = threading.Semaphore(2)
    kept: list[bool] = []

    def judge(output: Path) -> bool:
        if first.acquire(blocking=False):
            kept.append("@unused" in output.read_text())
            meeting.wait(SECONDS)
        return 5 not in folded(output)

    passes = ["--canonicalize", "--symbol-dce"]  # the second one is a candidate as a whole
    result = actiondbg.bisect([mlir_opt, source, *passes], judge, jobs=2)
    assert result.culprit is not None and result.culprit.function == "f5"
    assert sorted(kept) == [False, True]


def test_outputs_of_the_reproducer_are_judged_at_the_same_time(mlir_opt: str, source: str) -> None:
    Path("judge.py").write_text(JUDGE)

    def on_progress(progress: Progress) -> None:
        if progress.phase == "the report":
            Path("meeting").mkdir(exist_ok=True)

    result = actiondbg.bisect(
        [mlir_opt, source, "--canonicalize"],
        f"{sys.executable} -m judge {{}}",
        jobs=2,
        output="out",
        progress=on_progress,
    )
    assert result.culprit is not None and result.culprit.function == "f5", result.message
    assert len(list(Path("meeting").iterdir())) > 1
    assert result.reproducer_verified, result.notes
    assert not list(Path("out").glob("attempt*"))
