"""The operands with which kernels are verified: the same for an operation in each run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import ceil, gcd, inf, prod
from typing import Literal

from actiondbg.kernels.execution.buffers import poison
from actiondbg.kernels.model import ElementType, Operation, Tensor
from actiondbg.kernels.packages import np

OperandKind = Literal[
    "whole range",
    "integers",
    "signs",
    "reals",
    "large",
    "precise",
    "huge",
    "denormals",
    "extremes",
    "own",
    "edges",
]
_LARGEST = {"integers": 3, "signs": 1}
_WIDE = 1000  # of i32: the product of two is not near its limit
_SCALE = 16.0  # of large reals: exponentials of their differences overflow
# The most runs of one kind, by their number, the bytes of their files, and their arithmetic.
_MOST_RUNS = 128
_MOST_SMALL_RUNS = 1024  # with files of _SMALL_BYTES together
_SMALL_BYTES = 1 << 23
_MOST_BYTES = 1 << 25
_MOST_FLOPS = 2e10
_REPEATED = 32  # runs of an operation that selects: an element hides an operand in half of them
_PRECISE_OUTPUTS = 16  # of which some have a sum of one term
_SPARSE = 4  # times as many runs as signs are sparse: few terms are in none of them
_HUGE_INTEGERS = 3  # runs: of one sign, of all bits, and of the smallest number only
_EDGE_RUNS = 8  # where few operands are in an element of the result
_ALONE = 2  # runs of a sum: with NaN only, and infinity, as infinities add up to NaN
_INFINITE_TERMS = 3  # of a sum, on average: most have both signs
_SPECIAL_RUNS = 3  # of a maximum: with some edges, of the identity, of zeros
_DRAWS = 14  # times as many runs as places: each place is drawn in some run, but for one in 10^6
_BOUNDARIES = 24  # of tiles, where all rows of a long maximum have it
# Powers of 2 that make integers of all bits large, such that some may be added up.
_HUGE = {"f16": 1, "bf16": 60, "f32": 60, "f64": 500}
# The exponent of the smallest denormal number; conversions to bf16 have none.
_DENORMAL = {"f16": -24, "f32": -149, "f64": -1074}


@dataclass(frozen=True)
class OperandRun:
    """One of the calls by which a kernel is verified.

    Attributes:
        index: of the run with such operands: another operand is precise, other places have the
            extremes, or other random numbers are drawn.
    """

    kind: OperandKind
    index: int = 0

    @property
    def name(self) -> str:
        """A valid name of a folder."""
        return f"{self.kind}_{self.index}".replace(" ", "_")


FIRST_RUN = OperandRun("integers")


def operand_kinds(operation: Operation) -> tuple[OperandKind, ...]:
    """Return the kinds of operands to try until the result is exact; the last one decides."""
    if operation.result.type.is_float:
        return ("integers", "signs", "reals")
    return ("whole range", "integers")


def further_runs(operation: Operation, first: OperandKind, exact: bool) -> list[OperandRun]:
    """Return the runs after the first: they show what sums of small integers do not.

    Args:
        first: the kind of the operands of the first run.
        exact: whether the operation rounds for large sums only, unlike an exponential.
    """
    repeated = _affordable(operation, _REPEATED, least=3) if operation.selects else 1
    sparse = ceil(_SPARSE / _density(operation)) if first == "signs" else 1
    counts: list[tuple[OperandKind, int]] = [
        (first, max(repeated, _affordable(operation, sparse, least=2)))
    ]
    precise = len(operation.inputs) * ceil(_PRECISE_OUTPUTS / max(1, operation.result.elements))
    if exact:
        counts.append(("precise", precise))
    if not operation.result.type.is_float:
        runs = _HUGE_INTEGERS if operation.extreme is None else 1
        counts.append(("huge", _affordable(operation, runs, least=1)))
    else:
        counts.append(("reals", 1 if exact else repeated))
        counts.append(("huge", precise) if exact else ("large", 1))
        types = [each.type for each in (*operation.inputs, operation.result)]
        floats = [each.value for each in (*types, operation.accumulator) if each.is_float]
        has_denormals = all(each in _DENORMAL for each in floats)
        counts.append(("denormals", precise if exact and has_denormals else 0))
    counts.append(("edges", _edge_runs(operation)))
    counts.append(("extremes", _extreme_runs(operation)))
    counts.append(("own", _affordable(operation, operation.own_runs, least=3)))
    runs = [OperandRun(kind, index) for kind, count in counts for index in range(count)]
    return [each for each in dict.fromkeys(runs) if each != OperandRun(first)]


def _affordable(operation: Operation, runs: int, least: int) -> int:
    """Return so many runs, or fewer of a large operation."""
    # Stored are the operands, and the expected result and its bound in float64.
    bytes = operation.bytes + 16 * operation.result.elements
    most = max(_MOST_RUNS, min(_MOST_SMALL_RUNS, _SMALL_BYTES // bytes))
    by_bytes = _MOST_BYTES // bytes
    by_flops = int(_MOST_FLOPS / max(1, operation.flops))
    return min(runs, max(least, min(most, by_bytes, by_flops)))


def make_operands(operation: Operation, kind: OperandKind, index: int = 0) -> list[np.ndarray]:
    """Return the operands of an operation, of the types of its inputs.

    Args:
        operation: its name is the seed.
        kind: "whole range": all values of i8, a thousand either way of i32; "integers" up to 3, or
            "signs": sums are exact as long as they are small, and signs have so many zeros that
            they are; "reals": normally distributed numbers, where the type is of floating point,
            or "large" ones; "precise": fractions with all bits that the type holds in one operand,
            and a few ones in the others, such that sums of one term, which are exact, show each
            bit of it; "huge": the same near the largest number, or integers of one sign, of all
            bits, or the smallest ones; "denormals": the same below the smallest normal number;
            "extremes": distinct places of the maximum or minimum; "own": those of the operation;
            "edges": NaN, infinities and what else differs from other numbers.
        index: see OperandRun.
    """
    seed = hashlib.sha256(operation.name.encode()).digest()
    numbers = np.random.default_rng([*seed, index] if index else list(seed))
    if kind == "own":
        return operation.own_operands(index, numbers)
    arrays = [
        _operand(operation, at, kind, index, numbers).astype(tensor.type.dtype)
        for at, tensor in enumerate(operation.inputs)
    ]
    if kind == "extremes" and arrays[0].size:
        arrays[0] = _with_extremes(operation, index, numbers)
    if kind == "edges":
        return [_with_edges(operation, at, each, index, numbers) for at, each in enumerate(arrays)]
    return arrays


def _operand(
    operation: Operation, at: int, kind: OperandKind, index: int, numbers: np.random.Generator
) -> np.ndarray:
    tensor = operation.inputs[at]
    limit = operation.index_limits[at] if operation.index_limits else 0
    if limit or tensor.type is ElementType.I1:
        return numbers.integers(0, limit or 2, tensor.shape)
    turn = at == index % len(operation.inputs)
    if kind == "precise" or (kind in ("huge", "denormals") and tensor.type.is_float):
        return _precise(operation, turn, tensor, numbers, kind)
    if kind in ("reals", "large") and tensor.type.is_float:
        return (_SCALE if kind == "large" else 1.0) * numbers.standard_normal(tensor.shape)
    if kind == "huge" and index:
        limit = 1 << tensor.type.precision
        return numbers.integers(-limit, limit if index == 1 else 1 - limit, tensor.shape)
    lowest, highest = _range(kind, tensor.type)
    values = numbers.integers(lowest, highest + 1, tensor.shape)
    # A product with zero would hide the other factor, and a sum the term.
    values = np.where(values == 0, numbers.choice(np.array([-1, 1]), tensor.shape), values)
    if kind == "huge":
        return abs(values)
    if kind == "signs" and turn:
        values = np.where(numbers.random(tensor.shape) < _density(operation), values, 0)
    return values


def _density(operation: Operation) -> float:
    """Return the share of signs that are not zero: sums of their absolute values are exact."""
    return min(1.0, exact_limit(operation) / (2 * _terms(operation)))


def _terms(operation: Operation) -> int:
    """Return the length of a sum, or the number of elements that a maximum is of."""
    return max(1, prod(loop.size for loop in operation.loops if loop.type == "reduction"))


def _precise(
    operation: Operation,
    whole: bool,
    tensor: Tensor,
    numbers: np.random.Generator,
    kind: OperandKind,
) -> np.ndarray:
    """Return an operand with all its bits, or one that selects a few elements of the other."""
    values = numbers.choice(np.array([-1, 1]), tensor.shape)
    if whole:
        bits = tensor.type.precision - (kind == "denormals")
        values = values * numbers.integers(1, 1 << bits, tensor.shape)
        values = values * precise_scale(kind, tensor.type) if tensor.type.is_float else values
        if len(operation.inputs) > 1:
            return values
    return np.where(numbers.random(tensor.shape) < 1 / _terms(operation), values, 0)


def precise_scale(kind: OperandKind, element: ElementType) -> float:
    """Return the factor of precise, huge or denormal integers.

    Fractions show conversions to integers.
    """
    if not element.is_float:
        return 1.0
    if kind == "denormals":
        return 2.0 ** _DENORMAL[element.value]
    return 2.0 ** (_HUGE[element.value] if kind == "huge" else -(element.precision // 2))


def _extreme_runs(operation: Operation) -> int:
    """Return in how many runs each element is the extreme of each output, within limits."""
    if operation.extreme is None:
        return 0
    terms = _terms(operation)
    enough = terms if operation.reduced_axes else _DRAWS * terms
    return _affordable(operation, max(4, enough), least=8)


def _with_extremes(operation: Operation, index: int, numbers: np.random.Generator) -> np.ndarray:
    """Return an operand whose rows have their maximum, or minimum, at places of their own.

    Where there are not enough runs for each place in each row, the first of them have the extreme
    of all rows at the same place: at each boundary of tiles. In each second run all numbers are
    below zero, or above for a minimum, and below what memory is filled with: what begins with one
    of these is then wrong.
    """
    tensor = operation.inputs[0]
    below, above = _halves(tensor.type, tensor.shape, index % 2 == 1, numbers)
    if operation.reduced_axes:
        rows, spikes = _as_rows(operation, below), _as_rows(operation, above)
        every = np.arange(len(rows))
        places = _extreme_places(len(rows), rows.shape[1], index, _extreme_runs(operation))
        rows[every, places] = spikes[every, places]
        below = _from_rows(operation, rows)
    if operation.extreme == "min":
        below = -below if tensor.type.is_float else ~below
    return np.ascontiguousarray(below).astype(tensor.type.dtype)


def _as_rows(operation: Operation, array: np.ndarray) -> np.ndarray:
    """Return the first operand with a row for each element of the result."""
    count = len(operation.reduced_axes)
    moved = np.moveaxis(array, operation.reduced_axes, range(-count, 0))
    return moved.reshape(-1, prod(moved.shape[-count:]))


def _from_rows(operation: Operation, rows: np.ndarray) -> np.ndarray:
    """Return the operand of ``_as_rows``."""
    shape, axes = operation.inputs[0].shape, operation.reduced_axes
    kept = [size for axis, size in enumerate(shape) if axis not in axes]
    moved = rows.reshape(*kept, *(shape[axis] for axis in axes))
    return np.moveaxis(moved, range(-len(axes), 0), axes)


def _extreme_places(rows: int, terms: int, index: int, runs: int) -> np.ndarray:
    """Return the place of the extreme in each row.

    Places move on by a step that has no factor in common with their number, so that a row has
    each once in so many runs.
    """
    ordered = np.array(_places(terms))
    shared = 0 if terms <= runs else min(_BOUNDARIES, runs // 2)
    if index < shared:
        return np.full(rows, ordered[index])
    step = next(each for each in range(rows, rows + terms + 1) if gcd(each, terms) == 1)
    return ordered[(np.arange(rows) + (index - shared) * step) % terms]


def _halves(
    element: ElementType, shape: tuple[int, ...], negative: bool, numbers: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers, and larger ones than all of them."""
    if element.is_float:
        if negative:
            return -600 - 300 * numbers.random(shape), -1 - 500 * numbers.random(shape)
        return 800 * numbers.random(shape) - 400, 500 + 400 * numbers.random(shape)
    lowest = -(1 << element.precision)
    highest = int(poison(element.dtype)[0]) if negative else -lowest
    middle = (lowest + highest) // 2
    return numbers.integers(lowest, middle, shape), numbers.integers(middle, highest, shape)


