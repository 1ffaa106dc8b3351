"""Affine expressions, loops and memory accesses."""

from __future__ import annotations

from collections.abc import Sequence

from actiondbg.validation.affine import AffineMap, Expression, IntegerSet
from actiondbg.validation.dialects.control import counted, nested
from actiondbg.validation.dialects.elements import applied, both, chosen, compared, index
from actiondbg.validation.dialects.indices import mixed, numbers
from actiondbg.validation.dialects.memory import place, read, write
from actiondbg.validation.dialects.races import iterations
from actiondbg.validation.dialects.reductions import OPERATIONS, identity, reduced
from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import Machine, MemRef, Results, RuntimeValue, handles
from actiondbg.validation.program import Attribute, Dense, OpaqueAttribute, Operation
from actiondbg.validation.types import INDEX

# Affine operations may assume that nothing overflows.
_NO_WRAP = {"overflowFlags": OpaqueAttribute("#arith.overflow<nsw>")}
_DIVISIONS = {"floordiv": "arith.floordivsi", "ceildiv": "arith.ceildivsi"}


def evaluate(machine: Machine, expression: Expression, inputs: Sequence[Scalar]) -> Scalar:
    """Return the value of an affine expression; poison if a divisor is not positive.

    It is no undefined behaviour, as affine operations without effects may be moved everywhere.
    """
    if expression.kind == "constant":
        return index(machine, expression.value)
    if expression.kind == "input":
        return inputs[expression.value]
    left, right = (evaluate(machine, each, inputs) for each in expression.operands)
    if expression.kind not in (*_DIVISIONS, "mod"):
        name = f"arith.{expression.kind}i"
        return applied(machine, name, (left, right), INDEX, attributes=_NO_WRAP)
    if expression.operands[1].kind == "constant" and expression.operands[1].value > 0:
        return _divided(machine, expression.kind, left, right)
    return _guarded(machine, expression.kind, left, right)


def _divided(machine: Machine, kind: str, left: Scalar, right: Scalar) -> Scalar:
    if kind == "mod":
        return _modulo(machine, left, right)
    return applied(machine, _DIVISIONS[kind], (left, right), INDEX)


def _guarded(machine: Machine, kind: str, left: Scalar, right: Scalar) -> Scalar:
    """Divide by what may not be positive.

    It is undefined behaviour in a source. In a target it is poison, as the operation may have been
    hoisted.
    """
    is_positive = compared(machine, "slt", index(machine, 0), right)
    if machine.domain.is_source and not machine.domain.decide(is_positive):
        raise UndefinedBehaviour("an affine division by what is not positive")
    any_number = applied(machine, "arith.freeze", (right,), INDEX)
    is_safe = compared(machine, "slt", index(machine, 0), any_number)
    divisor = chosen(machine, is_safe, any_number, index(machine, 1), INDEX)
    result = _divided(machine, kind, left, divisor)
    return chosen(machine, is_positive, result, machine.domain.poison(INDEX), INDEX)


def _modulo(machine: Machine, left: Scalar, right: Scalar) -> Scalar:
    rest = applied(machine, "arith.remsi", (left, right), INDEX)
    is_negative = compared(machine, "slt", rest, index(machine, 0))
    other = applied(machine, "arith.addi", (rest, right), INDEX)
    return chosen(machine, is_negative, other, rest, INDEX)


def _results(
    machine: Machine, attribute: Attribute | None, inputs: Sequence[Scalar]
) -> list[Scalar]:
    if not isinstance(attribute, AffineMap):
        raise NotInterpreted("an affine map")
    return [evaluate(machine, result, inputs) for result in attribute.results]


def _extreme(machine: Machine, name: str, values: Sequence[Scalar]) -> Scalar:
    result, *others = values
    for other in others:
        result = applied(machine, f"arith.{name}si", (result, other), INDEX)
    return result


@handles("affine.apply", "affine.min", "affine.max")
def _apply(machine: Machine, operation: Operation, *inputs: Scalar) -> Results:
    values = _results(machine, operation.attributes.get("map"), inputs)
    name = operation.name.removeprefix("affine.")
    return values if name == "apply" else [_extreme(machine, name, values)]


# --- control ---


@handles("affine.for")
def _for(machine: Machine, operation: Operation) -> Results:
    attributes = operation.attributes
    lower, upper, initial = (machine.all(segment) for segment in operation.segments())
    low = _extreme(machine, "max", _results(machine, attributes.get("lowerBoundMap"), lower))
    high = _extreme(machine, "min", _results(machine, attributes.get("upperBoundMap"), upper))
    step = attributes.get("step", 1)
    assert isinstance(step, int)
    carried = initial
    for variable in counted(machine, (low, high, index(machine, step))):
        carried = machine.region(operation.regions[0], [variable, *carried]).operands
    return carried


@handles("affine.if")
def _if(machine: Machine, operation: Operation, *inputs: Scalar) -> Results:
    condition = operation.attributes.get("condition")
    if not isinstance(condition, IntegerSet):
        raise NotInterpreted("affine.if")
    is_inside = all(
        _holds(machine, evaluate(machine, expression, inputs), is_equal)
        for expression, is_equal in condition.constraints
    )
    region = operation.regions[0 if is_inside else 1]
    return machine.region(region, []).operands if region.blocks else []


def _holds(machine: Machine, value: Scalar, is_equal: bool) -> bool:
    zero = index(machine, 0)
    if is_equal:
        return machine.domain.decide(compared(machine, "eq", value, zero))
    return not machine.domain.decide(compared(machine, "slt", value, zero))


