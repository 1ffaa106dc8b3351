"""Measure lineages: how right they are, and what they cost; see scripts/bench-lineage."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from pathlib import Path

from actiondbg.tool import find_tool
from scripts.benchmarks.lineage import iree, speed, texts, truth
from scripts.benchmarks.lineage.pipelines import GENERATED, real_pipelines

_ROOT = Path(__file__).parents[3]
_COPIES = 20


def main() -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="scripts/bench-lineage", description=__doc__)
    parser.add_argument("--tool", default="mlir-opt", help="the mlir-opt to measure with")
    parser.add_argument(
        "--inputs", type=Path, metavar="DIR", help="real models, in linalg on tensors or TOSA"
    )
    parser.add_argument("--iree", action="store_true", help="with iree-compile, which it installs")
    parser.add_argument("--quick", action="store_true", help="small inputs: does it run at all?")
    parser.add_argument("only", nargs="*", choices=[[], "truth", "texts", "speed"], metavar="GROUP")
    options = parser.parse_args()
    tool = os.fspath(find_tool(options.tool).path)
    groups = options.only or ["truth", "texts", "speed"]
    wrong = False
    with tempfile.TemporaryDirectory(prefix="actiondbg-bench-") as name:
        directory = Path(name)
        if "truth" in groups:
            print(truth.HEADER)
            for pipeline in [*GENERATED, *real_pipelines(_ROOT, options.inputs)]:
                copies = 2 if options.quick else _COPIES
                row = truth.measured(tool, pipeline, directory, copies)
                wrong |= not row.is_good
                _print(row)
            if options.iree:
                for row in iree.measured(directory, 2 if options.quick else _COPIES):
                    wrong |= not row.is_good
                    _print(row)
        if "texts" in groups:
            print(texts.HEADER)
            for pipeline in [*GENERATED, *real_pipelines(_ROOT, options.inputs)]:
                copies = 2 if options.quick else _COPIES
                print(texts.measured(tool, pipeline, directory, copies), flush=True)
        if "speed" in groups:
            machine = f"{os.cpu_count()} cores, {datetime.date.today().isoformat()}"
            print(f"| measured ({machine}) | figure | bar |\n|---|---|---|")
            for figures in speed.measure(tool, directory, options.quick):
                print(f"| {' | '.join(figures)} |", flush=True)
    return int(wrong)


def _print(row: truth.Row) -> None:
    print(row.text, flush=True)
    for line in row.faults:
        print(f"  {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
