"""How long a sweep of 100 dispatches takes, at first and when all is up to date."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.benchmarks.wall_time import seconds

_COMMAND = Path(sys.executable).with_name("actiondbg")
# 25 shapes with 4 configurations each, multiples of nothing in particular.
_SIZES = ["--problem-m", "40:240:40", "--problem-n", "50:300:50", "--problem-k", "100"]


def measure(folder: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield rows: what was measured, the figure, and the bar."""
    sizes = ["--problem-m", "40", "--problem-n", "50", "--problem-k", "100"] if quick else _SIZES
    line = [str(_COMMAND), "kernels", "run", "--generated-dir", str(folder), "--quiet"]
    line += ["--operation-kind", "matmul", "--profiling-enabled=false", *sizes]
    first = seconds(lambda: subprocess.run(line, check=True))
    count = len(list(folder.glob("generated/linalg/*/*/*/compiled.json")))
    again = seconds(lambda: subprocess.run(line, check=True))
    yield f"{count} matmuls generated, compiled and verified, s", f"{first:.1f}", "90 for 100"
    yield "the same again, up to date, s", f"{again:.2f}", "2"