@handles("affine.parallel")
def _parallel(machine: Machine, operation: Operation, *inputs: Scalar) -> Results:
    attributes = operation.attributes
    low_map = attributes.get("lowerBoundsMap")
    if not isinstance(low_map, AffineMap):
        raise NotInterpreted("affine.parallel")
    count = low_map.dimensions + low_map.symbols
    low = _results(machine, low_map, inputs[:count])
    high = _results(machine, attributes.get("upperBoundsMap"), inputs[count:])
    lows = _grouped(machine, "max", low, attributes.get("lowerBoundsGroups"))
    highs = _grouped(machine, "min", high, attributes.get("upperBoundsGroups"))
    steps = [index(machine, step) for step in numbers(attributes.get("steps"))]
    kinds = numbers(attributes.get("reductions", ()))
    types = [result.type for result in operation.results]
    results = [
        identity(machine, OPERATIONS[kind], type) for kind, type in zip(kinds, types, strict=True)
    ]
    with iterations(machine, operation.name) as loop:
        for variables in nested(machine, list(zip(lows, highs, steps, strict=True))):
            loop.current += 1
            values = machine.region(operation.regions[0], variables).operands
            parts = zip(kinds, results, values, types, strict=True)
            results = [reduced(machine, kind, pair, type) for kind, *pair, type in parts]
    return results


def _grouped(
    machine: Machine, name: str, values: Sequence[Scalar], attribute: Attribute | None
) -> list[Scalar]:
    if not isinstance(attribute, Dense):
        raise NotInterpreted("affine.parallel")
    sizes = [int(size) for size in attribute.values]
    if attribute.is_splat:
        sizes *= attribute.type.shape[0] or 0
    found: list[Scalar] = []
    at = 0
    for size in sizes:
        found.append(_extreme(machine, name, values[at : at + size]))
        at += size
    return found


# --- memory ---


@handles("affine.load")
def _load(machine: Machine, operation: Operation, view: MemRef, *inputs: Scalar) -> Results:
    return [read(view, place(machine, view, indices(machine, operation, inputs)))]


@handles("affine.store")
def _store(
    machine: Machine, operation: Operation, value: RuntimeValue, view: MemRef, *inputs: Scalar
) -> Results:
    write(view, place(machine, view, indices(machine, operation, inputs)), value)
    return []


def indices(machine: Machine, operation: Operation, inputs: Sequence[Scalar]) -> list[Scalar]:
    """Return the indices that the map of an operation makes of its operands."""
    return _results(machine, operation.attributes.get("map"), inputs)


# --- indices ---


def _bounded(
    machine: Machine,
    outermost: Scalar,
    bound: Scalar,
    results: Sequence[Scalar],
    *,
    may_be_negative: bool = False,
) -> list[Scalar]:
    """Return results that a program has only if its outermost index is in bounds.

    The operation does not compute with the bound, but passes may rely on it.
    """
    inside = [compared(machine, "slt", outermost, bound)]
    if not may_be_negative:
        inside.append(compared(machine, "sle", index(machine, 0), outermost))
    condition = both(machine, inside)
    nothing = machine.domain.poison(INDEX)
    return [chosen(machine, condition, each, nothing, INDEX) for each in results]


@handles("affine.delinearize_index")
def _delinearize(machine: Machine, operation: Operation, rest: Scalar) -> Results:
    basis = mixed(machine, operation.attributes.get("static_basis"), operation.operands[1:])
    has_bound = len(basis) == len(operation.results)
    bound, sizes = (basis[0], basis[1:]) if has_bound else (None, basis)
    found: list[Scalar] = []
    for size in reversed(sizes):
        found.append(_guarded(machine, "mod", rest, size))
        rest = _guarded(machine, "floordiv", rest, size)
    results = [rest, *reversed(found)]
    return results if bound is None else _bounded(machine, rest, bound, results)


@handles("affine.linearize_index")
def _linearize(machine: Machine, operation: Operation) -> Results:
    indices, dynamic = operation.segments()
    values = machine.all(indices)
    basis = mixed(machine, operation.attributes.get("static_basis"), dynamic)
    if not values:
        return [index(machine, 0)]
    bound = basis.pop(0) if len(basis) == len(values) else None
    result = values[0]
    for value, size in zip(values[1:], basis, strict=True):
        result = applied(machine, "arith.muli", (result, size), INDEX, attributes=_NO_WRAP)
        result = applied(machine, "arith.addi", (result, value), INDEX, attributes=_NO_WRAP)
    is_disjoint = bool(operation.attributes.get("disjoint"))
    # After an action any index will do: canonicalization drops a zero with the bound of the next.
    # What is disjoint says that it is in bounds, also then.
    if bound is not None and (machine.domain.is_source or is_disjoint):
        (result,) = _bounded(machine, values[0], bound, [result], may_be_negative=True)
    if not is_disjoint:
        return [result]
    # Each index is from 0 to its size; the first one may be negative.
    zero = index(machine, 0)
    parts = list(zip(values[1:], basis, strict=True))
    are_inside = both(
        machine,
        [
            *(compared(machine, "slt", value, size) for value, size in parts),
            *(compared(machine, "sle", zero, value) for value, _ in parts),
        ],
    )
    return [chosen(machine, are_inside, result, machine.domain.poison(INDEX), INDEX)]
