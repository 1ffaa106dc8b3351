"""Compare lineages of random programs with planted constants, with seeds that are new each time.

python -m scripts.lineage_truth --count 20
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from actiondbg.tool import find_tool
from tests.fakes.lineage.planted_dispatches import PASSES, measured_up_to
from tests.fakes.lineage.planted_programs import KINDS, TENSORS
from tests.fakes.lineage.planted_runs import Measured, measured
from tests.fakes.lineage.planted_truth import NOTHING, Locations

_LOCATIONS: tuple[Locations, ...] = ("own", "one line", "unknown")
_LEAST = {"own": 0.99, "one line": 0.95, "unknown": 0.99}  # the precision of all evidence
_HEADER = """\
| pipeline | locations | uses | --exact: precision | recall | all: precision | recall |
|---|---|---|---|---|---|---|"""


Measure = Callable[[int, Locations, Path], Measured]  # with a seed, and a folder


def _of_mlir_opt(tool: str) -> Iterator[tuple[str, Measure]]:
    for kind in KINDS:
        yield kind.name, partial(measured, tool, kind)


def _of_iree() -> Iterator[tuple[str, Measure]]:
    for after in PASSES:
        yield after, partial(measured_up_to, after, TENSORS)


def main() -> int:
    """Measure; print a table, and the seeds of wrong lineages. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.lineage_truth", description=__doc__)
    parser.add_argument("--tool", default="mlir-opt", help="the mlir-opt to run")
    parser.add_argument("--count", type=int, default=5, help="the number of programs of each kind")
    parser.add_argument("--seed", type=int, help="the first seed, to repeat a run")
    parser.add_argument("--only", default="", help="a part of the names of pipelines")
    parser.add_argument("--iree", action="store_true", help="compile with iree-compile instead")
    options = parser.parse_args()
    first = random.randrange(1 << 30) if options.seed is None else options.seed
    print(f"seeds {first} to {first + options.count - 1}\n\n{_HEADER}")
    ways = _of_iree() if options.iree else _of_mlir_opt(os.fspath(find_tool(options.tool).path))
    wrong = False
    for name, measure in ways:
        for locations in _LOCATIONS if options.only in name else ():
            every = Measured(NOTHING, NOTHING)
            for seed in range(first, first + options.count):
                with tempfile.TemporaryDirectory(prefix="actiondbg-truth-") as folder:
                    found = measure(seed, locations, Path(folder))
                every = Measured(every.exact + found.exact, every.default + found.default)
                if found.exact.wrong or found.default.precision < _LEAST[locations]:
                    wrong = True
                    print(f"{name}, seed {seed}: {found.default.wrong}", file=sys.stderr)
            figures = [f"{part:.4f}" for one in every for part in (one.precision, one.recall)]
            cells = (name, locations, f"{every.exact.planted:,}", *figures)
            print(f"| {' | '.join(cells)} |", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
