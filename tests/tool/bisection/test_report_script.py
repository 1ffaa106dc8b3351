"""The pipeline of a real tool, which a reproducer needs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from actiondbg.analysis.textual_pipelines import dumped_pipelines, parse_pipeline

# --- pipelines ----------------------------------------------------------------------------


def test_tool_reports_its_pipeline(mlir_opt: str, tmp_path: Path) -> None:
    argv = [mlir_opt, "--canonicalize", "--cse", "--dump-pass-pipeline", "-o", "/dev/null"]
    done = subprocess.run(argv, input="module {}", capture_output=True, text=True, check=True)
    [pipeline] = dumped_pipelines(f"warning: first\n{done.stderr}")
    element = parse_pipeline(pipeline)
    assert element is not None and element.name == "builtin.module"
    assert [one.name for one in element.inner or ()] == ["canonicalize", "cse"]
    again = subprocess.run(
        [mlir_opt, f"--pass-pipeline={element}"], input="module {}", capture_output=True, text=True
    )
    assert again.returncode == 0, again.stderr
