"""Views of memory, and how memory and tensors become each other."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from actiondbg.validation.affine import AffineMap
from actiondbg.validation.dialects.indices import (
    flat,
    integers,
    kept_dimensions,
    numbers,
)
from actiondbg.validation.dialects.memory import (
    check_alive,
    copy,
    item,
    new_memory,
    places,
    read,
    sizes_of,
    write,
)
from actiondbg.validation.dialects.scalars import index, plain_element, poison
from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import (
    Buffer,
    Elements,
    Machine,
    MemRef,
    Opaque,
    Results,
    RuntimeValue,
    handles,
    row_major,
)
from actiondbg.validation.program import Operation
from actiondbg.validation.types import INDEX, IntegerType, OpaqueType, ShapedType, Type


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
    statics = numbers(operation.attributes.get("static_sizes"))
    kept = kept_dimensions(statics, type.shape)
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
