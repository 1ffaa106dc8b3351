"""Memory and views of it: how it is made, read, written and freed; memory and tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import cast

from actiondbg.validation.affine import AffineMap
from actiondbg.validation.dialects.elements import applied, index, plain_element, poison
from actiondbg.validation.dialects.indices import (
    element_position,
    flat,
    integers,
    kept_dimensions,
    numbers,
)
from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import (
    Buffer,
    Elements,
    Machine,
    MemRef,
    Opaque,
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
    OpaqueType,
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


# --- views ---


def checked(view: MemRef, type: Type) -> MemRef:
    """Return a view that is as its type says, or else one that nobody may access.

    Raises:
        NotInterpreted: the type is no memref.
    """
    if isinstance(type, OpaqueType) and type.text.startswith("memref<*x"):
        return view
    if not isinstance(type, ShapedType) or len(type.shape) != len(view.sizes):
        raise NotInterpreted(f"a view of type {type}")
    has_layout = "strided<" in type.text or "affine_map<" in type.text
    strides = type.strides if has_layout or None not in type.shape else row_major(view.sizes)
    # The stride of a dimension with one element says nothing, nor do those of no elements.
    is_same = 0 in view.sizes or all(
        stride is None or stride == known or size <= 1
        for stride, known, size in zip(strides, view.strides, view.sizes, strict=True)
    )
    fits = all(
        size is None or size == known for size, known in zip(type.shape, view.sizes, strict=True)
    )
    if not fits or not is_same or type.offset not in (None, view.offset):
        return _nowhere(view, type)
    return view


def _nowhere(view: MemRef, type: ShapedType) -> MemRef:
    """Return a view that nobody may access.

    Making it is no undefined behaviour, as operations without effects may be moved everywhere.
    """
    sizes = tuple(
        known if size is None else size for size, known in zip(type.shape, view.sizes, strict=True)
    )
    dead = Buffer([], view.buffer.element, is_alive=False)
    return replace(view, buffer=dead, sizes=sizes)


@handles("memref.cast", "memref.memory_space_cast", "memref.assume_alignment")
def _cast(_: Machine, operation: Operation, view: MemRef) -> Results:
    results = operation.results
    if results and isinstance(results[0].type, ShapedType):
        rank = len(results[0].type.shape)
        if rank != len(view.sizes):
            raise UndefinedBehaviour("memref.cast to another rank")
    return [checked(view, result.type) for result in results]


def _shaped(type: Type, what: str) -> ShapedType:
    """Return a type that must be of a ranked tensor or memref; else ``what`` has no meaning."""
    if not isinstance(type, ShapedType):
        raise NotInterpreted(f"{what} {type}")
    return type


def _slice(machine: Machine, operation: Operation) -> list[list[int]]:
    """Return the offsets, the sizes and the strides of a slice."""
    names = ("static_offsets", "static_sizes", "static_strides")
    parts = zip(names, operation.segments()[1:], strict=True)
    return [integers(machine, operation.attributes.get(name), part) for name, part in parts]


@handles("memref.subview")
def _subview(machine: Machine, operation: Operation, view: MemRef) -> Results:
    type = _shaped(operation.results[0].type, "memref.subview of type")
    starts, sizes, strides = _slice(machine, operation)
    is_inside = all(
        0 <= start <= whole and (size == 0 or 0 <= start + (size - 1) * stride < whole > start)
        for start, size, stride, whole in zip(starts, sizes, strides, view.sizes, strict=True)
    )
    stepped = [by * stride for by, stride in zip(strides, view.strides, strict=True)]
    kept = kept_dimensions(operation, type.shape)
    offset = flat(starts, view.strides, view.offset)
    kept_strides = tuple(stepped[at] for at in kept)
    kept_sizes = tuple(sizes[at] for at in kept)
    result = replace(view, offset=offset, sizes=kept_sizes, strides=kept_strides)
    return [
        checked(result, type)
        if is_inside and min(sizes, default=0) >= 0
        else _nowhere(result, type)
    ]


@handles("memref.reinterpret_cast")
def _reinterpret(machine: Machine, operation: Operation, view: MemRef) -> Results:
    (offset,), sizes, strides = _slice(machine, operation)
    view = replace(view, offset=offset, sizes=tuple(sizes), strides=tuple(strides))
    return [checked(view, operation.results[0].type)]


@handles("memref.transpose")
def _transpose(_: Machine, operation: Operation, view: MemRef) -> Results:
    permutation = operation.attributes.get("permutation")
    if not isinstance(permutation, AffineMap):
        raise NotInterpreted("memref.transpose")
    sizes = permutation.evaluate(view.sizes)
    result = replace(view, sizes=sizes, strides=permutation.evaluate(view.strides))
    return [checked(result, operation.results[0].type)]


@handles("memref.expand_shape")
def _expand(machine: Machine, operation: Operation, view: MemRef) -> Results:
    shape = operation.attributes.get("static_output_shape")
    sizes = integers(machine, shape, operation.operands[1:])
    if any(size < 0 for size in sizes):
        raise UndefinedBehaviour("a size is negative")
    strides: list[int] = []
    for group, size, stride in zip(_groups(operation), view.sizes, view.strides, strict=True):
        inner = [sizes[at] for at in group]
        if prod(inner) != size:
            raise UndefinedBehaviour("memref.expand_shape to another number of elements")
        strides.extend(stride * step for step in row_major(inner))
    strides.extend([1] * (len(sizes) - len(strides)))  # of a memref without dimensions
    result = replace(view, sizes=tuple(sizes), strides=tuple(strides))
    return [checked(result, operation.results[0].type)]


@handles("memref.collapse_shape")
def _collapse(_: Machine, operation: Operation, view: MemRef) -> Results:
    sizes: list[int] = []
    strides: list[int] = []
    for group in _groups(operation):
        inner = [view.sizes[at] for at in group]
        steps = [view.strides[at] for at in group]
        long = [(size, step) for size, step in zip(inner, steps, strict=True) if size != 1]
        stride = long[-1][1] if long else steps[-1]
        usual = [stride * step for step in row_major([size for size, _ in long])]
        if prod(inner) and [step for _, step in long] != usual:
            raise UndefinedBehaviour("memref.collapse_shape of dimensions that are apart")
        sizes.append(prod(inner))
        strides.append(stride)
    result = replace(view, sizes=tuple(sizes), strides=tuple(strides))
    return [checked(result, operation.results[0].type)]


def _groups(operation: Operation) -> list[tuple[int, ...]]:
    groups = operation.attributes.get("reassociation", ())
    if not isinstance(groups, tuple):
        raise NotInterpreted(operation.name)
    return [numbers(group) for group in groups]


@handles("memref.reshape")
def _reshape(machine: Machine, operation: Operation, view: MemRef, shape: MemRef) -> Results:
    element = plain_element(operation.operands[1].type)
    if not isinstance(element, IntegerType):
        raise NotInterpreted("memref.reshape")
    sizes = [machine.domain.integer(read(shape, at), element) for at in places(machine, shape)]
    if view.strides != row_major(view.sizes):
        raise NotInterpreted("memref.reshape of memory with a layout")
    if any(size < 0 for size in sizes) or prod(sizes) != prod(view.sizes):
        raise UndefinedBehaviour("memref.reshape to another number of elements")
    result = replace(view, sizes=tuple(sizes), strides=row_major(sizes))
    return [checked(result, operation.results[0].type)]


@handles("memref.view")
def _view(
    machine: Machine, operation: Operation, source: MemRef, shift: Scalar, *dynamic: Scalar
) -> Results:
    type = operation.results[0].type
    if not isinstance(type, ShapedType) or item(type) != (None, source.buffer.element):
        raise NotInterpreted("memref.view as another type")
    offset = source.offset + machine.domain.integer(shift, INDEX)
    sizes = sizes_of(machine, type.shape, dynamic)
    if offset < 0 or offset + prod(sizes) > source.offset + source.sizes[0]:
        raise UndefinedBehaviour("memref.view is not within its source")
    if offset:
        raise NotInterpreted("memref.view with a shift")
    return [checked(MemRef(source.buffer, offset, sizes, row_major(sizes)), type)]


@handles("memref.extract_strided_metadata")
def _metadata(machine: Machine, _: Operation, view: MemRef) -> Results:
    found = (view.offset, *view.sizes, *view.strides)
    base = replace(view, offset=0, sizes=(), strides=())
    return [base, *(index(machine, number) for number in found)]


def _is_memref_of(type: Type, view: MemRef) -> bool:
    if not isinstance(type, ShapedType) or type.kind != "memref":
        return False
    return item(type) == (view.unit, view.buffer.element)


@handles("builtin.unrealized_conversion_cast")
def _conversion(machine: Machine, operation: Operation) -> Results:
    """Return the value, in the type of another dialect."""
    if len(operation.operands) != 1 or len(operation.results) != 1:
        raise NotInterpreted("a conversion of several values")
    (operand,), (result,) = operation.operands, operation.results
    value = machine.frame[operand]
    if isinstance(value, Opaque):
        if value.kind != result.type:
            raise NotInterpreted(f"a conversion from {value.kind} to {result.type}")
        return [value.value]
    if operand.type == result.type:
        return [value]
    if isinstance(operand.type, IntegerType) and isinstance(result.type, IntegerType):
        if operand.type.width != result.type.width:
            raise NotInterpreted("a conversion to another width")
        types = (operand.type,), (result.type,)
        return machine.domain.apply("arith.index_cast", (value,), *types, {})
    if isinstance(value, MemRef) and _is_memref_of(result.type, value):
        return [checked(value, result.type)]
    if isinstance(result.type, OpaqueType):
        return [Opaque(operand.type, value)]
    raise NotInterpreted(f"a conversion from {operand.type} to {result.type}")


# --- memory and tensors ---


def _fill(machine: Machine, view: MemRef, elements: Elements) -> None:
    """Write a tensor to a view.

    Raises:
        UndefinedBehaviour: their sizes differ.
    """
    if view.sizes != elements.shape:
        raise UndefinedBehaviour("a tensor is written to memory of other sizes")
    for at, value in zip(places(machine, view), elements.items, strict=True):
        write(view, at, value)


@handles("bufferization.to_tensor")
def _to_tensor(machine: Machine, _: Operation, view: MemRef) -> Results:
    if view.unit is not None:
        raise NotInterpreted("a tensor of vectors")
    items = [read(view, at) for at in places(machine, view)]
    return [Elements(view.sizes, items, view.buffer.element)]


@handles("bufferization.to_buffer")
def _to_buffer(machine: Machine, operation: Operation, source: Elements) -> Results:
    type = _shaped(operation.results[0].type, "bufferization.to_buffer to")
    view = new_memory(machine, type, source.shape)
    _fill(machine, view, source)
    return [checked(view, type)]


@handles("bufferization.clone")
def _clone(machine: Machine, operation: Operation, view: MemRef) -> Results:
    type = _shaped(operation.results[0].type, "bufferization.clone to")
    made = new_memory(machine, type, view.sizes)
    copy(machine, view, made)
    return [made]


@handles("bufferization.alloc_tensor")
def _alloc_tensor(machine: Machine, operation: Operation) -> Results:
    dynamic, copied, _ = operation.segments()
    if copied:
        return [machine.frame[copied[0]]]
    type = _shaped(operation.results[0].type, "a tensor of type")
    sizes = sizes_of(machine, type.shape, machine.all(dynamic))
    machine.charge(prod(sizes))
    element = plain_element(type)
    return [Elements(sizes, [poison(machine, element)] * prod(sizes), element)]


@handles("bufferization.materialize_in_destination")
def _materialize(
    machine: Machine, _: Operation, source: Elements, destination: RuntimeValue
) -> Results:
    if isinstance(destination, MemRef):
        check_alive(destination)
        _fill(machine, destination, source)
        return []
    if destination.shape != source.shape:
        raise UndefinedBehaviour("a tensor is put into one of other sizes")
    return [source]
