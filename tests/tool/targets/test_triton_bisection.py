"""The bisection of a Triton program, and its reproducer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import actiondbg
from tests.paths import ROOT
from tests.tool.targets.targets import TARGETS, TOOLS

pytestmark = [*TARGETS["triton"].marks]

PYTHON = str(TOOLS / "triton/bin/python")


def test_a_reproducer_runs_the_program_with_skips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pattern that makes tensor core instructions is taken for the bug."""
    monkeypatch.chdir(tmp_path)
    result = actiondbg.bisect(
        [PYTHON, str(ROOT / "examples/matmul.py")],
        "grep -q '^0 mma' {}",
        name="*::BlockedToMMA",
        output="out",
    )
    assert result.culprit is not None, result.message
    assert result.culprit.pass_name == "tritongpu-accelerate-matmul"
    assert result.reproducer_verified, result.notes
    before = Path("out/before-pass.mlir").read_text()
    assert "tt.dot" in before and "nvidia_mma" not in before
    assert any("--pass-pipeline" in note for note in result.notes)
    # A kernel in the cache would be neither good nor bad.
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache"), "KEEP": "kept"}
    for _ in range(2):
        done = subprocess.run(
            ["sh", "out/repro.sh"], capture_output=True, text=True, env=environment
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert Path("kept/1.out").read_text() == "4 mma.sync, 0 fma.rn\n"
        assert Path("kept/2.out").read_text() == "0 mma.sync, 256 fma.rn\n"
    script = Path("out/repro.sh").read_text()
    assert "TRITON_ALWAYS_COMPILE=1" in script and "with_skips verdict.skips" in script
