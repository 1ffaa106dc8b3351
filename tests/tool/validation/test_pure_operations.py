"""Congruence takes for pure what MLIR erases if nobody uses it, and for free what it may hoist."""

from __future__ import annotations

import re
import subprocess

import pytest

from actiondbg.validation.interpreter import DIALECTS
from actiondbg.validation.machine import MEANINGS, TERMINATORS
from actiondbg.validation.pieces import is_free, is_pure
from actiondbg.validation.program import Operation, walk
from actiondbg.validation.program_reader import ProgramReader
from actiondbg.validation.scalar_operations import BY_NAME, ScalarOperation
from tests.conftest import LIBRARY
from tests.paths import INPUTS
from tests.scalar_cases import F32, Case, cases, has_cases

BUILDS = LIBRARY

EXAMPLES = (INPUTS / "unused_operations.mlir").read_text()
# Operations of memory and control, which are compared one by one, in their order.
_ORDERED = re.compile(
    r"(?:memref|bufferization|cf|scf)\..*|func\.call.*|llvm\.(?:call|br|cond_br|switch|unreachable)"
    r"|affine\.(?:for|if|parallel|load|store|prefetch|vector_load|vector_store)"
    r"|vector\.(?:load|store|maskedload|maskedstore|scatter|expandload|compressstore|type_cast)"
    r"|ub\.unreachable|cut\.copy|any operation .*"
)
# Erased, but not pure.
_KEPT = {
    "scf.forall": "a loop is compared with its body",
    "tensor.parallel_insert_slice": "it is erased with its loop",
    "llvm.freeze": "two frozen values of one poison value may differ",
}
# How many operands an approximated operation has, if it has several.
_OPERANDS = {"fma": 3, "atan2": 2, "powf": 2}


def _operations(text: str) -> dict[str, Operation]:
    """Return an operation of each name."""
    functions = ProgramReader().read(text).functions.values()
    return {each.name: each for one in functions for each in walk(one.operation)}


def _through(mlir_opt: str, option: str, text: str) -> str:
    """Return a program after a pass."""
    done = subprocess.run(
        [mlir_opt, option], input=text, capture_output=True, text=True, check=True
    )
    return done.stdout


def _scalar(name: str, operation: ScalarOperation) -> str:
    case = Case(name, [F32] * _OPERANDS.get(operation.name, 1), [F32])
    if has_cases(operation):
        case = next(each for each in cases(operation) if each.name == name)
    names = [f"%a{at}" for at in range(len(case.types))]
    arguments = [f"{each}: {type}" for each, type in zip(names, case.types, strict=True)]
    listed = [
        f"{key} = {'false' if value is False else f'{value} : i64'}"
        for key, value in case.attributes.items()
    ]
    attributes = f" <{{{', '.join(listed)}}}>" if listed else ""
    types, results = (", ".join(map(str, each)) for each in (case.types, case.results))
    return (
        f"func.func @{name.replace('.', '_')}({', '.join(arguments)}) {{\n"
        f'  %r = "{name}"({", ".join(names)}){attributes} : ({types}) -> {results}\n'
        "  return\n}\n"
    )


SCALARS = "".join(_scalar(*each) for each in BY_NAME.items() if each[0].startswith("llvm."))


def test_each_operation_has_an_example() -> None:
    homes = {each.handler.__module__ for each in MEANINGS.values()}
    assert {each.__name__ for each in DIALECTS} <= homes
    missing = MEANINGS.keys() - BY_NAME.keys() - _operations(EXAMPLES).keys()
    assert [name for name in missing if not _ORDERED.fullmatch(name)] == []


@pytest.mark.parametrize("text", [EXAMPLES, SCALARS], ids=["dialects", "scalars"])
def test_what_is_erased_is_pure(text: str, mlir_opt: str) -> None:
    kept = _operations(_through(mlir_opt, "--canonicalize", text)).keys()
    known = _operations(text)
    pure = {name for name, each in known.items() if is_pure(each)}
    assert len(pure) > 50
    assert pure == known.keys() - kept - TERMINATORS - _KEPT.keys()


_HEAD = re.compile(r"(func\.func @\w+\([^{]*\) \{\n)")
_LOOP = r"""\1  %from = arith.constant 0 : index
  %to = func.call @bound() : () -> index
  %step = arith.constant 1 : index
  scf.for %lap = %from to %to step %step {
"""


@pytest.mark.parametrize("text", [EXAMPLES, SCALARS], ids=["dialects", "scalars"])
def test_what_stays_in_a_loop_is_not_free(text: str, mlir_opt: str) -> None:
    looped = _HEAD.sub(_LOOP, text).replace("\n  return\n", "\n  }\n  return\n")
    looped += "func.func private @bound() -> index\n"
    functions = ProgramReader().read(_through(mlir_opt, "--loop-invariant-code-motion", looped))
    loops = [
        each
        for function in functions.functions.values()
        for each in walk(function.operation)
        if each.name == "scf.for"
    ]
    assert len(loops) == text.count("\n  return\n")
    staying = {each for loop in loops for each in loop.regions[0].blocks[0].operations}
    # MLIR hoists no operation with a mask around it.
    assert {each.name for each in staying if is_free(each)} <= {"vector.mask"}
