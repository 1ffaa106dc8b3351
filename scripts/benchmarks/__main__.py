"""Run the benchmarks and print their table; see scripts/bench."""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.benchmarks import (
    against_gdb,
    bisection,
    ir,
    memory,
    outcomes,
    overhead,
    recording,
    time_travel,
    tools,
    whatif,
)


@dataclass(frozen=True)
class Row:
    """A row of the table: the measurement and its bound."""

    name: str
    figure: str
    bar: str


Measure = Callable[[str, Path, bool], Iterator[tuple[str, str, str]]]
_MEASURES: dict[str, Measure] = {
    "running": overhead.measure,
    "outcomes": outcomes.measure,
    "gdb": against_gdb.measure,
    "printing": ir.measure,
    "memory": memory.measure,
    "back": time_travel.measure,
    "bisect": bisection.measure,
    "whatif": whatif.measure,
    "recording": recording.measure,
    "tools": tools.measure,
}


def main() -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--tool", default="mlir-opt", help="the mlir-opt to measure with")
    parser.add_argument("--quick", action="store_true", help="small inputs: does it run at all?")
    parser.add_argument("only", nargs="*", metavar="GROUP", help=f"of {', '.join(_MEASURES)}")
    options = parser.parse_args()
    unknown = set(options.only) - set(_MEASURES)
    if unknown:
        parser.error(f"there is no group {', '.join(sorted(unknown))}")
    machine = f"{os.cpu_count()} cores, {datetime.date.today().isoformat()}"
    print(f"| measured ({machine}) | figure | bar |\n|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="actiondbg-bench-") as directory:
        for name, measure in _MEASURES.items():
            if options.only and name not in options.only:
                continue
            for row in measure(options.tool, Path(directory), options.quick):
                print(f"| {' | '.join(row)} |", flush=True)
    if shutil.which("gdb") is None:
        print("gdb is not installed: its rows are left out.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
