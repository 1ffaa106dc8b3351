"""Measure kernels; see scripts/bench-kernels."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from pathlib import Path

_GROUPS = ["sweeps", "speed", "agreement", "counting"]


def main() -> int:
    """Measure and print; returns the exit status."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
    from scripts.benchmarks.kernels import agreement, counting, speed, sweeps

    measures = {
        "sweeps": sweeps.measure,
        "speed": speed.measure,
        "agreement": agreement.measure,
        "counting": counting.measure,
    }
    parser = argparse.ArgumentParser(prog="scripts/bench-kernels", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs: does it run at all?")
    parser.add_argument("only", nargs="*", choices=[[], *_GROUPS], metavar="GROUP")
    options = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {datetime.date.today().isoformat()}"
    print(f"| measured ({machine}) | figure | bar |\n|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="actiondbg-bench-") as name:
        for group in options.only or _GROUPS:
            for row in measures[group](Path(name) / group, options.quick):
                print(f"| {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
