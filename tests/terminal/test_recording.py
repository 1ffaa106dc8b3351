"""``actiondbg record`` in a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pexpect

from tests.conftest import LIBRARY
from tests.paths import COMMAND

BUILDS = LIBRARY


def long_input(count: int = 20_000) -> str:
    function = "func.func @f{}(%x: i32) -> i32 {{\n  {}\n  return %x : i32\n}}\n"
    body = "\n  ".join(f"%c{i} = arith.constant {i} : i32" for i in range(10))
    Path("long.mlir").write_text("".join(function.format(n, body) for n in range(count)))
    return "long.mlir"


def recorded(mlir_opt: str, options: str, count: int) -> pexpect.spawn[str]:
    """Start a recording whose output is not on the terminal."""
    tool = f"{mlir_opt} {long_input(count)} --canonicalize --cse"
    words = f"{COMMAND} record -o run.adbrec {options} -- {tool} > out"
    return pexpect.spawn("sh", ["-c", words], encoding="utf-8", timeout=60)


def test_a_count_grows_on_a_terminal(mlir_opt: str, folds: str) -> None:
    process = recorded(mlir_opt, "", 40_000)
    counts: list[int] = []
    while process.expect([r"([\d,]+) actions? \(.*?\) \d+ s", r"in run.adbrec"]) == 0:
        assert isinstance(process.match, re.Match)
        counts.append(int(process.match.group(1).replace(",", "")))
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 0
    assert counts == sorted(counts) and counts[-1] > counts[0]
    assert Path("out").stat().st_size > 1_000_000


def test_a_quiet_recording_shows_no_count(mlir_opt: str, folds: str) -> None:
    process = recorded(mlir_opt, "--quiet", 20_000)
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 0
    assert process.before == ""
