"""Printing and colouring: a function of 10,000 operations, a module of 100 MB."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from pygments.token import Error

import actiondbg
from actiondbg.ir.lexer import MlirLexer, colorize
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import PIPELINE, many_functions, one_function
from scripts.benchmarks.memory import resident_peak
from scripts.benchmarks.wall_time import seconds


def _tools_own_print(path: str, source: Path) -> float:
    """Return the time in seconds in which the tool prints its output."""
    times: list[float] = []
    for _ in range(5):
        run = subprocess.run(
            [path, str(source), "-o", "/dev/null", "--mlir-timing", "--mlir-disable-threading"],
            capture_output=True,
            text=True,
            check=True,
        )
        found = re.search(r"^\s*([0-9.]+)\s.*\bOutput$", run.stderr, re.MULTILINE)
        if found is None:
            raise SystemExit(f"--mlir-timing tells no Output:\n{run.stderr}")
        times.append(float(found[1]))
    return min(times)


def _print_function(session: actiondbg.Session) -> int:
    printed = session.ir.print("function")
    text = printed.text
    printed.close()
    return len(text)


def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows: name, figure, bar."""
    path = str(find_tool(tool).path)
    source = one_function(directory / "function.mlir", 1000 if quick else 10_000)
    own = _tools_own_print(path, source)
    with actiondbg.launch([path, str(source), "--cse"]) as session:
        session.start()
        session.cursor.move("symbol", name="big")
        ours = min(seconds(lambda: _print_function(session)) for _ in range(9))
    yield (
        f"print function of 10,000 operations, against the tool's own {own * 1000:.0f} ms",
        f"{ours / own:.2f}",
        "1.2",
    )
    lowered = many_functions(directory / "colour.mlir", 20 if quick else 1000)
    text = subprocess.run(
        [path, str(lowered), f"--pass-pipeline={PIPELINE}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    errors = sum(kind in Error for kind, _ in MlirLexer().get_tokens(text))
    speed = len(text) / 1e6 / min(seconds(lambda: colorize(text)) for _ in range(3))
    yield (f"colouring {len(text) / 1e6:.1f} MB: MB/s", f"{speed:.1f}", "at least 1")
    yield ("error tokens in it", str(errors), "0")
    yield from _big_module(path, directory, quick)


def _big_module(path: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    source = many_functions(directory / "module.mlir", 1000 if quick else 126_000)
    with actiondbg.launch([path, str(source), "--pass-pipeline=builtin.module(cse)"]) as session:
        session.start()
        assert session.target.pid is not None
        before = resident_peak(session.target.pid), resident_peak("self")
        target = directory / "printed.mlir"
        with target.open("wb") as file:
            session.ir.print("module").copy_to(file)
        after = resident_peak(session.target.pid), resident_peak("self")
        size = target.stat().st_size
    target.unlink()
    source.unlink()
    yield (
        f"print module of {size / 1e6:.0f} MB into a file: added to the tool, to the debugger",
        f"{after[0] - before[0]:.0f} MB, {after[1] - before[1]:.0f} MB",
        "200 MB",
    )
