"""Memory: how it is allocated, read, written and freed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import cast

from actiondbg.validation.dialects.indices import element_position
from actiondbg.validation.dialects.scalars import applied, index, poison
from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import (
    Buffer,
    Elements,
    Machine,
    MemRef,
    Results,
    RuntimeValue,
    extent,
    handles,
    positions,
    row_major,
)
from actiondbg.validation.program import Dense, Operation, Symbol
from actiondbg.validation.types import (
    BOOL,
    INDEX,
    INDEX_WIDTH,
    ComplexType,
    FloatType,
    IntegerType,
    ScalarType,
    ShapedType,
    Type,
)

_VECTOR = re.compile(r"vector<((?:\d+x)*)([a-z]\w*)>")


def item(type: Type) -> tuple[tuple[int, ...] | None, ScalarType]:
    """Return the shape, None of a scalar, and the scalar type of what a memref's elements are.

    Raises:
        NotInterpreted: neither scalars nor vectors of fixed sizes.
    """
    element = type.element if isinstance(type, ShapedType) else type
    if isinstance(element, IntegerType | FloatType | ComplexType):
        return None, element
    matched = _VECTOR.fullmatch(str(element))
    if matched is None:
        raise NotInterpreted(f"memory of {element}")
    shape = tuple(int(size) for size in matched[1].split("x") if size)
    return shape, _named(matched[2])


def _named(name: str) -> ScalarType:
    if name == "index":
        return INDEX
    if re.fullmatch(r"i\d+", name):
        return IntegerType(int(name[1:]))
    if name.startswith(("f", "bf", "tf")):
        return FloatType(name)
    raise NotInterpreted(f"memory of vectors of {name}")


def place(machine: Machine, view: MemRef, indices: Sequence[Scalar]) -> int:
    """Return where the element at indices is in its buffer, counted as the view's offset is.

    Raises:
        UndefinedBehaviour: the memory has been freed, or an index is outside.
    """
    check_alive(view)
    return view.offset + element_position(machine, indices, view.sizes, view.strides)


def check_alive(view: MemRef) -> None:
    """Check that memory may be read.

    Raises:
        UndefinedBehaviour: it has been freed.
    """
    if not view.buffer.is_alive:
        raise UndefinedBehaviour("memory is used after it was freed")


def check_writable(view: MemRef) -> None:
    """Check that memory may be written to.

    Raises:
        UndefinedBehaviour: it has been freed, or is constant.
    """
    check_alive(view)
    if view.buffer.is_constant:
        raise UndefinedBehaviour("constant memory is written to")


def read(view: MemRef, at: int) -> RuntimeValue:
    """Return an element at a place that ``place`` found."""
    if view.unit is None:
        return view.buffer.items[_start(view, at, 1)]
    return Elements(view.unit, read_items(view, at), view.buffer.element)


def read_items(view: MemRef, at: int) -> Results:
    """Return the items of an element."""
    count = prod(view.unit or ())
    start = _start(view, at, count)
    return view.buffer.items[start : start + count]


def write(view: MemRef, at: int, value: RuntimeValue) -> None:
    """Change an element at a place that ``place`` found."""
    check_writable(view)
    if isinstance(value, Elements):
        write_items(view, at, value.items)
    else:
        view.buffer.items[_start(view, at, 1)] = value


def write_items(view: MemRef, at: int, items: Results) -> None:
    """Change the items of an element, of memory that is known to be writable."""
    start = _start(view, at, len(items))
    view.buffer.items[start : start + len(items)] = items


def _start(view: MemRef, at: int, count: int) -> int:
    start = at * count
    if start < 0 or start + count > len(view.buffer.items):
        raise UndefinedBehaviour("a view is larger than its memory")
    return start


def view(value: RuntimeValue, *, is_written: bool) -> MemRef:
    """Return memory, or a tensor as memory: a copy if it is written.

    Raises:
        UndefinedBehaviour: the memory is freed, or constant.
    """
    if isinstance(value, Elements):
        items = list(value.items) if is_written else cast("list[RuntimeValue]", value.items)
        return MemRef(Buffer(items, value.element), 0, value.shape, row_major(value.shape))
    if not isinstance(value, MemRef):
        raise NotInterpreted("elements of neither a tensor nor memory")
    (check_writable if is_written else check_alive)(value)
    return value


def places(machine: Machine, view: MemRef) -> list[int]:
    """Return where the elements of a view are, row by row.

    Raises:
        UndefinedBehaviour: the memory has been freed.
    """
    check_alive(view)
    machine.charge(prod(view.sizes))
    return positions(view.sizes, view.strides, view.offset)


def sizes_of(
    machine: Machine, shape: Sequence[int | None], dynamic: Sequence[Scalar]
) -> tuple[int, ...]:
    """Return the sizes of something new, of which a type leaves some to operands.

    Raises:
        UndefinedBehaviour: a size is negative.
    """
    left = iter(dynamic)
    sizes = tuple(
        machine.domain.integer(next(left), INDEX) if size is None else size for size in shape
    )
    if any(size < 0 for size in sizes):
        raise UndefinedBehaviour("a size is negative")
    if prod(sizes) >= 2 ** (INDEX_WIDTH - 1):
        raise UndefinedBehaviour("there are more elements than an index counts")
    return sizes


def new_memory(machine: Machine, type: Type, sizes: tuple[int, ...]) -> MemRef:
    """Return uninitialised memory of the layout of a type."""
    if not isinstance(type, ShapedType):
        raise NotInterpreted(f"memory of type {type}")
    shape, element = item(type)
    usual = row_major(sizes)
    known = type.strides or usual
    strides = tuple(
        default if stride is None else stride for stride, default in zip(known, usual, strict=True)
    )
    offset = type.offset or 0
    if min(strides, default=0) < 0 or offset < 0:
        raise NotInterpreted(f"memory of type {type}")
    count = (offset + extent(sizes, strides) if all(sizes) else 0) * prod(shape or ())
    machine.charge(count)
    buffer = Buffer([poison(machine, element)] * count, element)
    return MemRef(buffer, offset, sizes, strides, shape)


@handles("memref.alloc", "memref.alloca")
def _alloc(machine: Machine, operation: Operation) -> Results:
    type = operation.results[0].type
    dynamic, symbols = operation.segments()
    if symbols or not isinstance(type, ShapedType):
        raise NotInterpreted(f"{operation.name} of type {type}")
    view = new_memory(machine, type, sizes_of(machine, type.shape, machine.all(dynamic)))
    if operation.name == "memref.alloca":
        machine.allocas.append(view.buffer)
    return [view]


@handles("memref.dealloc")
def _dealloc(_: Machine, __: Operation, view: MemRef) -> Results:
    _free(view)
    return []


def _free(view: MemRef) -> None:
    if not view.buffer.is_alive:
        raise UndefinedBehaviour("memory is freed twice")
    if view.buffer.is_constant:
        raise UndefinedBehaviour("constant memory is freed")
    view.buffer.is_alive = False


@handles("bufferization.dealloc")
def _dealloc_owned(machine: Machine, operation: Operation) -> Results:
    """Free memory that no retained view is of, and say who owns the retained ones."""
    freed, conditions, retained = (machine.all(segment) for segment in operation.segments())
    owned: list[RuntimeValue] = []
    for view in retained:
        owns = machine.domain.constant(0, BOOL)
        for other, condition in zip(freed, conditions, strict=True):
            if other.buffer is view.buffer:
                owns = applied(machine, "arith.ori", (owns, condition), BOOL)
        owned.append(owns)
    kept = {view.buffer for view in retained}
    dead: set[Buffer] = set()
    for view, condition in zip(freed, conditions, strict=True):
        if view.buffer in kept or not machine.domain.decide(condition):
            continue
        if view.buffer not in dead:
            _free(view)
        dead.add(view.buffer)
    return owned


@handles("memref.realloc")
def _realloc(machine: Machine, operation: Operation, old: MemRef, *dynamic: Scalar) -> Results:
    type = operation.results[0].type
    assert isinstance(type, ShapedType)
    new = new_memory(machine, type, sizes_of(machine, type.shape, dynamic))
    if new.strides != (1,) or old.strides != (1,) or new.offset or old.offset:
        raise NotInterpreted("memref.realloc of memory with a layout")
    check_writable(old)
    count = min(len(old.buffer.items), len(new.buffer.items))
    machine.charge(count)
    new.buffer.items[:count] = old.buffer.items[:count]
    old.buffer.is_alive = False
    return [new]


@handles("memref.load")
def _load(machine: Machine, _: Operation, view: MemRef, *indices: Scalar) -> Results:
    return [read(view, place(machine, view, indices))]


@handles("memref.store")
def _store(
    machine: Machine, _: Operation, value: RuntimeValue, view: MemRef, *indices: Scalar
) -> Results:
    write(view, place(machine, view, indices), value)
    return []


@handles("memref.copy")
def _copy(machine: Machine, _: Operation, source: MemRef, destination: MemRef) -> Results:
    copy(machine, source, destination)
    return []


def copy(machine: Machine, source: MemRef, destination: MemRef) -> None:
    """Copy the elements of a view to another one.

    Raises:
        UndefinedBehaviour: their sizes differ.
        NotInterpreted: they overlap, but are not the same.
    """
    if source.sizes != destination.sizes:
        raise UndefinedBehaviour("memory is copied to a view of other sizes")
    check_writable(destination)
    from_places = places(machine, source)
    to_places = places(machine, destination)
    is_simple = source.buffer is not destination.buffer or from_places == to_places
    if not is_simple and set(from_places) & set(to_places):
        raise NotInterpreted("memory is copied to where it overlaps itself")
    for at, to in zip(from_places, to_places, strict=True):
        write(destination, to, read(source, at))


@handles("memref.get_global")
def _get_global(machine: Machine, operation: Operation) -> Results:
    symbol = operation.attributes.get("name")
    type = operation.results[0].type
    if not isinstance(symbol, Symbol) or len(symbol.path) != 1 or not isinstance(type, ShapedType):
        raise NotInterpreted("memref.get_global")
    sizes = sizes_of(machine, type.shape, [])
    buffer = global_buffer(machine, symbol.path[0])
    return [MemRef(buffer, type.offset or 0, sizes, row_major(sizes), item(type)[0])]


def global_buffer(machine: Machine, name: str) -> Buffer:
    """Return the memory of a global, as it is now."""
    found = machine.globals.get(name)
    if found is not None:
        return found
    operation = machine.module.others.get(name)
    if operation is None or operation.name != "memref.global":
        raise NotInterpreted(f"a global @{name}")
    type = operation.attributes["type"]
    if not isinstance(type, ShapedType):
        raise NotInterpreted(f"a global of type {type}")
    if type.strides != row_major(sizes := sizes_of(machine, type.shape, [])) or type.offset:
        raise NotInterpreted("a global with a layout")
    buffer = machine.globals[name] = new_memory(machine, type, sizes).buffer
    value = operation.attributes.get("initial_value")
    buffer.is_constant = bool(operation.attributes.get("constant"))
    if isinstance(value, Dense):
        buffer.items[:] = machine.constant(value, value.type).items
    elif value is not True:  # which stands for memory without a value
        del machine.globals[name]
        raise NotInterpreted(f"the value of the global @{name}")
    return buffer


@handles("memref.dim")
def _dim(machine: Machine, _: Operation, view: MemRef, dimension: Scalar) -> Results:
    at = machine.domain.below(dimension, INDEX, len(view.sizes))
    return [index(machine, view.sizes[at])]


@handles("memref.rank")
def _rank(machine: Machine, _: Operation, view: MemRef) -> Results:
    return [index(machine, len(view.sizes))]


@handles("memref.global", "memref.prefetch", "affine.prefetch", "bufferization.dealloc_tensor")
def _nothing(_: Machine, __: Operation) -> Results:
    return []


@handles("memref.alloca_scope")
def _alloca_scope(machine: Machine, operation: Operation) -> Results:
    return machine.scoped(operation.regions[0], []).operands
