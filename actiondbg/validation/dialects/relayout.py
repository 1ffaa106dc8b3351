"""The meaning of operations that pack tensors into tiles, and unpack them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from actiondbg.validation.dialects.indices import flat, integers, numbers, row_major
from actiondbg.validation.domain import NotInterpreted, UndefinedBehaviour
from actiondbg.validation.machine import Elements, Frame, Machine, RuntimeValue, handles
from actiondbg.validation.program import Operation, Value

_Results = Sequence[RuntimeValue]


@handles("linalg.pack")
def _pack(machine: Machine, operation: Operation, frame: Frame) -> _Results:
    (source,), (dest,), padding, tiles = operation.segments()
    plain, packed = _tensor(frame[source]), _tensor(frame[dest])
    layout = _Layout(machine, operation, frame, tiles, len(plain.shape))
    if packed.shape != layout.packed(plain.shape):
        raise UndefinedBehaviour("linalg.pack into a tensor of other sizes")
    machine.charge(prod(packed.shape))
    strides = row_major(plain.shape)
    items: list[RuntimeValue] = []
    for at in layout.positions(packed.shape):
        if _is_inside(at, plain.shape):
            items.append(plain.items[flat(at, strides)])
        elif padding:
            items.append(frame[padding[0]])
        else:
            raise UndefinedBehaviour("linalg.pack into tiles that a tensor does not fill")
    return [Elements(packed.shape, items, plain.element)]


@handles("linalg.unpack")
def _unpack(machine: Machine, operation: Operation, frame: Frame) -> _Results:
    source, dest, *tiles = operation.operands
    packed, plain = _tensor(frame[source]), _tensor(frame[dest])
    layout = _Layout(machine, operation, frame, tiles, len(plain.shape))
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
    """How the elements of a tensor are in tiles.

    Args:
        machine: interprets it.
        operation: has the attributes.
        frame: of the operation.
        tiles: the sizes that are operands.
        rank: of the tensor without tiles.
    """

    def __init__(
        self,
        machine: Machine,
        operation: Operation,
        frame: Frame,
        tiles: Sequence[Value],
        rank: int,
    ) -> None:
        attributes = operation.attributes
        order = numbers(attributes.get("outer_dims_perm", ()))
        self._order = order or tuple(range(rank))
        self._tiled = numbers(attributes.get("inner_dims_pos"))
        static = attributes.get("static_inner_tiles")
        self._tiles = tuple(integers(machine, frame, static, tiles))
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