def _edge_runs(operation: Operation) -> int:
    """Return in how many runs operands have NaN, infinities, signed zeros or only the identity."""
    terms = _terms(operation)
    if not any(each.type.is_float for each in (*operation.inputs, operation.result)):
        return int(operation.extreme is not None)
    if not operation.defines_edges:
        return 0
    if operation.extreme is None:
        runs = _EDGE_RUNS if terms == 1 else 1 + _ALONE + len(operation.inputs)
        return _affordable(operation, runs, least=2)
    enough = ceil(4 * terms / operation.result.elements) if operation.reduced_axes else _EDGE_RUNS
    return _affordable(operation, _SPECIAL_RUNS + min(enough, terms), least=_SPECIAL_RUNS + 1)


def _with_edges(
    operation: Operation, at: int, array: np.ndarray, index: int, numbers: np.random.Generator
) -> np.ndarray:
    """Return an operand with numbers that are not as others.

    Where an element of the result is of few operands, there are many of them: vectors and the
    elements behind the last of them may differ. After the first run, a sum has one of them alone;
    then an operand has infinities, and the others have zeros.
    """
    if not array.size:
        return array
    if operation.extreme is not None and (index or not operation.inputs[at].type.is_float):
        return _of_extreme(operation, array, index, numbers)
    if array.dtype.kind in "iub":
        return array
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0])
    changed = array.copy()
    if operation.extreme is None and _terms(operation) == 1:
        chosen = numbers.random(array.shape) < 1 / (2 + 2 * (index % 3))
        drawn = numbers.choice(values[3:] if index % 4 == 3 else values, int(chosen.sum()))
        changed[chosen] = drawn.astype(array.dtype)  # zeros of both signs meet in some runs
        return changed
    if 0 < index <= _ALONE:
        values = values[index - 1 : index] if at == 0 else values[:0]
    elif index:
        # Terms of a sum: 0 times infinity, and infinity beside minus infinity, are NaN.
        turn = at == index % len(operation.inputs)
        chosen = numbers.random(array.shape) < (
            _INFINITE_TERMS / _terms(operation) if turn else 0.5
        )
        drawn = numbers.choice(values[1:3] if turn else values[4:], int(chosen.sum()))
        changed[chosen] = drawn.astype(array.dtype)
        return changed
    for value in values[: 3 if operation.extreme is None else 4]:
        changed.flat[int(numbers.integers(array.size))] = value
    return changed


