"""The meaning of operations on tensors, and of those of linalg."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from actiondbg.validation.affine import AffineMap
from actiondbg.validation.dialects.elements import (
    chosen,
    chosen_elements,
    index,
    poison,
    scalar_element,
)
from actiondbg.validation.dialects.indices import (
    element_position,
    flat,
    integers,
    kept_dimensions,
    numbers,
    slice_positions,
)
from actiondbg.validation.dialects.memory import read, view, write_items
from actiondbg.validation.domain import NotInterpreted, OpenRace, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import (
    Elements,
    Machine,
    MemRef,
    Results,
    RuntimeValue,
    elements,
    handles,
    positions,
    row_major,
)
from actiondbg.validation.program import MAPS, STRUCTURED, OpaqueAttribute, Operation, Value
from actiondbg.validation.types import INDEX, IntegerType, ShapedType, Type


def tensor_type(type: Type) -> ShapedType:
    """Return the type of a ranked tensor with elements that have a meaning.

    Raises:
        NotInterpreted: it is something else.
    """
    if isinstance(type, ShapedType) and type.kind == "tensor":
        scalar_element(type)
        return type
    raise NotInterpreted(f"the type {type}")


def _result_shape(machine: Machine, operation: Operation) -> tuple[int, ...]:
    """Return the shape of a result whose dynamic sizes are the last operands."""
    shaped = tensor_type(operation.results[0].type)
    dynamic = shaped.shape.count(None)
    left = iter(machine.all(operation.operands[len(operation.operands) - dynamic :]))
    shape = tuple(
        machine.domain.integer(next(left), INDEX) if size is None else size for size in shaped.shape
    )
    if any(size < 0 for size in shape):
        raise UndefinedBehaviour(f"{operation.name} of a negative size")
    return shape


def check_shape(shape: Sequence[int], type: Type, operation: Operation) -> None:
    """Check that the sizes at run time are those of a type.

    Raises:
        UndefinedBehaviour: they are not.
    """
    wanted = tensor_type(type).shape
    fits = len(wanted) == len(shape) and all(
        size is None or size == found for size, found in zip(wanted, shape, strict=True)
    )
    if not fits:
        raise UndefinedBehaviour(f"{operation.name}: the sizes {list(shape)} are not of {type}")


def _reshaped(source: Elements, shape: tuple[int, ...], operation: Operation) -> Elements:
    """Return elements in a shape, which must be of the type of the result."""
    check_shape(shape, operation.results[0].type, operation)
    return replace(source, shape=shape)


@handles("tensor.empty", "tensor.splat")
def _filled(machine: Machine, operation: Operation) -> Results:
    shape = _result_shape(machine, operation)
    machine.charge(prod(shape))
    element = scalar_element(operation.results[0].type)
    is_splat = operation.name == "tensor.splat"
    item = machine.frame[operation.operands[0]] if is_splat else poison(machine, element)
    return [Elements(shape, [item] * prod(shape), element)]


@handles("tensor.from_elements")
def _from_elements(machine: Machine, operation: Operation, *items: Scalar) -> Results:
    shape = _result_shape(machine, Operation("", (), operation.results, {}))
    machine.charge(prod(shape))
    return [Elements(shape, items, scalar_element(operation.results[0].type))]


@handles("tensor.generate")
def _generate(machine: Machine, operation: Operation) -> Results:
    shape = _result_shape(machine, operation)
    machine.charge(prod(shape))
    items: list[RuntimeValue] = []
    for at in product(*map(range, shape)):
        arguments = [index(machine, each) for each in at]
        items += machine.region(operation.regions[0], arguments).operands
    return [Elements(shape, items, scalar_element(operation.results[0].type))]


@handles("tensor.dim")
def _dim(machine: Machine, _: Operation, source: Elements, at: Scalar) -> Results:
    size = source.shape[machine.domain.below(at, INDEX, len(source.shape))]
    return [index(machine, size)]


@handles("tensor.rank")
def _rank(machine: Machine, _: Operation, source: Elements) -> Results:
    return [index(machine, len(source.shape))]


@handles("tensor.cast")
def _cast(_: Machine, operation: Operation, source: Elements) -> Results:
    return [_reshaped(source, source.shape, operation)]


@handles("tensor.extract")
def _extract(machine: Machine, _: Operation, tensor: Elements, *indices: Scalar) -> Results:
    at = element_position(machine, indices, tensor.shape, row_major(tensor.shape))
    return [tensor.items[at]]


@handles("tensor.insert")
def _insert(
    machine: Machine, _: Operation, value: Scalar, tensor: Elements, *indices: Scalar
) -> Results:
    at = element_position(machine, indices, tensor.shape, row_major(tensor.shape))
    machine.charge(len(tensor.items))
    return [tensor.with_items([(at, value)])]


@handles("tensor.extract_slice")
def _extract_slice(machine: Machine, operation: Operation, source: Elements) -> Results:
    sizes, places = slice_positions(machine, operation, source.shape)
    kept = kept_dimensions(operation, tensor_type(operation.results[0].type).shape)
    shape = tuple(sizes[at] for at in kept)
    return [Elements(shape, [source.items[at] for at in places], source.element)]


def inserted_slice(machine: Machine, operation: Operation, into: RuntimeValue) -> Elements:
    """Return a tensor with the slice that an operation inserts, in parallel or not."""
    source = elements(machine.frame[operation.operands[0]], operation)
    tensor = elements(into, operation)
    sizes, places = slice_positions(machine, operation, tensor.shape)
    kept = kept_dimensions(operation, tensor_type(operation.operands[0].type).shape)
    if tuple(sizes[at] for at in kept) != source.shape:
        raise UndefinedBehaviour(f"{operation.name} of a source of other sizes than the slice")
    machine.charge(len(tensor.items))
    return tensor.with_items(zip(places, source.items, strict=True))


@handles("tensor.insert_slice")
def _insert_slice(
    machine: Machine, operation: Operation, _: RuntimeValue, into: RuntimeValue
) -> Results:
    return [inserted_slice(machine, operation, into)]


@handles("tensor.collapse_shape")
def _collapse(_: Machine, operation: Operation, source: Elements) -> Results:
    groups = operation.attributes.get("reassociation")
    assert isinstance(groups, tuple)
    shape = tuple(prod(source.shape[at] for at in numbers(group)) for group in groups)
    if prod(shape) != len(source.items):
        raise UndefinedBehaviour("tensor.collapse_shape of more elements than its result has")
    return [_reshaped(source, shape, operation)]


@handles("tensor.expand_shape")
def _expand(machine: Machine, operation: Operation, source: Elements) -> Results:
    static = operation.attributes.get("static_output_shape")
    shape = tuple(integers(machine, static, operation.operands[1:]))
    groups = operation.attributes.get("reassociation")
    assert isinstance(groups, tuple)
    if any(size < 0 for size in shape):
        raise UndefinedBehaviour("tensor.expand_shape to a negative size")
    found = tuple(prod(shape[at] for at in numbers(group)) for group in groups)
    if (groups and found != source.shape) or prod(shape) != len(source.items):
        raise UndefinedBehaviour("tensor.expand_shape to other sizes than the source has")
    return [_reshaped(source, shape, operation)]


@handles("tensor.reshape")
def _reshape(machine: Machine, operation: Operation, source: Elements, sizes: Elements) -> Results:
    element = sizes.element
    if not isinstance(element, IntegerType):
        raise NotInterpreted("tensor.reshape by sizes that are no integers")
    shape = tuple(machine.domain.integer(each, element) for each in sizes.items)
    if any(size < 0 for size in shape) or prod(shape) != len(source.items):
        raise UndefinedBehaviour("tensor.reshape to another number of elements")
    return [_reshaped(source, shape, operation)]


@handles("tensor.concat")
def _concat(machine: Machine, operation: Operation, *given: RuntimeValue) -> Results:
    sources = [elements(each, operation) for each in given]
    along = operation.attributes.get("dim")
    assert isinstance(along, int)
    shape = list(sources[0].shape)
    shape[along] = sum(source.shape[along] for source in sources)
    before, after = shape[:along], shape[along + 1 :]
    if any([*each.shape[:along], *each.shape[along + 1 :]] != before + after for each in sources):
        raise UndefinedBehaviour("tensor.concat of tensors of different sizes")
    machine.charge(prod(shape))
    items: list[RuntimeValue] = []
    for row in range(prod(before)):
        for source in sources:
            length = source.shape[along] * prod(after)
            items += source.items[row * length : (row + 1) * length]
    return [_reshaped(replace(sources[0], items=items), tuple(shape), operation)]


@handles("tensor.pad")
def _pad(machine: Machine, operation: Operation, source: Elements) -> Results:
    _, lows, highs = operation.segments()
    low = integers(machine, operation.attributes.get("static_low"), lows)
    high = integers(machine, operation.attributes.get("static_high"), highs)
    if any(each < 0 for each in (*low, *high)):
        raise NotInterpreted("tensor.pad by a negative number")
    shape = [sum(each) for each in zip(low, source.shape, high, strict=True)]
    check_shape(shape, operation.results[0].type, operation)
    (block,) = operation.regions[0].blocks
    # Documentation and lowering disagree whether the arguments count from the padding.
    if any(set(block.arguments) & set(inner.operands) for inner in block.operations):
        raise NotInterpreted("tensor.pad by values that depend on the position")
    machine.charge(prod(shape))
    arguments = [index(machine, 0)] * len(shape)
    items = machine.region(operation.regions[0], arguments).operands * prod(shape)
    steps = row_major(shape)
    places = positions(source.shape, steps, flat(low, steps))
    padded = Elements(tuple(shape), items, source.element)
    return [padded.with_items(zip(places, source.items, strict=True))]


@handles("arith.select")
def _select(
    machine: Machine, operation: Operation, condition: Scalar, yes: RuntimeValue, no: RuntimeValue
) -> Results:
    if isinstance(condition, Elements):
        return [chosen_elements(machine, condition.items, yes, no)]
    type = operation.results[0].type
    if not isinstance(type, ShapedType):
        return [chosen(machine, condition, yes, no, scalar_element(type))]
    same = isinstance(yes, Elements) and isinstance(no, Elements) and yes.shape == no.shape
    if not same:
        return [_decided(machine, condition, yes, no)]
    return [chosen_elements(machine, [condition] * len(yes.items), yes, no)]


def _decided(
    machine: Machine, condition: RuntimeValue, yes: RuntimeValue, no: RuntimeValue
) -> RuntimeValue:
    """Choose one of two values that are no elements of a shape; poison has none of its own."""
    try:
        return yes if machine.domain.decide(condition) else no
    except UndefinedBehaviour as error:
        raise NotInterpreted("arith.select of memory by poison") from error


# --- linalg: loops around a body, and packed layouts ---


_PARALLEL = OpaqueAttribute("#linalg.iterator_type<parallel>")

# What ``linalg.index`` asks for, among the values of the body that runs: a list of numbers.
_POSITION = Value(INDEX)


@handles(STRUCTURED)
def _structured(machine: Machine, operation: Operation) -> Results:
    inputs, outputs = _inputs_and_outputs(operation)
    maps = _maps(operation)
    _check_race(operation, maps[len(inputs) :])
    sources = [_view(machine, each, is_written=each in outputs) for each in (*inputs, *outputs)]
    sizes = _sizes(operation, sources, maps)
    count = prod(sizes)
    machine.charge(count)
    places = [_places(source, each, sizes) for source, each in zip(sources, maps, strict=True)]
    _run(machine, operation, sources, places, sizes)
    written = zip(outputs, sources[len(inputs) :], strict=True)
    return [
        Elements(target.sizes, target.buffer.items, target.buffer.element)
        for value, target in written
        if isinstance(machine.frame[value], Elements)
    ]


def _check_race(operation: Operation, outputs: Sequence[AffineMap]) -> None:
    """Raise OpenRace if parallel iterations write the same element."""
    listed = operation.attributes.get("iterator_types")
    loops = listed if isinstance(listed, tuple) else ()
    parallel = {at for at, loop in enumerate(loops) if loop == _PARALLEL}
    for map in outputs:
        if not parallel <= {each.value for each in map.results if each.kind == "input"}:
            raise OpenRace(f"iterations of {operation.name} race for an element")


def _inputs_and_outputs(operation: Operation) -> tuple[Sequence[Value], Sequence[Value]]:
    segments = operation.segments()
    if len(segments) == 2:
        return segments[0], segments[1]
    return operation.operands[:-1], operation.operands[-1:]


def _maps(operation: Operation) -> list[AffineMap]:
    found = operation.attributes.get(MAPS)
    listed = found if isinstance(found, tuple) else ()
    maps = [each for each in listed if isinstance(each, AffineMap)]
    if len(maps) != len(operation.operands) or any(each.symbols for each in maps):
        raise NotInterpreted(f"{operation.name} with unknown maps")
    return maps


def _view(machine: Machine, of: Value, *, is_written: bool) -> RuntimeValue:
    """Return the elements of an operand as memory; a scalar itself."""
    value = machine.frame[of]
    if not isinstance(value, Elements | MemRef):
        return value
    if isinstance(of.type, ShapedType) and of.type.kind == "vector":
        raise NotInterpreted("an operand of linalg that is a vector")
    found = view(value, is_written=is_written)
    if found.unit is not None:
        raise NotInterpreted("an operand of linalg with elements that are vectors")
    return found


def _sizes(
    operation: Operation, sources: Sequence[RuntimeValue], maps: Sequence[AffineMap]
) -> list[int]:
    """Return how often each loop runs.

    Raises:
        UndefinedBehaviour: the operands disagree about it.
    """
    found: dict[int, int] = {}
    for source, map in zip(sources, maps, strict=True):
        if not isinstance(source, MemRef):
            continue
        for result, size in zip(map.results, source.sizes, strict=True):
            if result.kind == "input" and found.setdefault(result.value, size) != size:
                raise UndefinedBehaviour(f"{operation.name} of operands of different sizes")
    if set(found) != set(range(maps[0].dimensions)):
        raise NotInterpreted(f"{operation.name} with loops of unknown sizes")
    return [found[at] for at in range(len(found))]


def _places(source: RuntimeValue, map: AffineMap, sizes: Sequence[int]) -> list[int]:
    """Return where the element of each iteration is.

    Raises:
        UndefinedBehaviour: it is outside.
    """
    if not isinstance(source, MemRef):
        return []
    if all(result.kind == "input" for result in map.results):
        steps = [0] * len(sizes)
        for result, stride in zip(map.results, source.strides, strict=True):
            steps[result.value] += stride
        return positions(sizes, steps, source.offset)
    found: list[int] = []
    for at in product(*(range(size) for size in sizes)):
        indices = map.evaluate(at)
        inside = all(0 <= each < size for each, size in zip(indices, source.sizes, strict=True))
        if not inside:
            raise UndefinedBehaviour("an operation of linalg reaches outside of an operand")
        found.append(flat(indices, source.strides, source.offset))
    return found


def _run(
    machine: Machine,
    operation: Operation,
    sources: Sequence[RuntimeValue],
    places: Sequence[Sequence[int]],
    sizes: Sequence[int],
) -> None:
    """Run the body for each iteration, in the order of loops in each other."""
    region = operation.regions[0]
    wanted = len(region.blocks[0].arguments)
    around = machine.frame.get(_POSITION)
    count = len(_inputs_and_outputs(operation)[1])
    outputs = range(len(sources) - count, len(sources))
    for number, at in enumerate(product(*(range(size) for size in sizes))):
        arguments = [
            read(source, where[number]) if isinstance(source, MemRef) else source
            for source, where in zip(sources[:wanted], places, strict=False)
        ]
        machine.frame[_POSITION] = at
        yielded = machine.region(region, arguments).operands
        for output, value in zip(outputs, yielded, strict=True):
            write_items(sources[output], places[output][number], [value])
    machine.frame[_POSITION] = around


@handles("linalg.index")
def _index(machine: Machine, operation: Operation) -> Results:
    dimension = operation.attributes.get("dim")
    position = machine.frame.get(_POSITION)
    if not isinstance(dimension, int) or position is None:
        raise NotInterpreted("linalg.index outside of a body")
    return [index(machine, position[dimension])]


# --- relayout ---


@handles("linalg.pack")
def _pack(machine: Machine, operation: Operation) -> Results:
    (source,), (dest,), padding, tiles = operation.segments()
    plain, packed = _tensor(machine.frame[source]), _tensor(machine.frame[dest])
    layout = _Layout(machine, operation, tiles, len(plain.shape))
    if packed.shape != layout.packed(plain.shape):
        raise UndefinedBehaviour("linalg.pack into a tensor of other sizes")
    machine.charge(prod(packed.shape))
    strides = row_major(plain.shape)
    items: list[RuntimeValue] = []
    for at in layout.positions(packed.shape):
        if _is_inside(at, plain.shape):
            items.append(plain.items[flat(at, strides)])
        elif padding:
            items.append(machine.frame[padding[0]])
        else:
            raise UndefinedBehaviour("linalg.pack into tiles that a tensor does not fill")
    return [Elements(packed.shape, items, plain.element)]


@handles("linalg.unpack")
def _unpack(machine: Machine, operation: Operation) -> Results:
    source, dest, *tiles = operation.operands
    packed, plain = _tensor(machine.frame[source]), _tensor(machine.frame[dest])
    layout = _Layout(machine, operation, tiles, len(plain.shape))
    layout.check_unpacked(packed.shape, plain.shape)
    machine.charge(prod(packed.shape) + prod(plain.shape))
    strides = row_major(plain.shape)
    pairs = zip(layout.positions(packed.shape), packed.items, strict=True)
    inside = ((flat(at, strides), item) for at, item in pairs if _is_inside(at, plain.shape))
    return [plain.with_items(inside)]


def _tensor(value: RuntimeValue) -> Elements:
    if not isinstance(value, Elements):
        raise NotInterpreted("linalg.pack or linalg.unpack of memory")
    return value


def _is_inside(at: Sequence[int], shape: Sequence[int]) -> bool:
    return all(each < size for each, size in zip(at, shape, strict=True))


class _Layout:
    """How the elements of a tensor of a rank are in tiles."""

    def __init__(
        self, machine: Machine, operation: Operation, tiles: Sequence[Value], rank: int
    ) -> None:
        attributes = operation.attributes
        order = numbers(attributes.get("outer_dims_perm", ()))
        self._order = order or tuple(range(rank))
        self._tiled = numbers(attributes.get("inner_dims_pos"))
        static = attributes.get("static_inner_tiles")
        self._tiles = tuple(integers(machine, static, tiles))
        if any(tile < 1 for tile in self._tiles):
            raise UndefinedBehaviour(f"{operation.name} with tiles of no elements")

    def packed(self, plain: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of a packed tensor."""
        sizes = list(plain)
        for at, tile in zip(self._tiled, self._tiles, strict=True):
            sizes[at] = -(-sizes[at] // tile)
        return (*(sizes[at] for at in self._order), *self._tiles)

    def check_unpacked(self, packed: Sequence[int], plain: Sequence[int]) -> None:
        """Check that a packed tensor has all elements of another one.

        Raises:
            UndefinedBehaviour: it has not.
        """
        rank = len(plain)
        sizes = [0] * rank
        for at, size in zip(self._order, packed[:rank], strict=True):
            sizes[at] = size
        for at, tile in zip(self._tiled, self._tiles, strict=True):
            sizes[at] *= tile
        enough = all(
            has >= wanted if at in self._tiled else has == wanted
            for at, (has, wanted) in enumerate(zip(sizes, plain, strict=True))
        )
        if tuple(packed[rank:]) != self._tiles or not enough:
            raise UndefinedBehaviour("linalg.unpack of a tensor of other sizes")

    def positions(self, packed: Sequence[int]) -> Iterator[list[int]]:
        """Yield where each element of a packed tensor is without tiles; maybe beyond."""
        rank = len(self._order)
        for at in product(*(range(size) for size in packed)):
            found = [0] * rank
            for dimension, outer in zip(self._order, at[:rank], strict=True):
                found[dimension] = outer
            for dimension, tile, inner in zip(self._tiled, self._tiles, at[rank:], strict=True):
                found[dimension] = found[dimension] * tile + inner
            yield found
