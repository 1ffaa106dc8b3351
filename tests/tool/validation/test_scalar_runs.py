"""Scalar operations on numbers have the results of LLVM's code, by each of their names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from actiondbg.validation.concrete import Concrete
from actiondbg.validation.domain import POISON, UndefinedBehaviour, Unsettled
from actiondbg.validation.floats import bits_of
from actiondbg.validation.program import OpaqueAttribute
from actiondbg.validation.scalar_operations import SCALAR_OPERATIONS
from actiondbg.validation.types import FloatType, signed
from tests.conftest import LIBRARY
from tests.scalar_cases import Case, Scalar, bits, cases, has_cases
from tests.tool.validation.printed import executed, interpreted

BUILDS = LIBRARY

_TYPES = ("i8", "i16", "i32", "i64", "index", "f32", "f64")
_NOT_RUN = {
    "ipowi": "the lowering has no pass for it",
    "fma": "a product and a sum are allowed, too",
    "select": "it only chooses",
    "isinf": "the lowering has no pass for it",
    "isnormal": "the lowering has no pass for it",
}
_OF_LLVM = frozenset({"isExact", "isDisjoint", "nonNeg"})  # of arith in other versions only
_OPERATIONS = [each for each in SCALAR_OPERATIONS if has_cases(each) and each.name not in _NOT_RUN]


def _is_run(case: Case) -> bool:
    """Whether MLIR has types and attributes of a case, and its runner prints the types."""
    types = {str(each) for each in (*case.types, *case.results)}
    is_known = case.name.startswith("llvm.") or _OF_LLVM.isdisjoint(case.attributes)
    has_flags = not {"fastmath", "overflowFlags"}.isdisjoint(case.attributes)
    return types <= {*_TYPES, "i1"} and str(case.types[0]) != "i1" and is_known and not has_flags


def _defined(case: Case) -> list[Sequence[Any]]:
    """Return operands for which the result is no poison, and its bits are known."""
    rows: list[Sequence[Any]] = []
    for row in case.rows(24, has_poison=False):
        if case.name == "index.ceildivs" and row[0] == 1 << 63:
            continue  # the lowering negates it
        try:
            found = Concrete().apply(case.name, row, case.types, case.results, case.attributes)
        except (UndefinedBehaviour, Unsettled):
            continue
        if POISON not in found and not any(map(_is_nan, found)):
            rows.append(row)
    return rows


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _text(value: Any, type: Scalar) -> str:
    if isinstance(type, FloatType):
        return f"0x{bits_of(value, type):0{bits(type) // 4}X}"
    if type.width == 1:
        return "true" if value else "false"
    return str(signed(value, type.width))


def _lines(case: Case, rows: Sequence[Sequence[Any]], name: str) -> Iterator[str]:
    """Return the operation on vectors of rows, and the printing of the bits of its results.

    An operation of index takes the one row as scalars.
    """
    is_vector = not case.name.startswith("index.")
    shape = f"vector<{len(rows)}x%s>" if is_vector else "%s"
    for at, (type, values) in enumerate(zip(case.types, zip(*rows, strict=True), strict=True)):
        texts = [_text(each, type) for each in values]
        constant = f"dense<[{', '.join(texts)}]>" if is_vector else texts[0]
        yield f"%a{name}_{at} = arith.constant {constant} : {shape % type}"
    operands = ", ".join(f"%a{name}_{at}" for at in range(len(case.types)))
    listed = ", ".join(_attribute(*each) for each in case.attributes.items())
    sources, targets = (
        ", ".join(shape % each for each in types) for types in (case.types, case.results)
    )
    yield (
        f'%r{name}:{len(case.results)} = "{case.name}"({operands})'
        f"{f' <{{{listed}}}>' if listed else ''} : ({sources}) -> ({targets})"
    )
    for at, type in enumerate(case.results):
        result, printed = f"%r{name}#{at}", shape % type
        if isinstance(type, FloatType):
            result, printed = f"%b{name}_{at}", shape % f"i{bits(type)}"
            yield f"{result} = arith.bitcast %r{name}#{at} : {shape % type} to {printed}"
        yield f"vector.print {result} : {printed}"


def _attribute(name: str, value: int | OpaqueAttribute) -> str:
    if name in _OF_LLVM:
        return name
    if isinstance(value, OpaqueAttribute):
        return f"{name} = {value.text}"
    return f"{name} = {str(value).lower() if isinstance(value, bool) else f'{value} : i64'}"


def _groups(case: Case) -> list[list[Sequence[Any]]]:
    """Return the rows that one operation takes: all as vectors, or of index each."""
    rows = _defined(case)
    if case.name.startswith("index."):
        return [[each] for each in rows]
    return [rows] if rows else []


@pytest.mark.parametrize("operation", _OPERATIONS, ids=lambda each: each.name)
def test_numbers_are_those_of_compiled_code(mlir_opt: str, operation: Any) -> None:
    lines = [
        line
        for at, case in enumerate(filter(_is_run, cases(operation)))
        for number, group in enumerate(_groups(case))
        for line in _lines(case, group, f"{at}_{number}")
    ]
    program = "\n  ".join(["func.func @main() {", *lines, "return"]) + "\n}\n"
    printed = executed(program, mlir_opt)
    assert printed.strip()
    assert interpreted(program) == printed
