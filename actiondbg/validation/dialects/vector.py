"""The meaning of operations on vectors: elements rearranged, masked and combined."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import gcd, nan, prod

from actiondbg.validation.affine import AffineMap
from actiondbg.validation.dialects.elements import (
    applied,
    both,
    chosen,
    chosen_elements,
    compared,
    index,
    plain_element,
    poison,
    scalar_element,
)
from actiondbg.validation.dialects.indices import DYNAMIC, flat, numbers
from actiondbg.validation.dialects.reductions import identity
from actiondbg.validation.domain import NotInterpreted, Scalar, reduction_kind
from actiondbg.validation.machine import (
    Elements,
    Machine,
    Results,
    RuntimeValue,
    elements,
    handles,
    positions,
    row_major,
)
from actiondbg.validation.program import Attribute, OpaqueAttribute, Operation
from actiondbg.validation.types import (
    BOOL,
    INDEX,
    ComplexType,
    FloatType,
    IntegerType,
    ScalarType,
    ShapedType,
    Type,
)

_FLOAT_WIDTH = re.compile(r"b?f(\d+)")
_EQUAL, _UNORDERED = 1, 14  # of arith's predicates for floats
_MOST_CHOICES = 4096  # elements that a dynamic position may select from, without a decision
# Given the mask around the operation, if there is one.
Maskable = Callable[[Machine, Operation, Elements | None], Results]
_MASKABLE: dict[str, Maskable] = {}


def vector_shape(type: Type) -> tuple[int, ...]:
    """Return the sizes of a vector.

    Raises:
        NotInterpreted: the type is of something else, or the sizes are scalable.
    """
    if isinstance(type, ShapedType) and type.kind == "vector":
        return tuple(size or 0 for size in type.shape)
    raise NotInterpreted(f"the type {type}")


def made(operation: Operation, items: Sequence[RuntimeValue]) -> Elements:
    """Return elements with the type of the result."""
    type = operation.results[0].type
    return Elements(vector_shape(type), items, scalar_element(type))


def vector_or_element(operation: Operation, items: Sequence[RuntimeValue]) -> RuntimeValue:
    """Return elements with the type of the result; the only one if that is a scalar."""
    if isinstance(operation.results[0].type, ShapedType):
        return made(operation, items)
    return items[0]


def _rearranged(
    machine: Machine, operation: Operation, source: Elements, places: Sequence[int]
) -> Results:
    machine.charge(len(places))
    return [made(operation, [source.items[at] for at in places])]


# --- one element, or a part ---


@handles("vector.extract")
def _extract(machine: Machine, operation: Operation, source: Elements, *given: Scalar) -> Results:
    static = numbers(operation.attributes.get("static_position"))
    dynamic = iter(given)
    items: Sequence[RuntimeValue] = source.items
    for at, size in zip(static, source.shape, strict=False):
        step = len(items) // size
        if at == -1:
            items = [poison(machine, source.element)] * step
        elif at != DYNAMIC:
            items = items[at * step : (at + 1) * step]
        else:
            items = _picked(machine, items, size, next(dynamic), source.element)
    return [vector_or_element(operation, items)]


def _picked(
    machine: Machine, items: Sequence[RuntimeValue], size: int, at: Scalar, element: ScalarType
) -> Results:
    """Return one of ``size`` parts: poison if the position is outside."""
    if len(items) > _MOST_CHOICES:
        raise NotInterpreted("a dynamic position in a large vector")
    machine.charge(len(items))
    step = len(items) // size
    found: list[RuntimeValue] = [poison(machine, element)] * step
    for part in range(size):
        here = compared(machine, "eq", at, index(machine, part))
        mine = items[part * step : (part + 1) * step]
        found = [
            chosen(machine, here, new, old, element) for new, old in zip(mine, found, strict=True)
        ]
    return found


@handles("vector.insert")
def _insert(
    machine: Machine, operation: Operation, value: RuntimeValue, into: Elements, *dynamic: Scalar
) -> Results:
    static = numbers(operation.attributes.get("static_position"))
    machine.charge(len(into.items))
    if -1 in static:
        return [made(operation, [poison(machine, into.element)] * len(into.items))]
    mine: Sequence[RuntimeValue] = value.items if isinstance(value, Elements) else [value]
    items = list(into.items)
    if not dynamic:
        at = flat(static, row_major(into.shape)[: len(static)])
        items[at : at + len(mine)] = mine
        return [made(operation, items)]
    return [made(operation, _inserted(machine, items, mine, static, dynamic, into))]


def _inserted(
    machine: Machine,
    items: list[RuntimeValue],
    mine: Sequence[RuntimeValue],
    static: Sequence[int],
    dynamic: Sequence[Scalar],
    into: Elements,
) -> list[RuntimeValue]:
    """Return elements with a part at a dynamic position: all poison if that is outside."""
    if len(items) > _MOST_CHOICES:
        raise NotInterpreted("a dynamic position in a large vector")
    machine.charge(len(items))
    sizes = into.shape[: len(static)]
    strides = row_major(into.shape)[: len(static)]
    varying = [size for at, size in zip(static, sizes, strict=True) if at == DYNAMIC]
    choose = partial(chosen, machine, type=into.element)
    for guess in product(*map(range, varying)):
        here = [
            compared(machine, "eq", at, index(machine, part))
            for at, part in zip(dynamic, guess, strict=True)
        ]
        left = iter(guess)
        position = [next(left) if at == DYNAMIC else at for at in static]
        start = flat(position, strides)
        condition = both(machine, here)
        for at, new in enumerate(mine, start):
            items[at] = choose(condition, new, items[at])
    inside = [
        compared(machine, "ult", at, index(machine, size))
        for at, size in zip(dynamic, varying, strict=True)
    ]
    condition = both(machine, inside)
    nothing = poison(machine, into.element)
    return [choose(condition, item, nothing) for item in items]


@handles("vector.extract_strided_slice")
def _extract_slice(machine: Machine, operation: Operation, source: Elements) -> Results:
    offsets, sizes, steps = (
        numbers(operation.attributes.get(name)) for name in ("offsets", "sizes", "strides")
    )
    strides = row_major(source.shape)
    start = flat(offsets, strides[: len(offsets)])
    stepped = [stride * step for stride, step in zip(strides, steps, strict=False)]
    window = (*sizes, *source.shape[len(sizes) :])
    places = positions(window, (*stepped, *strides[len(sizes) :]), start)
    return _rearranged(machine, operation, source, places)


@handles("vector.insert_strided_slice")
def _insert_slice(
    machine: Machine, operation: Operation, mine: Elements, into: Elements
) -> Results:
    offsets, steps = (numbers(operation.attributes.get(name)) for name in ("offsets", "strides"))
    strides = row_major(into.shape)
    last = strides[len(strides) - len(mine.shape) :]
    stepped = [stride * step for stride, step in zip(last, steps, strict=True)]
    machine.charge(len(into.items))
    places = positions(mine.shape, stepped, flat(offsets, strides))
    return [into.with_items(zip(places, mine.items, strict=True))]


# --- all elements in another order ---


@handles("vector.shape_cast")
def _shape_cast(_: Machine, operation: Operation, source: Elements) -> Results:
    return [made(operation, source.items)]


@handles("vector.broadcast")
def _broadcast(machine: Machine, operation: Operation, source: RuntimeValue) -> Results:
    shape = vector_shape(operation.results[0].type)
    if not isinstance(source, Elements):
        machine.charge(prod(shape))
        return [made(operation, [source] * prod(shape))]
    missing = len(shape) - len(source.shape)
    strides = [
        step if size > 1 else 0
        for size, step in zip(source.shape, row_major(source.shape), strict=True)
    ]
    places = positions(shape, (*[0] * missing, *strides))
    return _rearranged(machine, operation, source, places)


@handles("vector.transpose")
def _transpose(machine: Machine, operation: Operation, source: Elements) -> Results:
    order = numbers(operation.attributes.get("permutation"))
    strides = row_major(source.shape)
    places = positions([source.shape[at] for at in order], [strides[at] for at in order])
    return _rearranged(machine, operation, source, places)


@handles("vector.shuffle")
def _shuffle(machine: Machine, operation: Operation, first: Elements, second: Elements) -> Results:
    items = [*first.items, *second.items]
    step = prod(first.shape[1:])
    places = numbers(operation.attributes.get("mask"))
    machine.charge(len(places) * step)
    nothing = [poison(machine, first.element)] * step
    parts = [nothing if at < 0 else items[at * step : (at + 1) * step] for at in places]
    return [made(operation, [item for part in parts for item in part])]


@handles("vector.interleave")
def _interleave(machine: Machine, operation: Operation, left: Elements, right: Elements) -> Results:
    machine.charge(2 * len(left.items))
    pairs = zip(left.items, right.items, strict=True)
    return [made(operation, [item for pair in pairs for item in pair])]


@handles("vector.deinterleave")
def _deinterleave(machine: Machine, operation: Operation, source: Elements) -> Results:
    machine.charge(len(source.items))
    return [made(operation, source.items[start::2]) for start in (0, 1)]


@handles("vector.from_elements")
def _from_elements(_: Machine, operation: Operation, *items: Scalar) -> Results:
    return [made(operation, items)]


@handles("vector.to_elements")
def _to_elements(_: Machine, __: Operation, source: Elements) -> Results:
    return source.items


@handles("vector.step")
def _step(machine: Machine, operation: Operation) -> Results:
    (size,) = vector_shape(operation.results[0].type)
    machine.charge(size)
    return [made(operation, [index(machine, at) for at in range(size)])]


_SCALAR_NAMES = {"vector.fma": "math.fma", "tensor.bitcast": "arith.bitcast"}


@handles(*_SCALAR_NAMES)
def _elementwise(machine: Machine, operation: Operation, *operands: RuntimeValue) -> Results:
    name = _SCALAR_NAMES[operation.name]
    plain = Operation(name, operation.operands, operation.results, {})
    return machine.elementwise(plain, operands)


# --- masks ---


@handles("vector.constant_mask")
def _constant_mask(machine: Machine, operation: Operation) -> Results:
    sizes = numbers(operation.attributes.get("mask_dim_sizes"))
    shape = vector_shape(operation.results[0].type)
    machine.charge(prod(shape))
    yes, no = (machine.domain.constant(value, BOOL) for value in (1, 0))
    if not shape:
        return [made(operation, [yes if sizes[0] else no])]
    rows = product(*map(range, shape))
    items = [
        yes if all(at < size for at, size in zip(row, sizes, strict=True)) else no for row in rows
    ]
    return [made(operation, items)]


@handles("vector.create_mask")
def _create_mask(machine: Machine, operation: Operation, *limits: Scalar) -> Results:
    shape = vector_shape(operation.results[0].type)
    machine.charge(prod(shape))
    columns = [
        [compared(machine, "slt", index(machine, at), limit) for at in range(size)]
        for limit, size in zip(limits, shape or (1,), strict=True)
    ]
    return [made(operation, [both(machine, row) for row in product(*columns)])]


# --- bits ---


@handles("vector.bitcast", "llvm.bitcast")
def _bitcast(machine: Machine, operation: Operation, source: RuntimeValue) -> Results:
    """Between vectors of any lengths; that of llvm between scalars and vectors, too."""
    old, new = (plain_element(value.type) for value in (*operation.operands, *operation.results))
    given = source.items if isinstance(source, Elements) else [source]
    machine.charge(len(given))
    if _width(old) == _width(new):
        items = [_recast(machine, item, old, new) for item in given]
        return [vector_or_element(operation, items)]
    words = [_recast(machine, item, old, IntegerType(_width(old))) for item in given]
    part = gcd(_width(old), _width(new))
    split = [each for word in words for each in _split(machine, word, _width(old), part)]
    count = _width(new) // part
    machine.charge(len(split))
    joined = [
        _joined(machine, split[at : at + count], part, _width(new))
        for at in range(0, len(split), count)
    ]
    whole = IntegerType(_width(new))
    items = [_recast(machine, item, whole, new) for item in joined]
    return [vector_or_element(operation, items)]


def _width(type: IntegerType | FloatType) -> int:
    if isinstance(type, FloatType):
        digits = _FLOAT_WIDTH.match(type.name)
        if digits is None:
            raise NotInterpreted(f"the bits of {type}")
        return int(digits[1])
    if type == INDEX:
        raise NotInterpreted("the bits of an index")
    return type.width


def _recast(
    machine: Machine, item: Scalar, old: IntegerType | FloatType, new: IntegerType | FloatType
) -> Scalar:
    return item if old == new else applied(machine, "arith.bitcast", [item], old, new)


def _split(machine: Machine, word: Scalar, width: int, part: int) -> list[Scalar]:
    """Return the parts of a word, the lowest first, as in memory on little-endian machines."""
    if width == part:
        return [word]
    whole = IntegerType(width)
    shifts = [machine.domain.constant(at, whole) for at in range(0, width, part)]
    return [
        applied(
            machine,
            "arith.trunci",
            [applied(machine, "arith.shrui", [word, shift], whole)],
            whole,
            IntegerType(part),
        )
        for shift in shifts
    ]


def _joined(machine: Machine, parts: Sequence[Scalar], part: int, width: int) -> Scalar:
    if width == part:
        return parts[0]
    whole = IntegerType(width)
    result = machine.domain.constant(0, whole)
    for at, each in enumerate(parts):
        wide = applied(machine, "arith.extui", [each], IntegerType(part), whole)
        shift = machine.domain.constant(at * part, whole)
        moved = applied(machine, "arith.shli", [wide, shift], whole)
        result = applied(machine, "arith.ori", [result, moved], whole)
    return result


# --- masked operations ---


def maskable(name: str) -> Callable[[Maskable], Maskable]:
    """Register a function as the meaning of an operation, with a mask around it and without."""

    def register(meaning: Maskable) -> Maskable:
        def unmasked(machine: Machine, operation: Operation) -> Results:
            return meaning(machine, operation, None)

        _MASKABLE[name] = meaning
        handles(name)(unmasked)
        return meaning

    return register


@handles("vector.mask")
def _mask(
    machine: Machine, operation: Operation, lanes: Elements, *others: RuntimeValue
) -> Results:
    *inner, end = operation.regions[0].blocks[0].operations
    if not inner:
        if others:
            raise NotInterpreted("vector.mask of nothing, with values to pass through")
        return machine.all(end.operands)
    (masked,) = inner
    meaning = _MASKABLE.get(masked.name)
    if meaning is None:
        raise NotInterpreted(f"{masked.name} in vector.mask")
    results = meaning(machine, masked, lanes)
    if list(end.operands) != list(masked.results):
        raise NotInterpreted("vector.mask that yields other values")
    return [_passed(machine, lanes, others[0], results)] if others else results


def _passed(
    machine: Machine, mask: Elements, other: RuntimeValue, results: Sequence[RuntimeValue]
) -> Elements:
    """Return a result with the lanes that are off from another vector."""
    (result,) = results
    fits = (
        isinstance(result, Elements)
        and isinstance(other, Elements)
        and result.shape == other.shape == mask.shape
    )
    if not fits:
        raise NotInterpreted("vector.mask with values to pass through of another shape")
    return chosen_elements(machine, mask.items, result, other)


# --- combined elements ---


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
    fastmath = operation.attributes.get("fastmath")
    attributes = {} if fastmath is None else {"fastmath": fastmath}
    element = plain_element(operation.results[at].type)
    return Combination(machine, reduction_kind(operation.attributes), element, attributes)


@maskable("vector.reduction")
def _reduction(machine: Machine, operation: Operation, mask: Elements | None) -> Results:
    source = elements(machine.frame[operation.operands[0]], operation)
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
    source = elements(machine.frame[operation.operands[0]], operation)
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
    pairs = list(product(elements(left, operation).items, row))
    machine.charge(len(pairs))
    if not start:
        if mask is not None:
            raise NotInterpreted("a masked vector.outerproduct without an accumulator")
        return [made(operation, [combination.product(*pair) for pair in pairs])]
    before = elements(start[0], operation).items
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
    left, right = (elements(each, operation) for each in machine.all(operation.operands[:2]))
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
def _scan(machine: Machine, operation: Operation, source: Elements, start: Elements) -> Results:
    along = operation.attributes.get("reduction_dim")
    is_inclusive = bool(operation.attributes.get("inclusive"))
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
        if is_inclusive:
            _check_neutral(combination, total)
        for at in range(source.shape[along]):
            here = first + at * steps[along]
            item = source.items[here]
            more = item if is_inclusive and not at else combination.of(total, item)
            items[here] = last[lane] = more if is_inclusive else total
            total = more
    return [replace(source, items=items), replace(start, items=last)]


def _check_neutral(combination: Combination, initial: Scalar) -> None:
    """Check that the initial value of an inclusive scan changes nothing.

    Raises:
        NotInterpreted: it may. By the documentation it is in all results, by the lowering in none.
    """
    machine, element = combination.machine, combination.element
    if isinstance(element, FloatType):
        is_nan = combination.kind in ("minnumf", "maxnumf")  # the neutral value is
        operands = (initial, initial if is_nan else combination.neutral())
        attributes = {"predicate": _UNORDERED if is_nan else _EQUAL}
        same = applied(machine, "arith.cmpf", operands, element, BOOL, attributes)
    else:
        same = compared(machine, "eq", initial, combination.neutral(), element)
    # It may be poison, which is no undefined behaviour.
    if not machine.domain.decide(applied(machine, "arith.freeze", [same], BOOL)):
        raise NotInterpreted("an inclusive vector.scan with an initial value that is not neutral")
