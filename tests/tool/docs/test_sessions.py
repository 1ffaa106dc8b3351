"""The sessions and the Python of docs/open.md, run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.recording.recordings import write_recording
from tests.fakes.recording.session import OPERATIONS, actions
from tests.paths import ROOT


@pytest.fixture(autouse=True)
def _recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    monkeypatch.setenv("XDG_CACHE_HOME", cache)  # which has the agent, compiled
    monkeypatch.setenv("HOME", str(tmp_path))
    write_recording("run.adbrec", actions(), OPERATIONS, ir="function")


# --- docs/open.md ----------------------------------------------------------------------


def _blocks(language: str) -> list[str]:
    page = (ROOT / "docs" / "open.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


@pytest.mark.parametrize("block", _blocks("text"))
def test_the_sessions_of_the_page(block: str) -> None:
    shutil.copy(ROOT / "examples" / "fold.mlir", ".")
    recording, opening, *lines = block.splitlines()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    subprocess.run(recording.removeprefix("$ "), shell=True, check=True, env=environment)
    commands = [
        line.removeprefix("(actiondbg) ") for line in lines if line.startswith("(actiondbg) ")
    ]
    said = [line for line in lines if not line.startswith("(actiondbg) ")]
    words = [word for line in commands for word in ("-ex", line)]
    *program, file = opening.removeprefix("$ ").split()
    run = subprocess.run(
        [*program, "-nx", "--batch", "--keep-going", *words, file],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    assert run.stdout.splitlines() == said
    assert len(commands) >= 3


@pytest.mark.parametrize("block", _blocks("python"))
def test_the_python_of_the_page(block: str) -> None:
    shutil.copy(ROOT / "examples" / "fold.mlir", ".")
    run = subprocess.run([sys.executable, "-c", block], check=True, capture_output=True, text=True)
    assert run.stdout.startswith("5 [")