def _of_extreme(
    operation: Operation, array: np.ndarray, index: int, numbers: np.random.Generator
) -> np.ndarray:
    """Return the operand of a maximum or minimum: of the identity, of zeros, or with NaN."""
    tensor = operation.inputs[0]
    terms = _terms(operation)
    if index < 2:
        identity, next_to_it = _identity(operation)
        chosen = numbers.random(tensor.shape) < 1 / (2 * terms)
        return np.where(chosen, next_to_it, identity).astype(tensor.type.dtype)
    if index < _SPECIAL_RUNS:
        rare = 0.0 if operation.extreme == "max" else -0.0
        chosen = numbers.random(tensor.shape) < 1 / terms
        return np.where(chosen, rare, -rare).astype(tensor.type.dtype)
    changed = array.copy()
    if not operation.reduced_axes:
        changed[numbers.random(tensor.shape) < 1 / (2 * terms)] = np.nan
        return changed
    rows = _as_rows(operation, changed)
    runs = _edge_runs(operation) - _SPECIAL_RUNS
    places = _extreme_places(len(rows), rows.shape[1], index - _SPECIAL_RUNS, runs)
    rows[np.arange(len(rows)), places] = np.nan
    return np.ascontiguousarray(_from_rows(operation, rows))


def _identity(operation: Operation) -> tuple[float, float]:
    """Return what a maximum or minimum begins with, and the number next to it."""
    element = operation.inputs[0].type
    is_max = operation.extreme == "max"
    if element.is_float:
        sign = -1 if is_max else 1
        return sign * inf, sign * element.largest
    limit = 1 << element.precision
    return (-limit, 1 - limit) if is_max else (limit - 1, limit - 2)


def _places(terms: int) -> list[int]:
    """Return the places of a row, those at the boundaries of tiles first."""

    def alignment(at: int) -> int:
        return terms if at in (0, terms) else at & -at

    return sorted(range(terms), key=lambda at: -max(alignment(at), alignment(at + 1)))


def _range(kind: OperandKind, element: ElementType) -> tuple[int, int]:
    if kind not in ("whole range", "huge") or element.is_float:
        largest = _LARGEST.get(kind, 3)
        return -largest, largest
    limit = 1 << element.precision
    return (-limit, limit - 1) if limit < _WIDE else (-_WIDE, _WIDE)


def exact_limit(operation: Operation) -> int:
    """Return the largest sum of absolute values below which sums of integers are exact."""
    return 1 << min(operation.accumulator.precision, operation.result.type.precision)
