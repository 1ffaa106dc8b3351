"""Compare lineages of random programs with planted constants, with seeds that are new each time.

python -m scripts.lineage_truth --count 20
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from actiondbg.tool import find_tool
from tests.fakes.lineage.planted_programs import KINDS
from tests.fakes.lineage.planted_runs import Measured, measured
from tests.fakes.lineage.planted_truth import NOTHING, Locations

_LOCATIONS: tuple[Locations, ...] = ("own", "one line", "unknown")
_LEAST = {"own": 0.99, "one line": 0.95, "unknown": 0.99}  # the precision of all evidence
_HEADER = """\
| pipeline | locations | uses | --exact: precision | recall | all: precision | recall |
|---|---|---|---|---|---|---|"""


def main() -> int:
    """Measure; print a table, and the seeds of wrong lineages. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.lineage_truth", description=__doc__)
    parser.add_argument("--tool", default="mlir-opt", help="the mlir-opt to run")
    parser.add_argument("--count", type=int, default=5, help="the number of programs of each kind")
    parser.add_argument("--seed", type=int, help="the first seed, to repeat a run")
    parser.add_argument("--only", default="", help="a part of the names of pipelines")
    options = parser.parse_args()
    tool = os.fspath(find_tool(options.tool).path)
    first = random.randrange(1 << 30) if options.seed is None else options.seed
    print(f"seeds {first} to {first + options.count - 1}\n\n{_HEADER}")
    wrong = False
    for kind in KINDS:
        for locations in _LOCATIONS if options.only in kind.name else ():
            every = Measured(NOTHING, NOTHING)
            for seed in range(first, first + options.count):
                with tempfile.TemporaryDirectory(prefix="actiondbg-truth-") as folder:
                    found = measured(tool, kind, seed, locations, Path(folder))
                every = Measured(every.exact + found.exact, every.default + found.default)
                if found.exact.wrong or found.default.precision < _LEAST[locations]:
                    wrong = True
                    print(f"{kind.name}, seed {seed}: {found.default.wrong}", file=sys.stderr)
            figures = [f"{part:.4f}" for one in every for part in (one.precision, one.recall)]
            cells = (kind.name, locations, f"{every.exact.planted:,}", *figures)
            print(f"| {' | '.join(cells)} |", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
