"""Inputs whose output tells which candidates were applied, so that any verdict can be made up."""

from __future__ import annotations

import re
from pathlib import Path

from actiondbg.bisection.verdict import Verdict

_FUNCTION = """\
func.func @f{n}(%a: i32) -> i32 {{
  %c0 = arith.constant 0 : i32
  %x = arith.addi %a, %c0 : i32
  return %x : i32
}}
"""
_PARTS = re.compile(r"func\.func @f(\d+)\(")


def write_folds(path: Path, count: int) -> str:
    """Write functions f0, f1, ...; canonicalize folds one addition in each, in this order."""
    path.write_text("".join(_FUNCTION.format(n=n) for n in range(count)))
    return str(path)


def folded(output: Path) -> list[int]:
    """Return the numbers of the functions in an output whose addition was folded."""
    _, *parts = _PARTS.split(output.read_text())
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return sorted(int(number) for number, text in pairs if "addi" not in text)


def verdict_of(bad: bool) -> Verdict:
    return "bad" if bad else "good"
