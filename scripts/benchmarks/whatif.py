"""Alternatives from a stop in the middle of a run, against as many cold runs of the stock tool."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import actiondbg
from actiondbg import whatif
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import PIPELINE, many_functions
from scripts.benchmarks.wall_time import best_of

_COUNT = 20
# Of upstream's lowering of linear algebra, for an input that the user names.
_OPTIMIZE = (
    "builtin.module(func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),"
    "canonicalize,cse)"
)


def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows: name, figure, bar.

    ACTIONDBG_BENCH_LINALG may name a file of linalg on tensors, such as an exported model.
    """
    given = os.environ.get("ACTIONDBG_BENCH_LINALG")
    source = directory / (Path(given).name if given else "f.mlir")
    if given:
        source.symlink_to(Path(given).absolute())
    else:
        many_functions(source, 20 if quick else 200)
    pipeline = _OPTIMIZE if given else PIPELINE
    path = os.fspath(find_tool(tool).path)
    argv = [path, os.fspath(source), f"--pass-pipeline={pipeline}"]
    alternatives = _alternatives(argv)
    stock = [*argv, "--mlir-disable-threading", "-o", os.fspath(directory / "stock.mlir")]
    with actiondbg.launch(argv) as session:
        actions = session.run().actions or 0
        session.start()
        session.advance(f"#{actions // 2}")
        found: list[whatif.AlternativesComparison] = []

        def compare() -> None:
            found.append(whatif.compare(session, alternatives))

        def cold() -> None:
            for _ in range(_COUNT):
                subprocess.run(stock, check=True)

        taken = best_of(1 if quick else 5, cold=cold, forks=compare)
        for one in found:
            if len(one.rows) != _COUNT + 1 or one.rows[0].status != 0:
                raise SystemExit(f"the comparison failed: {one.rows}")
            one.close()
    yield (
        f"whatif, {_COUNT} alternatives from the middle of {actions:,} actions ({source.name}), "
        f"wall against {_COUNT} cold runs ({taken['cold']:.2f} s)",
        f"{taken['forks'] / taken['cold']:.2f}",
        "0.7",
    )


def _alternatives(argv: list[str]) -> list[str]:
    """Return alternatives of each form: the busiest patterns off and on, passes appended."""
    with actiondbg.launch(argv, stdout=os.devnull) as session:
        session.run()
        rows = session.past.statistics("pattern")
    rows.sort(key=lambda row: -row.attempts)
    names = [row.name for row in rows if " " not in row.name][:8]
    found = [f"pattern:{name} off" for name in names[:7]]
    found += [f"pattern:{name} on" for name in names[:5]]
    found += [f"benefit {name} 7" for name in names[:3]]
    found += [f"append {name}" for name in ("cse", "canonicalize", "sccp", "symbol-dce", "inline")]
    return found[:_COUNT]
