"""The meaning of operations of linalg: loops around a body, and packed layouts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from actiondbg.validation.affine import AffineMap
from actiondbg.validation.dialects.indices import flat, integers, numbers
from actiondbg.validation.dialects.memory import read, view, write_items
from actiondbg.validation.dialects.scalars import index
from actiondbg.validation.domain import NotInterpreted, OpenRace, UndefinedBehaviour
from actiondbg.validation.machine import (
    Elements,
    Machine,
    MemRef,
    Results,
    RuntimeValue,
    handles,
    positions,
    row_major,
)
from actiondbg.validation.program import MAPS, STRUCTURED, OpaqueAttribute, Operation, Value
from actiondbg.validation.types import INDEX, ShapedType

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
    for at in product(*_ranges(sizes)):
        indices = map.evaluate(at)
        inside = all(0 <= each < size for each, size in zip(indices, source.sizes, strict=True))
        if not inside:
            raise UndefinedBehaviour("an operation of linalg reaches outside of an operand")
        found.append(flat(indices, source.strides, source.offset))
    return found


def _ranges(sizes: Sequence[int]) -> list[range]:
    return [range(size) for size in sizes]


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
    for number, at in enumerate(product(*_ranges(sizes))):
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
    items = list(plain.items)
    for at, item in zip(layout.positions(packed.shape), packed.items, strict=True):
        if _is_inside(at, plain.shape):
            items[flat(at, strides)] = item
    return [Elements(plain.shape, items, plain.element)]


def _tensor(value: RuntimeValue) -> Elements:
    if not isinstance(value, Elements):
        raise NotInterpreted("linalg.pack or linalg.unpack of memory")
    return value


def _is_inside(at: Sequence[int], shape: Sequence[int]) -> bool:
    return all(each < size for each, size in zip(at, shape, strict=True))


class _Layout:
    """How the elements of a tensor of a rank are in tiles."""

    def __init__(
        self,
        machine: Machine,
        operation: Operation,
        tiles: Sequence[Value],
        rank: int,
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
