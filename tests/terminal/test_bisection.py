"""``actiondbg bisect`` in a terminal."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pexpect
import pytest

from tests.conftest import LIBRARY
from tests.fakes.folds import write_folds
from tests.paths import COMMAND

BUILDS = LIBRARY

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
    process.expect("0:00:0[0-9].*the search: .* trials.*, about .* to go")
    process.expect("Found: #")
    process.expect(re.escape("\x1b[32m+  return %arg0 : i32"))
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 0


def test_the_diff_ends_after_a_screen(mlir_opt: str, tmp_path: Path) -> None:
    additions = "".join(
        f'  %{n + 1} = arith.addi %{n}, %{n} {{note = "{"long " * 15}"}} : i32\n' for n in range(60)
    )
    source = tmp_path / "unused.mlir"
    source.write_text(
        "func.func private @unused(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n"
        f"{additions}  return %60 : i32\n}}\nfunc.func @used() {{ return }}\n"
    )
    words = ["bisect", "--test", "grep -q @unused {}", "--", mlir_opt, str(source), "--symbol-dce"]
    rows, columns = 30, 80
    process: pexpect.spawn[str] = pexpect.spawn(
        COMMAND,
        words,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "TERM": "xterm"},
        cwd=tmp_path,
        dimensions=(rows, columns),
    )
    process.expect("Found: #")
    process.expect(pexpect.EOF)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", "Found: #" + (process.before or ""))
    lines = text.replace("\r", "").rstrip("\n").split("\n")
    assert sum(max(1, -(-len(line) // columns)) for line in lines) < rows
    assert any(line.startswith("-  func.func private @unused") for line in lines)
    (more,) = [line for line in lines if line.startswith("... and ")]
    assert re.fullmatch(r"\.\.\. and \d+ more lines in \S+/report\.md", more)
    assert any(line.startswith("Reproducer:") for line in lines)
