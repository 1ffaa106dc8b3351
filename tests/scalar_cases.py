"""Types, attributes and operands with which all scalar operations are tested."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from actiondbg.validation.domain import POISON
from actiondbg.validation.floats import rounded
from actiondbg.validation.program import OpaqueAttribute
from actiondbg.validation.scalar_operations import ScalarOperation
from actiondbg.validation.types import BOOL, INDEX, FloatType, IntegerType

Scalar = IntegerType | FloatType
F16, F32, F64, BF16 = (FloatType(name) for name in ("f16", "f32", "f64", "bf16"))
_Types = tuple[Sequence[Scalar], Sequence[Scalar]]
FLOATS = (F16, BF16, F32, F64)
INTEGERS = tuple(map(IntegerType, (1, 8, 16, 32, 64, 128)))
RANGES = {
    "f16": (65504.0, 2.0**-24, 2.0**-14),
    "bf16": (2.0**127 * 1.9921875, 2.0**-133, 2.0**-126),
    "f32": (2.0**128 - 2.0**104, 2.0**-149, 2.0**-126),
    "f64": (1.7976931348623157e308, 5e-324, 2.0**-1022),
}


def special(type: Scalar) -> list[Any]:
    """Return numbers at which something may happen."""
    if isinstance(type, IntegerType):
        width = type.width
        top = 1 << (width - 1)
        numbers = [0, 1, 2, 3, width - 1, width, top - 1, top, top + 1, 2 * top - 1]
        return [number % (2 * top) for number in numbers]
    numbers = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 100.5, math.inf, *RANGES[type.name], 127.0, 128.0]
    return [*numbers, *(-each for each in numbers), math.nan]


def any_number(chosen: random.Random, type: Scalar) -> Any:
    """Return a random number of a type."""
    if isinstance(type, IntegerType):
        return chosen.getrandbits(type.width)
    return rounded(chosen.uniform(-2, 2) * 2.0 ** chosen.randrange(-12, 13), type)


def flags(*names: str) -> dict[str, Any]:
    """Return the attributes of an operation that does not overflow."""
    return {"overflowFlags": OpaqueAttribute(f"#arith.overflow<{', '.join(names)}>")}


def fast(*names: str) -> dict[str, Any]:
    """Return the attributes of an operation with flags of fast math."""
    return {"fastmath": OpaqueAttribute(f"#arith.fastmath<{','.join(names)}>")}


@dataclass(frozen=True)
class Case:
    """An operation with its types and attributes."""

    name: str
    types: Sequence[Scalar]  # of the operands
    results: Sequence[Scalar]  # the types of the results
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def rows(self, count: int, *, has_poison: bool = True) -> list[tuple[Any, ...]]:
        """Return operands: special numbers, random ones, and poison."""
        chosen = random.Random(f"{self}")
        rows = [tuple(chosen.choice(special(type)) for type in self.types) for _ in range(count)]
        rows += [tuple(any_number(chosen, type) for type in self.types) for _ in range(count // 2)]
        minimum, minus_one = ([each[at] for each in map(special, self.types)] for at in (-3, -1))
        rows += [(minimum[0], *minus_one[1:]), (minus_one[0], *minimum[1:])]
        for at in range(len(self.types) if has_poison else 0):
            rows += [(*row[:at], POISON, *row[at + 1 :]) for row in rows[:8]]
        return rows


def _same(count: int, types: Sequence[Scalar]) -> Callable[[], Iterator[_Types]]:
    return lambda: (([type] * count, [type]) for type in types)


def _classes() -> Iterator[_Types]:
    return (([type], [BOOL]) for type in FLOATS)


def _pairs(
    sources: Sequence[Scalar], targets: Sequence[Scalar], *, is_larger: bool | None = None
) -> Callable[[], Iterator[_Types]]:
    """Return conversions: to types with more bits, with fewer, or to any."""

    def pairs() -> Iterator[_Types]:
        for source in sources:
            for target in targets:
                change = bits(target) - bits(source)
                if is_larger is None or (change > 0 if is_larger else change < 0):
                    yield [source], [target]

    return pairs


def bits(type: Scalar) -> int:
    """Return the bits of a type."""
    return type.width if isinstance(type, IntegerType) else int(type.name.lstrip("bf"))


_BINARY = _same(2, INTEGERS)
_UNARY = _same(1, INTEGERS)
_FLOAT = _same(1, FLOATS)
_FLOATS = _same(2, FLOATS)
_INDICES = [(IntegerType(8), INDEX), (IntegerType(80), INDEX)]
_TYPES: dict[str, Callable[[], Iterator[_Types]]] = {
    **dict.fromkeys(
        (
            *("addi", "subi", "muli", "divsi", "divui", "ceildivsi", "ceildivui", "floordivsi"),
            *("remsi", "remui", "andi", "ori", "xori", "shli", "shrsi", "shrui"),
            *("maxsi", "maxui", "minsi", "minui", "ipowi"),
        ),
        _BINARY,
    ),
    "addui_extended": lambda: (([type] * 2, [type, BOOL]) for type in INTEGERS),
    **dict.fromkeys(
        ("mulsi_extended", "mului_extended"),
        lambda: (([type] * 2, [type] * 2) for type in INTEGERS),
    ),
    **dict.fromkeys(("absi", "ctlz", "cttz", "ctpop"), _UNARY),
    "cmpi": lambda: (([type] * 2, [BOOL]) for type in INTEGERS),
    "cmpf": lambda: (([type] * 2, [BOOL]) for type in FLOATS),
    **dict.fromkeys(("extsi", "extui"), _pairs(INTEGERS, INTEGERS, is_larger=True)),
    "trunci": _pairs(INTEGERS, INTEGERS, is_larger=False),
    **dict.fromkeys(
        ("index_cast", "index_castui"),
        lambda: (pair for a, b in _INDICES for pair in (([a], [b]), ([b], [a]))),
    ),
    **dict.fromkeys(("sitofp", "uitofp"), _pairs(INTEGERS, FLOATS)),
    **dict.fromkeys(("fptosi", "fptoui"), _pairs(FLOATS, INTEGERS)),
    "extf": _pairs(FLOATS, FLOATS, is_larger=True),
    "truncf": _pairs(FLOATS, FLOATS, is_larger=False),
    "bitcast": lambda: (
        pair
        for a, b in zip(FLOATS, map(IntegerType, map(bits, FLOATS)), strict=True)
        for pair in (([a], [b]), ([b], [a]))
    ),
    "select": lambda: (([BOOL, type, type], [type]) for type in (*INTEGERS, *FLOATS)),
    **dict.fromkeys(
        (
            *("addf", "subf", "mulf", "divf", "remf", "copysign"),
            *("maximumf", "minimumf", "maxnumf", "minnumf"),
        ),
        _FLOATS,
    ),
    **dict.fromkeys(
        ("negf", "absf", "sqrt", "ceil", "floor", "trunc", "round", "roundeven"), _FLOAT
    ),
    **dict.fromkeys(("isfinite", "isinf", "isnan", "isnormal"), _classes),
    "fma": _same(3, FLOATS),
}
_WRAPS = [flags("nsw"), flags("nuw"), flags("nsw", "nuw")]
_FAST = [fast("nnan"), fast("nnan", "ninf")]
_MORE_ATTRIBUTES: dict[str, list[dict[str, Any]]] = {
    **dict.fromkeys(("addi", "subi", "muli", "shli", "trunci"), _WRAPS),
    **{name: [{"isExact": True}] for name in ("divsi", "divui", "shrsi", "shrui")},
    **{name: [{"nonNeg": True}] for name in ("extui", "uitofp")},
    **dict.fromkeys(("addf", "mulf", "maximumf", "sqrt", "isnan", "select"), _FAST),
}
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
# Of intrinsics, beside the attributes of the operation.
_INTRINSICS = {"absi": "is_int_min_poison", "ctlz": "is_zero_poison", "cttz": "is_zero_poison"}


def has_cases(operation: ScalarOperation) -> bool:
    """Whether types are known for an operation."""
    return operation.name in _TYPES


def cases(operation: ScalarOperation) -> Iterator[Case]:
    """Return an operation with each of its names, and each of their types and attributes."""
    short = operation.name
    for name in operation.names:
        attributes = [{}, *_MORE_ATTRIBUTES.get(short, [])]
        if name == "llvm.or":
            attributes.append({"isDisjoint": True})
        if short in ("cmpi", "cmpf"):
            attributes = [{"predicate": at} for at in range(10 if short == "cmpi" else 16)]
        if name == "index.cmp":
            texts = [f"#index<cmp_predicate {each}>" for each in _PREDICATES]
            attributes = [{"pred": OpaqueAttribute(text)} for text in texts]
        if name.startswith("llvm.intr.") and short in _INTRINSICS:
            attributes = [{_INTRINSICS[short]: value} for value in (False, True)]
        listed = list(_TYPES[short]())
        if name.startswith("index.") and not short.startswith("index_cast"):
            listed = [([INDEX] * 2, [BOOL] if short == "cmpi" else [INDEX])]
        for types, results in listed:
            for each in attributes:
                yield Case(name, types, results, each)
