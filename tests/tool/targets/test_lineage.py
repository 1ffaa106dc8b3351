"""The lineage of programs that compile several kernels, each in a context of its own."""

from __future__ import annotations

from pathlib import Path

from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.recording import open_recording
from tests.fakes import command_line
from tests.paths import INPUTS
from tests.tool.targets.targets import TARGETS, TOOLS

TRITON = TARGETS["triton"]
pytestmark = [*TRITON.marks]


def test_the_input_has_each_kernel_whole(tmp_path: Path) -> None:
    """Triton folds while it builds a kernel, which is not its input yet."""
    kernels = INPUTS / "tools/triton/kernels.py"
    python = str(TOOLS / "triton/bin/python")
    command = ["record", "--lineage", "-o", "run.adbrec", "--", python, str(kernels)]
    command_line.run(*command, "softmax", "matmul", cwd=tmp_path, env=TRITON.env(), check=True)
    recording = open_recording(tmp_path / "run.adbrec")
    inputs = [stage.text for stage in recording.stages if stage.kind == "input"]
    assert len(inputs) == 2
    assert all(name in text for name, text in zip(("@softmax", "@matmul"), inputs, strict=True))
    assert all("tt.return" in text and "tt.store" in text for text in inputs)
    first = RecordedLineage(recording).stages[0]
    assert {"tt.dot", "tt.reduce"} <= set(first.names)
