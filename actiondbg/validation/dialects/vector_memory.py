"""The meaning of operations that move vectors from and to memory, and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from actiondbg.validation.affine import AffineMap, Expression
from actiondbg.validation.dialects.affine import indices
from actiondbg.validation.dialects.elements import (
    applied,
    bounded,
    chosen,
    compared,
    index,
    plain_element,
    poison,
)
from actiondbg.validation.dialects.indices import flat
from actiondbg.validation.dialects.memory import item as item_of
from actiondbg.validation.dialects.memory import read_items, view, write_items
from actiondbg.validation.dialects.vector import made, maskable, vector_shape
from actiondbg.validation.domain import NotInterpreted, OpenOrder, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import (
    Elements,
    Machine,
    MemRef,
    Results,
    RuntimeValue,
    elements,
    handles,
    row_major,
)
from actiondbg.validation.program import Operation, Value
from actiondbg.validation.types import INDEX, IntegerType, ShapedType

# Below every position, also those that negative strides lead to.
OUTSIDE = -(2**80)  # an element that nobody may access
BEYOND = -(2**81)  # an element that is outside, as the operation allows


# --- windows ---


@dataclass(frozen=True, slots=True)
class VectorWindow:
    """Where the elements of a vector are in a view."""

    shape: tuple[int, ...]  # of the vector, without the dimensions of an element
    # Of the view, one for each of the shape; None if all elements of it are one.
    dimensions: tuple[int | None, ...]
    may_leave: tuple[bool, ...]  # for each of the shape, whether elements may be beyond the view
    # Whether an element beyond the end of a row is an element of the next row.
    goes_on: bool = False

    def places(
        self, machine: Machine, source: MemRef, starts: Sequence[Scalar], *, is_masked: bool
    ) -> list[int]:
        """Return the places of the elements, ``OUTSIDE`` and ``BEYOND`` among them.

        Raises:
            UndefinedBehaviour: there is no mask, and an element is outside that must not be.
        """
        machine.charge(prod(self.shape))
        found = [source.offset]
        firsts: list[int] = []
        for at, (start, size) in enumerate(zip(starts, source.sizes, strict=True)):
            firsts.append(self._first(machine, at, start, size, is_masked=is_masked))
            if at not in self.dimensions:
                step = firsts[at] * source.strides[at] if firsts[at] < size else OUTSIDE
                found = _moved(found, [step])
        for extent, at, may_leave in zip(self.shape, self.dimensions, self.may_leave, strict=True):
            steps = [0] * extent
            if at is not None:
                out = BEYOND if may_leave else OUTSIDE
                size = source.sizes[at]
                if self.goes_on and 0 <= firsts[at] < size:
                    size = firsts[at] + extent
                steps = _steps(firsts[at], extent, size, source.strides[at], out)
            found = _moved(found, steps)
        if self.goes_on:
            end = len(source.buffer.items) // prod(source.unit or ()) - 1
            out = BEYOND if any(self.may_leave) else OUTSIDE
            return [each if each <= end else out for each in found]
        return found

    def _first(
        self, machine: Machine, dimension: int, start: Scalar, size: int, *, is_masked: bool
    ) -> int:
        places = [at for at, each in enumerate(self.dimensions) if each == dimension]
        extent = self.shape[places[0]] if places else 1
        if is_masked or self.goes_on or any(self.may_leave[at] for at in places):
            return bounded(machine, start, size, extent)
        return machine.domain.below(start, INDEX, max(size - extent + 1, 0))


def _steps(first: int, extent: int, size: int, stride: int, out: int) -> list[int]:
    return [at * stride if at < size else out for at in range(first, first + extent)]


def _moved(places: Sequence[int], steps: Sequence[int]) -> list[int]:
    """Add each step to each place; what is outside stays so."""
    return [
        base + step if min(base, step) > OUTSIDE else _worse(base, step)
        for base in places
        for step in steps
    ]


def _worse(left: int, right: int) -> int:
    return OUTSIDE if OUTSIDE in (left, right) else BEYOND


def _read(
    machine: Machine,
    source: MemRef,
    places: Sequence[int],
    mask: Sequence[Scalar] | None,
    others: Sequence[Sequence[RuntimeValue]],
) -> list[RuntimeValue]:
    """Return the items of elements at places from ``VectorWindow.places``.

    Args:
        machine: decides which elements of a mask are on, where that matters.
        source: is read.
        places: of the elements.
        mask: for each place; None if all are on.
        others: the items of elements that are not read, for each place.

    Raises:
        UndefinedBehaviour: an element is outside.
    """
    items: list[RuntimeValue] = []
    for at, place in enumerate(places):
        if place > OUTSIDE and mask is None:
            items += read_items(source, place)
        elif place > OUTSIDE and mask is not None:
            items += [
                chosen(machine, mask[at], new, old, source.buffer.element)
                for new, old in zip(read_items(source, place), others[at], strict=True)
            ]
        else:
            _check_off(machine, place, None if mask is None else mask[at])
            items += others[at]
    return items


def _write(
    machine: Machine,
    target: MemRef,
    places: Sequence[int],
    mask: Sequence[Scalar] | None,
    values: Sequence[RuntimeValue],
) -> None:
    """Change the items of elements; see ``_read``."""
    count = prod(target.unit or ())
    for at, place in enumerate(places):
        mine = values[at * count : (at + 1) * count]
        if place > OUTSIDE and mask is None:
            write_items(target, place, mine)
        elif place > OUTSIDE and mask is not None:
            changed = [
                chosen(machine, mask[at], new, old, target.buffer.element)
                for new, old in zip(mine, read_items(target, place), strict=True)
            ]
            write_items(target, place, changed)
        else:
            _check_off(machine, place, None if mask is None else mask[at])


def _check_off(machine: Machine, place: int, lane: Scalar | None) -> None:
    if place == OUTSIDE and (lane is None or machine.domain.decide(lane)):
        raise UndefinedBehaviour("an element of a vector is outside of memory")


# --- transfers ---


@maskable("vector.transfer_read")
def _transfer_read(machine: Machine, operation: Operation, outer: Elements | None) -> Results:
    (base,), starts, (padding,), masks = operation.segments()
    source = view(machine.frame[base], is_written=False)
    shape = vector_shape(operation.results[0].type)
    window = _transfer_window(operation, source, shape)
    mask = _lanes(machine, operation, window, masks, outer)
    places = window.places(machine, source, machine.all(starts), is_masked=mask is not None)
    other = machine.frame[padding]
    items = other.items if isinstance(other, Elements) else [other]
    return [made(operation, _read(machine, source, places, mask, [items] * len(places)))]


@maskable("vector.transfer_write")
def _transfer_write(machine: Machine, operation: Operation, outer: Elements | None) -> Results:
    (value,), (base,), starts, masks = operation.segments()
    target = view(machine.frame[base], is_written=True)
    mine = elements(machine.frame[value], operation)
    window = _transfer_window(operation, target, mine.shape)
    sizes = zip(window.dimensions, window.shape, strict=True)
    if any(at is None and size != 1 for at, size in sizes):
        raise NotInterpreted("vector.transfer_write of a broadcast")
    mask = _lanes(machine, operation, window, masks, outer)
    places = window.places(machine, target, machine.all(starts), is_masked=mask is not None)
    _write(machine, target, places, mask, mine.items)
    return _written(machine, operation, machine.frame[base], target)


def _written(machine: Machine, operation: Operation, base: RuntimeValue, target: MemRef) -> Results:
    """Return the tensor that was written to; nothing for memory."""
    if isinstance(base, MemRef):
        return []
    items = target.buffer.items
    machine.charge(len(items))
    return [Elements(target.sizes, items, target.buffer.element)] if operation.results else []


def _transfer_window(operation: Operation, base: MemRef, shape: Sequence[int]) -> VectorWindow:
    permutation = operation.attributes.get("permutation_map")
    if not isinstance(permutation, AffineMap):
        raise NotInterpreted(f"the permutation of {operation.name}")
    in_bounds = operation.attributes.get("in_bounds")
    count = len(permutation.results)
    known = in_bounds if isinstance(in_bounds, tuple) else (False,) * count
    may_leave = tuple(not each for each in known)
    if len(shape) != count + len(base.unit or ()) or len(may_leave) != count:
        raise NotInterpreted(f"{operation.name} of another rank than its permutation")
    dimensions = tuple(_dimension(each) for each in permutation.results)
    return VectorWindow(tuple(shape[:count]), dimensions, may_leave)


def _dimension(result: Expression) -> int | None:
    if result.kind == "input":
        return result.value
    if result == Expression("constant", 0):
        return None
    raise NotInterpreted("a permutation that is none")


def _lanes(
    machine: Machine,
    operation: Operation,
    window: VectorWindow,
    masks: Sequence[Value],
    outer: Elements | None,
) -> list[Scalar] | None:
    """Return a condition for each element of a window; None without a mask.

    The dimensions of a mask are those of memory, in their order there.
    """
    if masks and outer is not None:
        raise NotInterpreted(f"{operation.name} with two masks")
    mask = elements(machine.frame[masks[0]], operation) if masks else outer
    if mask is None:
        return None
    used = sorted(at for at in window.dimensions if at is not None)
    sizes = [size for _, size in sorted(_sized(window))]
    if mask.shape != (tuple(sizes) or (1,)):
        raise NotInterpreted(f"{operation.name} with a mask of another shape")
    steps = dict(zip(used, row_major(sizes), strict=True))
    places = [0]
    for size, at in zip(window.shape, window.dimensions, strict=True):
        step = 0 if at is None else steps[at]
        places = [base + step * each for base in places for each in range(size)]
    return [mask.items[place] for place in places]


def _sized(window: VectorWindow) -> list[tuple[int, int]]:
    pairs = zip(window.dimensions, window.shape, strict=True)
    return [(at, size) for at, size in pairs if at is not None]


# --- loads and stores ---


def _innermost(
    base: MemRef, shape: Sequence[int], *, may_leave: bool = False, goes_on: bool = False
) -> VectorWindow:
    """Return a window onto the last dimensions; onto one element, if that has the shape."""
    sizes = () if base.unit else tuple(shape)
    if base.unit and base.unit != tuple(shape):
        raise NotInterpreted("a load or a store of another vector than memory has")
    rank = len(base.sizes)
    if len(sizes) > rank:
        raise NotInterpreted("a load or a store of more dimensions than memory has")
    dimensions = tuple(range(rank - len(sizes), rank))
    return VectorWindow(sizes, dimensions, (may_leave,) * len(sizes), goes_on)


def _goes_on(machine: Machine) -> bool:
    """Passes rely on the next row to be behind a row, where it is."""
    return not machine.domain.is_source


@handles("vector.load")
def _load(machine: Machine, operation: Operation, base: RuntimeValue, *starts: Scalar) -> Results:
    source = view(base, is_written=False)
    # What is outside has any value: the documentation permits to read it.
    shape = vector_shape(operation.results[0].type)
    window = _innermost(source, shape, may_leave=True, goes_on=_goes_on(machine))
    places = window.places(machine, source, starts, is_masked=False)
    if machine.domain.is_source and places and set(places) == {BEYOND}:
        raise UndefinedBehaviour("a vector is outside of memory from its start")
    nothing = [poison(machine, source.buffer.element)] * prod(source.unit or ())
    return [made(operation, _read(machine, source, places, None, [nothing] * len(places)))]


@handles("affine.vector_load")
def _affine_load(
    machine: Machine, operation: Operation, base: RuntimeValue, *inputs: Scalar
) -> Results:
    source = view(base, is_written=False)
    window = _innermost(source, vector_shape(operation.results[0].type))
    places = window.places(machine, source, indices(machine, operation, inputs), is_masked=False)
    return [made(operation, _read(machine, source, places, None, []))]


@handles("vector.store", "affine.vector_store")
def _store(
    machine: Machine, operation: Operation, mine: Elements, base: RuntimeValue, *inputs: Scalar
) -> Results:
    target = view(base, is_written=True)
    is_affine = operation.name.startswith("affine.")
    window = _innermost(target, mine.shape, goes_on=not is_affine and _goes_on(machine))
    starts = indices(machine, operation, inputs) if is_affine else inputs
    places = window.places(machine, target, starts, is_masked=False)
    _write(machine, target, places, None, mine.items)
    return []


@handles("vector.maskedload", "vector.maskedstore")
def _masked(machine: Machine, operation: Operation) -> Results:
    is_load = bool(operation.results)
    memory, starts, mask, value = _masked_operands(machine, operation)
    window = _innermost(memory, mask.shape, goes_on=_goes_on(machine))
    if window.shape != mask.shape:
        raise NotInterpreted(f"{operation.name} {'of' if is_load else 'to'} memory of vectors")
    places = window.places(machine, memory, starts, is_masked=True)
    if is_load:
        others = [[each] for each in value.items]
        return [made(operation, _read(machine, memory, places, mask.items, others))]
    _write(machine, memory, places, mask.items, value.items)
    return []


def _masked_operands(
    machine: Machine, operation: Operation
) -> tuple[MemRef, list[Scalar], Elements, Elements]:
    """Return the memory of a load or a store, the indices in it, the mask, and a vector."""
    base, *starts, lanes, other = machine.all(operation.operands)
    memory = view(base, is_written=not operation.results)
    mask, value = (elements(each, operation) for each in (lanes, other))
    return memory, starts, mask, value


@handles("vector.type_cast")
def _type_cast(_: Machine, operation: Operation, source: MemRef) -> Results:
    """See the same memory with other elements: the strides count those."""
    new = operation.results[0].type
    unit = item_of(new)[0]
    offset, rest = divmod(source.offset * prod(source.unit or ()), prod(unit or ()))
    if rest or source.strides != row_major(source.sizes) or not isinstance(new, ShapedType):
        raise NotInterpreted("vector.type_cast of a view with a layout")
    sizes = tuple(size or 0 for size in new.shape)
    return [MemRef(source.buffer, offset, sizes, row_major(sizes), unit)]


# --- single elements, at positions of their own ---


@maskable("vector.gather")
def _gather(machine: Machine, operation: Operation, outer: Elements | None) -> Results:
    if outer is not None:
        raise NotInterpreted("vector.gather with two masks")
    base, *starts, at, lanes, other = operation.operands
    source = view(machine.frame[base], is_written=False)
    passed = elements(machine.frame[other], operation)
    machine.charge(len(passed.items))
    places = _lane_places(machine, operation, source, (*starts, at, lanes))
    return [made(operation, _read_lanes(source, places, passed))]


@handles("vector.scatter")
def _scatter(machine: Machine, operation: Operation) -> Results:
    base, *starts, at, lanes, value = operation.operands
    target = view(machine.frame[base], is_written=True)
    mine = elements(machine.frame[value], operation)
    machine.charge(len(mine.items))
    places = _lane_places(machine, operation, target, (*starts, at, lanes))
    written = [place for place in places if place is not None]
    if len(set(written)) != len(written):
        # The documentation says that the behavior is undefined, or in their order.
        raise OpenOrder("vector.scatter of two elements to one place")
    _write_lanes(target, places, mine)
    return _written(machine, operation, machine.frame[base], target)


def _read_lanes(
    source: MemRef, places: Sequence[int | None], passed: Elements
) -> list[RuntimeValue]:
    return [
        item if place is None else read_items(source, place)[0]
        for place, item in zip(places, passed.items, strict=True)
    ]


def _write_lanes(target: MemRef, places: Sequence[int | None], mine: Elements) -> None:
    for place, item in zip(places, mine.items, strict=True):
        if place is not None:
            write_items(target, place, [item])


def _lane_places(
    machine: Machine, operation: Operation, base: MemRef, operands: Sequence[Value]
) -> list[int | None]:
    """Return where the element of each lane is; None for lanes that are off."""
    *starts, at, lanes = operands
    mask, offsets = (elements(machine.frame[each], operation) for each in (lanes, at))
    type = plain_element(at.type)
    if base.unit or not isinstance(type, IntegerType):
        raise NotInterpreted(f"{operation.name} of memory of vectors")
    firsts = machine.all(starts)
    return [
        _lane_place(machine, base, firsts, offset, type) if machine.domain.decide(lane) else None
        for lane, offset in zip(mask.items, offsets.items, strict=True)
    ]


def _lane_place(
    machine: Machine, base: MemRef, firsts: Sequence[Scalar], offset: Scalar, type: IntegerType
) -> int:
    if type != INDEX:
        offset = applied(machine, "arith.index_cast", [offset], type, INDEX)
    *leading, last = firsts
    last = applied(machine, "arith.addi", [last, offset], INDEX)
    size = base.sizes[-1]
    inside = machine.domain.decide(compared(machine, "ult", last, index(machine, size)))
    if not inside and len(base.sizes) > 1:
        # By the documentation undefined, but the vectorizer counts on rows that follow each other.
        raise NotInterpreted("a position beyond the row of a gather or a scatter")
    indices = [*leading, last]
    found = [
        machine.domain.below(each, INDEX, limit)
        for each, limit in zip(indices, base.sizes, strict=True)
    ]
    return flat(found, base.strides, base.offset)


@handles("vector.expandload", "vector.compressstore")
def _packed(machine: Machine, operation: Operation) -> Results:
    memory, starts, mask, value = _masked_operands(machine, operation)
    places = _packed_places(machine, operation, memory, starts, mask)
    if operation.results:
        return [made(operation, _read_lanes(memory, places, value))]
    _write_lanes(memory, places, value)
    return []


def _packed_places(
    machine: Machine, operation: Operation, base: MemRef, starts: Sequence[Scalar], mask: Elements
) -> list[int | None]:
    """Return where the elements of lanes are that are on, one after the other."""
    if base.unit or len(mask.shape) != 1 or not starts:
        raise NotInterpreted(f"{operation.name} of these types")
    machine.charge(len(mask.items))
    is_on = [machine.domain.decide(lane) for lane in mask.items]
    count = sum(is_on)
    if not count:
        return [None] * len(is_on)
    window = VectorWindow((count,), (len(base.sizes) - 1,), (False,))
    left = iter(window.places(machine, base, starts, is_masked=False))
    return [next(left) if on else None for on in is_on]
