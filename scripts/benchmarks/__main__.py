"""Run the benchmarks and print their table; see scripts/bench."""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
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
    validation,
    whatif,
)
from scripts.benchmarks.results import PAGE, StoredResults, misses, with_table

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
    "validate": validation.measure,
}


def main() -> int:
    """Measure and print; return the exit status: 1 if a figure is beyond its bar."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--tool", default="mlir-opt", help="the mlir-opt to measure with")
    parser.add_argument("--quick", action="store_true", help="small inputs: does it run at all?")
    parser.add_argument("--store", action="store_true", help="add the figures to docs/performance")
    parser.add_argument("--table", action="store_true", help="only write the table anew")
    parser.add_argument("only", nargs="*", metavar="GROUP", help=f"of {', '.join(_MEASURES)}")
    options = parser.parse_args()
    unknown = set(options.only) - set(_MEASURES)
    if unknown:
        parser.error(f"there is no group {', '.join(sorted(unknown))}")
    machine = f"{os.cpu_count()} cores, {datetime.date.today().isoformat()}"
    stored = StoredResults()
    if options.table:
        PAGE.write_text(with_table(PAGE.read_text(), stored.table()))
        return 0
    missed: list[str] = []
    print(f"| measured ({machine}) | figure | bar |\n|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="actiondbg-bench-") as directory:
        for name, measure in _MEASURES.items():
            if options.only and name not in options.only:
                continue
            rows: list[tuple[str, str, str]] = []
            for row in measure(options.tool, Path(directory), options.quick):
                print(f"| {' | '.join(row)} |", flush=True)
                rows.append(row)
                missed += [row[0]] if misses(*row[1:]) else []
            stored.add(name, rows, machine)
    if shutil.which("gdb") is None:
        print("gdb is not installed: its rows are left out.", file=sys.stderr)
    if options.store:
        stored.save()
        PAGE.write_text(with_table(PAGE.read_text(), stored.table()))
    for name in missed:
        print(f"beyond its bar: {name}", file=sys.stderr)
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
