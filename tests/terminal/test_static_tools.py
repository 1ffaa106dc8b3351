"""The shell over a tool with MLIR in it: Debian's mlir-opt 19."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.terminal import Terminal, end, environment_in
from tests.tool.targets.targets import TARGETS

debian19 = TARGETS["debian19"]


@pytest.mark.all_tools
@pytest.mark.skipif(debian19.missing is not None, reason=debian19.missing or "")
def test_a_session(folds: str, tmp_path: Path) -> None:
    tool = str(debian19.programs["mlir-opt"])
    shell = Terminal([tool, folds, "--canonicalize"], environment_in(tmp_path, PAGER="cat"))
    try:
        shell.ready()
        shell.do("break pattern:AddIAddConstant if line == 7")
        assert "stopped before #13 apply-pattern (AddIAddConstant) in @sum" in shell.do("run")
        assert "-->  @7   %z = arith.addi" in shell.do("around 2")
        assert "replaced  @7 arith.addi by @18 arith.addi" in shell.do("next")
        assert "+  %c7_i32 = arith.constant 7 : i32" in shell.do("diff")
        assert "stopped before #13" in shell.do("reverse-step").lower()
        assert "stopped before #45 apply-pattern (AddIAddConstant)" in shell.do("skip")
        shell.do("delete 1")
        assert "The tool ended with status 0" in shell.do("continue")
        assert "skips #13 apply-pattern (AddIAddConstant)" in shell.do("info timeline")
    finally:
        end(shell.child)
