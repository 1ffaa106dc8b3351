"""Random lit suites, and which processes of MLIR tools each RUN line starts."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_PASSES = ("cse", "canonicalize", "sccp", "symbol-dce", "control-flow-sink")
_FUNCTION = """\
func.func @f{number}(%a: i32) -> i32 {{
  %c1 = arith.constant {number} : i32
  %x = arith.addi %a, %c1 : i32
  %y = arith.addi %x, %c1 : i32
  return %y : i32
}}
"""


class PlantedRun(NamedTuple):
    """A process of mlir-opt.

    Args:
        test: the file name of its test.
        line: the line of its RUN line.
        status: its exit status.
        passes: how often passes run in it.
    """

    test: str
    line: int
    status: int
    passes: int


class _Line(NamedTuple):
    """A RUN line.

    Args:
        text: the command; it may have line breaks.
        runs: of each process, its status and its passes by chunk.
    """

    text: str
    runs: tuple[tuple[int, int], ...]


def write_random_suite(folder: Path, seed: int, tests: int) -> list[PlantedRun]:
    """Write tests into a folder; return the processes that they start, in no order."""
    chance = random.Random(seed)
    return [run for number in range(tests) for run in _write_test(folder, number, chance)]


def _write_test(folder: Path, number: int, chance: random.Random) -> list[PlantedRun]:
    name = chance.choice(("fold", "a b", "sub.case", "x-y")) + f"-{number}.mlir"
    chunks = chance.choice((1, 1, 2, 3))
    comments: list[str] = []
    runs: list[PlantedRun] = []
    for each in range(chance.randint(1, 3)):
        # An option that no other line has, so that a line is known by its words.
        words = f"--mlir-print-op-generic --mlir-elide-elementsattrs-if-larger={number + each + 1}"
        first = len(comments) + 1
        line = chance.choice(_KINDS)(words, chance, chunks)
        comments += [f"// RUN: {part}" for part in line.text.split("\n")]
        runs += [PlantedRun(name, first, status, passes) for status, passes in line.runs]
        comments += ["// CHECK: func"] * chance.randint(0, 1)
    comments.append("// CHECK: func")
    code = "// -----\n".join(_FUNCTION.format(number=one + 1) for one in range(chunks))
    (folder / name).write_text("\n".join(comments) + "\n" + code)
    return runs


def _pass(chance: random.Random) -> str:
    return chance.choice(_PASSES)


def _file(words: str, chance: random.Random, _: int) -> _Line:
    return _Line(f'mlir-opt "%s" {words} --{_pass(chance)} -o "%t"', ((0, 1),))


def _standard_input(words: str, chance: random.Random, _: int) -> _Line:
    return _Line(f'mlir-opt --{_pass(chance)} {words} < "%s" > "%t"', ((0, 1),))


def _continued(words: str, chance: random.Random, _: int) -> _Line:
    text = f'mlir-opt "%s" \\\n  --{_pass(chance)} \\\n  {words} > "%t"'
    return _Line(text, ((0, 1),))


def _quoted(words: str, chance: random.Random, _: int) -> _Line:
    pipeline = f"builtin.module({_pass(chance)}, sccp, {_pass(chance)})"
    text = f'mlir-opt "%s" {words} --pass-pipeline="{pipeline}" | FileCheck "%s"'
    return _Line(text, ((0, 3),))


def _split(words: str, chance: random.Random, chunks: int) -> _Line:
    text = f'mlir-opt "%s" --split-input-file {words} --{_pass(chance)} | FileCheck "%s"'
    return _Line(text, ((0, chunks),))


def _refused(words: str, _: random.Random, __: int) -> _Line:
    pipeline = "builtin.module(cse{no-such-option=1})"
    return _Line(f"not mlir-opt \"%s\" {words} --pass-pipeline='{pipeline}'", ((1, 0),))


def _failing(words: str, chance: random.Random, _: int) -> _Line:
    text = 'echo "func.func @f() -> i32 { return }" > "%t.bad" \\\n'
    return _Line(f'{text} && not mlir-opt "%t.bad" {words} --{_pass(chance)}', ((1, 0),))


def _pipeline(words: str, chance: random.Random, _: int) -> _Line:
    text = f'mlir-opt "%s" --{_pass(chance)} | mlir-opt --{_pass(chance)} {words} | FileCheck "%s"'
    return _Line(text, ((0, 1), (0, 1)))


def _from_cat(words: str, chance: random.Random, _: int) -> _Line:
    return _Line(f'cat "%s" | mlir-opt {words} --{_pass(chance)} > "%t"', ((0, 1),))


def _environment(words: str, chance: random.Random, _: int) -> _Line:
    text = f'env A=1 B="x y" mlir-opt "%s" {words} --{_pass(chance)} -o "%t" && test -e "%t"'
    return _Line(text, ((0, 1),))


def _subshell(words: str, chance: random.Random, _: int) -> _Line:
    text = f'bash -c \'for i in 1 2; do mlir-opt "%s" --{_pass(chance)} {words} > "%t.$i"; done\''
    return _Line(text, ((0, 1), (0, 1)))


def _nothing(_: str, __: random.Random, ___: int) -> _Line:
    return _Line('mlir-opt --version > "%t"', ())


_KINDS: tuple[Callable[[str, random.Random, int], _Line], ...] = (
    _file,
    _standard_input,
    _continued,
    _quoted,
    _split,
    _refused,
    _failing,
    _pipeline,
    _from_cat,
    _environment,
    _subshell,
    _nothing,
)
