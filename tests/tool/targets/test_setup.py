"""scripts/setup-tools and scripts/test, where they refuse."""

from __future__ import annotations

import subprocess

from tests.paths import ROOT
from tests.tool.targets.targets import TARGETS


def test_an_unknown_compiler_is_refused_with_the_known_ones() -> None:
    script = ROOT / "scripts" / "setup-tools"
    done = subprocess.run([script, "no-such"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "there is no tool no-such, only catalyst debian19 inspector iree" in done.stderr


def test_each_compiler_has_its_versions() -> None:
    installed = {path.stem for path in (ROOT / "scripts" / "tools").glob("*.txt")}
    # The last two have tests of their own.
    assert installed == TARGETS.keys() - {"mlir-opt"} | {"inspector", "iree-aarch64"}
