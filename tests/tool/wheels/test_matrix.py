"""Wheels with an MLIR of their own: scripts/test --wheels."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording import open_recording
from tests.paths import INPUTS, ROOT

LINES = (ROOT / "scripts/tools/wheels.txt").read_text().splitlines()
NAMES = [line.split()[0] for line in LINES if line and not line.startswith("#")]
pytestmark = pytest.mark.all_tools


@pytest.fixture(params=NAMES)
def command(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """A Python with the wheel, and a program that compiles with it."""
    name = str(request.param)
    python = ROOT / ".venv-tools/wheels" / name / "bin/python"
    if not (python.parent.parent / "installed").exists():
        pytest.skip(f"scripts/setup-wheels {name} installs it")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    return [str(python), str(INPUTS / "wheels" / f"{name.split('-')[0]}_program.py")]


def _plain(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_program_is_recorded(command: list[str], tmp_path: Path) -> None:
    """The program does what it does alone, and something was seen."""
    alone = _plain(command)
    file = tmp_path / "run.adbrec"
    record = [str(ROOT / ".venv/bin/actiondbg"), "record", "-o", str(file), "--", *command]
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    done = subprocess.run(record, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, alone)
    assert open_recording(file).count > 0


def test_a_program_is_debugged(command: list[str]) -> None:
    """It stops at a pass, which has IR and a stack, and ends as without one skipped."""
    with actiondbg.launch(command) as session:
        first = session.breakpoints.add("pass:*", temporary=True)
        stop = session.run()
        assert (stop.reason, first.id) == ("breakpoint", 1)
        assert session.stack[0].ordinal == stop.ordinal
        assert "module" in session.ir.print("module").text
        stop = session.next()
        assert stop.when == "after"
        session.breakpoints.add("pass:*", temporary=True)
        stop = session.continue_()
        if stop.status is None:
            stop = session.skip()
        while stop.status is None:
            stop = session.continue_()
        assert stop.status == 0
