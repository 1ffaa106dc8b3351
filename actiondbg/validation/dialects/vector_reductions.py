"""The meaning of operations that combine elements of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import nan, prod

from actiondbg.validation.affine import AffineMap
from actiondbg.validation.dialects.indices import numbers
from actiondbg.validation.dialects.reductions import identity
from actiondbg.validation.dialects.scalars import applied, chosen, plain_element
from actiondbg.validation.dialects.vector import made, maskable, vector, vector_or_element
from actiondbg.validation.domain import NotInterpreted, Scalar
from actiondbg.validation.machine import (
    Elements,
    Machine,
    Results,
    handles,
    positions,
    row_major,
)
from actiondbg.validation.program import Attribute, OpaqueAttribute, Operation
from actiondbg.validation.types import BOOL, ComplexType, FloatType, IntegerType

_OPEN_ORDER = {"fastmath": OpaqueAttribute("#arith.fastmath<reassoc,contract>")}


@dataclass(frozen=True, slots=True)
class Combination:
    """How two elements become one."""

    machine: Machine
    kind: str  # ``add``, ``minsi``
    element: IntegerType | FloatType
    attributes: Mapping[str, Attribute]

    def of(self, left: Scalar, right: Scalar) -> Scalar:
        """Combine two elements."""
        return self._applied(self._name(self.kind), left, right)

    def more(self, left: Scalar, right: Scalar, lane: Scalar | None) -> Scalar:
        """Combine two elements if a lane is on, or there is no mask."""
        combined = self.of(left, right)
        if lane is None:
            return combined
        return chosen(self.machine, lane, combined, left, self.element)

    def product(self, left: Scalar, right: Scalar) -> Scalar:
        """Return the product of two elements."""
        return self._applied(self._name("mul"), left, right)

    def neutral(self) -> Scalar:
        """Return what changes nothing."""
        if self.kind in ("minnumf", "maxnumf"):
            return self.machine.domain.constant(nan, self.element)
        return identity(self.machine, self._name(self.kind), self.element)

    def _name(self, kind: str) -> str:
        """Return the operation of arith for the type."""
        if kind not in ("add", "mul", "and", "or", "xor"):
            return kind
        return f"{kind}f" if isinstance(self.element, FloatType) else f"{kind}i"

    def _applied(self, name: str, *operands: Scalar) -> Scalar:
        attributes = self.attributes
        return applied(self.machine, f"arith.{name}", operands, self.element, attributes=attributes)


def _combination(machine: Machine, operation: Operation, at: int = 0) -> Combination:
    """Return the combination that an operation asks for, with the type of a result."""
    kind = operation.attributes.get("kind")
    name = "add"
    if isinstance(kind, OpaqueAttribute):
        name = kind.text.partition("<")[2].rstrip(">").strip()
    fastmath = operation.attributes.get("fastmath")
    attributes = {} if fastmath is None else {"fastmath": fastmath}
    element = plain_element(operation.results[at].type)
    return Combination(machine, name, element, attributes)


@maskable("vector.reduction")
def _reduction(machine: Machine, operation: Operation, mask: Elements | None) -> Results:
    source = vector(machine.frame[operation.operands[0]], operation)
    start = machine.all(operation.operands[1:])
    combination = _combination(machine, operation)
    machine.charge(len(source.items))
    items = list(source.items)
    if not start and mask is not None:
        _check_any_on(machine, mask)
    if not start and mask is None and items:
        start = [items.pop(0)]
    result = start[0] if start else combination.neutral()
    lanes = mask.items if mask is not None else [None] * len(items)
    for item, lane in zip(items, lanes, strict=True):
        result = combination.more(result, item, lane)
    return [result]


def _check_any_on(machine: Machine, mask: Elements) -> None:
    """Check that a lane is on.

    Raises:
        NotInterpreted: none is. Lowerings have a neutral result, canonicalisation the element.
    """
    on, *others = mask.items
    for lane in others:
        on = applied(machine, "arith.ori", (on, lane), BOOL)
    if not machine.domain.decide(on):
        raise NotInterpreted("a masked vector.reduction of no lanes, without an accumulator")


@maskable("vector.multi_reduction")
def _multi_reduction(machine: Machine, operation: Operation, mask: Elements | None) -> Results:
    source = vector(machine.frame[operation.operands[0]], operation)
    start = machine.frame[operation.operands[1]]
    combination = _combination(machine, operation)
    reduced = set(numbers(operation.attributes.get("reduction_dims")))
    kept = [size for at, size in enumerate(source.shape) if at not in reduced]
    left = iter(row_major(kept))
    steps = [0 if at in reduced else next(left) for at in range(len(source.shape))]
    machine.charge(len(source.items))
    found = list(start.items) if isinstance(start, Elements) else [start]
    lanes = mask.items if mask is not None else [None] * len(source.items)
    for at, item, lane in zip(positions(source.shape, steps), source.items, lanes, strict=True):
        found[at] = combination.more(found[at], item, lane)
    return [vector_or_element(operation, found)]


@maskable("vector.outerproduct")
def _outer_product(machine: Machine, operation: Operation, mask: Elements | None) -> Results:
    left, right, *start = machine.all(operation.operands)
    combination = _combination(machine, operation)
    row = right.items if isinstance(right, Elements) else [right]
    pairs = list(product(vector(left, operation).items, row))
    machine.charge(len(pairs))
    if not start:
        if mask is not None:
            raise NotInterpreted("a masked vector.outerproduct without an accumulator")
        return [made(operation, [combination.product(*pair) for pair in pairs])]
    before = vector(start[0], operation).items
    lanes = mask.items if mask is not None else [None] * len(pairs)
    items = [
        _accumulated(combination, old, pair, lane)
        for old, pair, lane in zip(before, pairs, lanes, strict=True)
    ]
    return [made(operation, items)]


def _accumulated(
    combination: Combination, old: Scalar, pair: tuple[Scalar, Scalar], lane: Scalar | None
) -> Scalar:
    """Combine a product with an element; the documentation promises a fused addition."""
    element = combination.element
    if combination.kind != "add" or not isinstance(element, FloatType):
        return combination.more(old, combination.product(*pair), lane)
    machine = combination.machine
    fused = applied(machine, "math.fma", (*pair, old), element)
    return fused if lane is None else chosen(machine, lane, fused, old, element)


@maskable("vector.contract")
def _contract(machine: Machine, operation: Operation, mask: Elements | None) -> Results:
    left, right = (vector(each, operation) for each in machine.all(operation.operands[:2]))
    start = machine.frame[operation.operands[2]]
    # Lowerings fuse the product with the addition, or add the products first.
    combination = replace(_combination(machine, operation), attributes=_OPEN_ORDER)
    found = list(start.items) if isinstance(start, Elements) else [start]
    shape = start.shape if isinstance(start, Elements) else ()
    maps = operation.attributes.get("indexing_maps")
    assert isinstance(maps, tuple)
    dimensions = [_dimensions(each) for each in maps]
    sizes = _iteration_sizes(dimensions, (left.shape, right.shape, shape))
    machine.charge(prod(sizes))
    columns = [
        positions(sizes, _iteration_steps(each, of, len(sizes)))
        for each, of in zip(dimensions, (left.shape, right.shape, shape), strict=True)
    ]
    lefts = _promoted(machine, left, combination.element)
    rights = _promoted(machine, right, combination.element)
    lanes = mask.items if mask is not None else [None] * prod(sizes)
    for first, second, at, lane in zip(*columns, lanes, strict=True):
        term = combination.product(lefts[first], rights[second])
        found[at] = combination.more(found[at], term, lane)
    return [vector_or_element(operation, found)]


def _dimensions(attribute: Attribute) -> list[int]:
    if not isinstance(attribute, AffineMap):
        raise NotInterpreted("a contraction without maps")
    if any(result.kind != "input" for result in attribute.results):
        raise NotInterpreted("a contraction with maps that are no projections")
    return [result.value for result in attribute.results]


def _iteration_sizes(
    dimensions: Sequence[Sequence[int]], shapes: Sequence[Sequence[int]]
) -> list[int]:
    found: dict[int, int] = {}
    for places, shape in zip(dimensions, shapes, strict=True):
        found.update(zip(places, shape, strict=True))
    return [found[at] for at in range(len(found))]


def _iteration_steps(places: Sequence[int], shape: Sequence[int], rank: int) -> list[int]:
    steps = [0] * rank
    for at, step in zip(places, row_major(shape), strict=True):
        steps[at] += step
    return steps


def _promoted(
    machine: Machine, source: Elements, element: IntegerType | FloatType
) -> Sequence[Scalar]:
    """Return elements as those of the wider type of a result."""
    old = source.element
    if old == element:
        return source.items
    is_wider = (
        isinstance(old, FloatType)
        if isinstance(element, FloatType)
        else isinstance(old, IntegerType) and old.width < element.width
    )
    if not is_wider or isinstance(old, ComplexType):
        raise NotInterpreted(f"a contraction of {old} into {element}")
    name = "arith.extf" if isinstance(element, FloatType) else "arith.extsi"
    machine.charge(len(source.items))
    return [applied(machine, name, [item], old, element) for item in source.items]


@handles("vector.scan")
def _scan(machine: Machine, operation: Operation) -> Results:
    if operation.attributes.get("inclusive"):
        # The documentation has the initial value take part in it, the lowering leaves it out.
        raise NotInterpreted("an inclusive vector.scan")
    source, start = (vector(each, operation) for each in machine.all(operation.operands))
    along = operation.attributes.get("reduction_dim")
    assert isinstance(along, int)
    combination = _combination(machine, operation)
    machine.charge(len(source.items))
    steps = row_major(source.shape)
    rest = [size for at, size in enumerate(source.shape) if at != along]
    others = [step for at, step in enumerate(steps) if at != along]
    items = list(source.items)
    last = list(start.items)
    for lane, first in enumerate(positions(rest, others)):
        total = start.items[lane]
        for at in range(source.shape[along]):
            here = first + at * steps[along]
            items[here] = last[lane] = total
            total = combination.of(total, source.items[here])
    return [
        Elements(source.shape, items, source.element),
        Elements(start.shape, last, start.element),
    ]
