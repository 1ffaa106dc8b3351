"""IR that proves no layout: an empty module, and a region without blocks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from actiondbg.recording import open_recording
from tests.paths import COMMAND
from tests.tool.targets.targets import TARGETS

TOOLS = {
    "mlir-opt": "mlir-opt",
    "debian19": "mlir-opt",
    "iree": "iree-opt",
    "torch-mlir": "torch-mlir-opt",
}
DECLARATION = ("--no-implicit-module", "--pass-pipeline=func.func(cse,canonicalize)")
# What follows an empty module is known as well.
SPLIT = "\n// -----\nfunc.func @f(%x: i32) -> i32 {\n  return %x : i32\n}\n"


@pytest.mark.parametrize(
    ("text", "options", "passes"),
    [
        ("", ("--cse", "--canonicalize"), 2),
        ("func.func private @f()\n", DECLARATION, 2),
        (SPLIT, ("--cse", "--split-input-file"), 2),
    ],
)
@pytest.mark.parametrize("name", [pytest.param(name, marks=TARGETS[name].marks) for name in TOOLS])
def test_output_and_actions(
    name: str, text: str, options: tuple[str, ...], passes: int, tmp_path: Path
) -> None:
    tool = str(TARGETS[name].programs[TOOLS[name]])
    (tmp_path / "in.mlir").write_text(text)
    words = [tool, "in.mlir", *options]

    def written(*command: str) -> tuple[int, str]:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    alone = written(*words)
    assert alone[0] == 0
    assert written(COMMAND, "record", "-q", "-o", "run.adbrec", "--", *words) == alone
    tags = open_recording(tmp_path / "run.adbrec").table("actions", ["tag"]).column("tag")
    assert tags.to_pylist().count("pass-execution") == passes
