"""Texts without what has no meaning."""

from __future__ import annotations

import random
import re

import pytest

from actiondbg.ir.canonical import canonical

FUNCTION = """\
  func.func @f(%arg0: i32, %arg1: memref<4xi32>) -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7_i32 = arith.constant 7 : i32
    %0 = arith.subi %arg0, %c7_i32 : i32
    memref.store %0, %arg1[%c0] : memref<4xi32>
    %1:2 = scf.for %arg2 = %c0 to %c1 step %c1 iter_args(%arg3 = %0, %arg4 = %arg0) -> (i32, i32) {
      %c7_i32_0 = arith.constant 7 : i32
      %3 = arith.muli %arg3, %0 : i32
      %4 = arith.addi %3, %c7_i32_0 : i32
      memref.store %4, %arg1[%arg2] : memref<4xi32>
      scf.yield %4, %arg4 : i32, i32
    }
    %2 = arith.addi %1#0, %1#1 : i32
    cf.br ^bb1(%2 : i32)
  ^bb1(%5: i32):  // pred: ^bb0
    return %5 : i32
  }
"""
PURE = re.compile(r" +%\w+ = arith\.(\w+)")


def renamed(text: str, chance: random.Random) -> str:
    """The text with other names of all values."""
    names = sorted(set(re.findall(r"%\w+", text)))
    others = [f"%v{number}" for number in range(len(names))]
    chance.shuffle(others)
    by_name = dict(zip(names, others, strict=True))
    return re.sub(r"%\w+", lambda match: by_name[match[0]], text)


def shuffled(text: str, chance: random.Random) -> str:
    """The text with neighbouring operations of arith exchanged, where neither uses the other."""
    lines = text.splitlines(keepends=True)
    for _ in range(200):
        at = chance.randrange(len(lines) - 1)
        first, second = lines[at : at + 2]
        if PURE.match(second) is None or re.search(r"\{$|^ *\}|\^", first, re.M):
            continue
        defined = re.findall(r"%\w+", first.partition(" = ")[0])
        if not set(defined) & set(re.findall(r"%\w+", second)):
            lines[at : at + 2] = second, first
    return "".join(lines)


@pytest.mark.parametrize("seed", range(20))
def test_names_and_the_order_of_pure_operations_have_no_meaning(seed: int) -> None:
    chance = random.Random(seed)
    other = renamed(shuffled(FUNCTION, chance), chance)
    assert other != FUNCTION
    assert canonical(other) == canonical(FUNCTION)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("arith.constant 1 :", "arith.constant 2 :"),
        ("arith.subi %arg0, %c7_i32", "arith.subi %c7_i32, %arg0"),
        ("arith.muli %arg3, %0", "arith.muli %arg3, %arg4"),
        ("scf.yield %4, %arg4", "scf.yield %arg4, %4"),
        ("%1#0, %1#1", "%1#1, %1#0"),
        ("%arg1[%c0]", "%arg1[%c1]"),
        ("step %c1", "step %c0"),
        ("iter_args(%arg3 = %0, %arg4 = %arg0)", "iter_args(%arg3 = %arg0, %arg4 = %0)"),
        ("return %5", "return %2"),
        ("    %c7_i32 = arith.constant 7 : i32\n", ""),
        ("@f(%arg0: i32, %arg1: memref<4xi32>)", "@f(%arg1: memref<4xi32>, %arg0: i32)"),
    ],
)
def test_what_has_a_meaning_differs(old: str, new: str) -> None:
    mutant = FUNCTION.replace(old, new)
    assert mutant != FUNCTION
    assert canonical(mutant) != canonical(FUNCTION)
    assert canonical(renamed(mutant, random.Random(3))) == canonical(mutant)


def test_the_order_of_other_operations_has_a_meaning() -> None:
    stores = (
        "    memref.store %a, %m[%i] : memref<4xi32>\n",
        '    "test.effect"(%i) : (index) -> ()\n',
    )
    assert canonical("".join(stores)) != canonical("".join(reversed(stores)))


def test_a_use_before_the_definition() -> None:
    """As in a graph region: the definition has a name before its line comes."""
    text = "  %1 = test.op %0 : i32\n  %0 = arith.constant 1 : i32\n"
    assert canonical(text) != canonical(text.replace("constant 1", "constant 2"))
