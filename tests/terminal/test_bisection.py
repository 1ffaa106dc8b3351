"""``actiondbg bisect`` in a terminal."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pexpect
import pytest

from tests.fakes.folds import write_folds
from tests.paths import COMMAND

COUNT = 40
# Bad where the addition in @f24 was folded.
JUDGE = "grep -A2 '@f24(' {} | grep -q addi"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return write_folds(Path("folds.mlir"), COUNT)


# --- the command of the shell ----------------------------------------------------------------


def test_a_bar_is_shown_on_a_terminal(mlir_opt: str, source: str) -> None:
    # An oracle that takes as long as a real one: else the end comes before the bar is drawn.
    words = ["bisect", "--test", f"sleep 0.3; {JUDGE}", "--", mlir_opt, source, "--canonicalize"]
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": ""}
    process: pexpect.spawn[str] = pexpect.spawn(
        COMMAND, words, encoding="utf-8", timeout=60, env=environment, dimensions=(24, 120)
    )
    process.expect("the search: .* trials.*, about .* to go")
    process.expect("Found: #")
    process.expect(re.escape("\x1b[32m+  return %arg0 : i32"))
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 0
