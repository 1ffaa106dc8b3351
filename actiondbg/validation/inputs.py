"""Inputs of a function, chosen to hurt."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import prod

from actiondbg.validation.affine import AffineMap, Expression, IntegerSet
from actiondbg.validation.domain import POISON, NotInterpreted, OutOfBudget, Scalar
from actiondbg.validation.floats import rounded
from actiondbg.validation.machine import Buffer, Elements, MemRef, RuntimeValue, extent
from actiondbg.validation.program import Attribute, Dense, Function, walk
from actiondbg.validation.types import FloatType, IntegerType, ShapedType, Type, signed

Number = int | float


@dataclass(frozen=True, slots=True)
class Array:
    """A vector or a tensor."""

    shape: tuple[int, ...]  # the sizes
    values: tuple[Number, ...]  # row by row; integers may be signed or unsigned


@dataclass(frozen=True, slots=True)
class View:
    """A memref argument: a view of one of the input's buffers."""

    buffer: int  # its number; arguments with the same buffer alias
    offset: int  # in elements
    sizes: tuple[int, ...]  # of the dimensions
    strides: tuple[int, ...]  # in elements


Argument = int | float | Array | View


@dataclass(frozen=True, slots=True)
class Input:
    """What a function is called with."""

    arguments: tuple[Argument, ...]  # in order
    buffers: tuple[tuple[Number, ...], ...] = ()  # the elements of the memory behind views
    # Whether dynamic sizes are near numbers of the program: runs may take long.
    is_larger: bool = field(default=False, repr=False)

    @property
    def is_aliased(self) -> bool:
        """Whether two arguments share memory."""
        used = [each.buffer for each in self.arguments if isinstance(each, View)]
        return len(set(used)) < len(used)

    @property
    def elements(self) -> int:
        """The number of elements of all arguments."""
        arrays = (each for each in self.arguments if isinstance(each, Array))
        return sum(len(each.values) for each in arrays) + sum(map(len, self.buffers))

    @property
    def is_exact(self) -> bool:
        """Whether sums and products of the floats are exact in any order: small whole numbers."""
        return all(each.is_integer() and abs(each) <= _LARGEST_EXACT for each in self._floats)

    @property
    def has_specials(self) -> bool:
        """Whether a float is a NaN or an infinity."""
        return not all(map(math.isfinite, self._floats))

    @property
    def _floats(self) -> Iterator[float]:
        arrays = [each.values for each in self.arguments if isinstance(each, Array)]
        rows = chain(self.arguments, *arrays, *self.buffers)
        return (each for each in rows if isinstance(each, float))


def materialize(
    input: Input,
    types: Sequence[Type],
    constant: Callable[[Number, IntegerType | FloatType], Scalar],
) -> tuple[list[RuntimeValue], list[Buffer]]:
    """Return arguments for a ``Machine``, whose scalars a function makes, and their memory.

    A tensor may be given as a view: it has the elements of the memref.
    """
    kinds = [element(type) for type in types]
    pairs = list(zip(input.arguments, kinds, strict=True))
    of_buffers = {each.buffer: kind for each, kind in pairs if isinstance(each, View)}
    buffers = [
        Buffer([constant(value, of_buffers[at]) for value in values], of_buffers[at])
        for at, values in enumerate(input.buffers)
    ]
    made: list[RuntimeValue] = []
    for (argument, kind), type in zip(pairs, types, strict=True):
        match argument:
            case View(buffer, offset, sizes, strides):
                view = MemRef(buffers[buffer], offset, sizes, strides)
                is_tensor = isinstance(type, ShapedType) and type.kind == "tensor"
                items = [view.buffer.items[at] for at in view.places] if is_tensor else []
                made.append(Elements(sizes, items, kind) if is_tensor else view)
            case Array(shape, values):
                made.append(Elements(shape, [constant(value, kind) for value in values], kind))
            case _:
                made.append(constant(argument, kind))
    return made, buffers


def element(type: Type) -> IntegerType | FloatType:
    """Return the type of an argument's scalars.

    Raises:
        NotInterpreted: no argument of the type can be made.
    """
    kind = type.element if isinstance(type, ShapedType) else type
    if isinstance(kind, IntegerType | FloatType):
        return kind
    raise NotInterpreted(f"an argument of type {type}")


# --- choice ---

_SIZES = (4, 1, 3, 0, 2, 5, 8, 7)
_LARGEST_SIZE = 130  # of dynamic dimensions
_MOST_OF_TILES = 2**8  # elements of a tile
_MOST_OF_SIZES = 2**12  # steps of a product of matrices, of dynamic dimensions of one size
_MOST_ELEMENTS = 2**17  # of an argument
_LARGEST_EXACT = 16.0  # of floats whose sums and products are exact
_SHARE_OF_POISON = 0.3
# Of so many inputs one has elements that are hardly ever the same, and no special ones: a NaN, or
# the largest number, would be the sum, or the maximum, of all the others. It has no poison, too.
_PLAIN = 4
_LARGEST_PLAIN = 2**10
# Of eight inputs with exact floats, even ones, without poison. Whole numbers alone hide where
# numbers are cut, and small ones where they overflow.
_NUMBER_WITH_NANS, _NUMBER_WITH_FRACTIONS = 4, 6
# Steps in one, of fractions whose products are exact, or much nearer than results must agree.
_STEPS = {"f64": 512, "f32": 512, "f16": 2, "bf16": 2}
# Whose exponential's square overflows, and whose products with a few others do not.
_LARGE = {"f64": 400.0, "f32": 100.0, "f16": 10.0, "bf16": 100.0}
_DYNAMIC = -(2**63)  # stands for a size that is not known
INDEX_BITS = 32  # of indices, by default
_LARGEST = {"f64": 1.7976931348623157e308, "f32": 3.4028234663852886e38, "f16": 65504.0}
_PRECISIONS = {"f32": 24, "f16": 11, "bf16": 8, "f8E4M3FN": 4, "f8E5M2": 3}
_NARROWING = frozenset({"arith.truncf", "llvm.fptrunc"})
_SMALLEST = {"f64": 5e-324, "f32": 1e-45, "f16": 6e-8}


@dataclass(frozen=True, slots=True)
class Choice:
    """Which inputs are good ones for a function."""

    numbers: tuple[int, ...] = ()  # integers in the program, near which something may happen
    sizes: tuple[int, ...] = ()  # of dynamic dimensions, beside small ones that are always good
    edges: tuple[int, ...] = ()  # indices near which accesses leave static dimensions
    floats: tuple[float, ...] = ()  # floats in the program, at which something may happen
    # Floats whose sums and products are hardly another number in any order, and a few NaNs: small
    # whole numbers most of all.
    exact_floats: bool = False
    # Indices are signed numbers of so many bits; a program with larger ones would need more memory
    # than there is.
    index_bits: int = INDEX_BITS
    may_be_poison: bool = False  # half of the inputs have some
    seed: int = 0


def numbers_in(functions: Iterable[Function]) -> tuple[int, ...]:
    """Return the integers in the attributes of functions, and their neighbours."""
    found = {
        number
        for function in functions
        for operation in walk(function.operation)
        for value in operation.attributes.values()
        for number in _integers(value)
    }
    found.discard(_DYNAMIC)
    near = {number + step for number in found for step in (-1, 0, 1)}
    return tuple(sorted(near, key=abs)[:64])


def floats_in(functions: Iterable[Function]) -> tuple[float, ...]:
    """Return the finite floats in the attributes of functions, and those near which they round."""
    operations = [inner for each in functions for inner in walk(each.operation)]
    values = (value for each in operations for value in each.attributes.values())
    elements = (each.values[:8] if isinstance(each, Dense) else (each,) for each in values)
    found = {
        each for row in elements for each in row if isinstance(each, float) and math.isfinite(each)
    }
    # In the order of the program: each process has to choose the same inputs.
    narrowed = (each.results[0].type for each in operations if each.name in _NARROWING)
    ties = chain.from_iterable(map(_ties, dict.fromkeys(narrowed)))
    return (*sorted(found)[:64], *ties)


def _ties(type: Type) -> list[float]:
    """Return the middle of two numbers, and others that a rounding between makes the same."""
    bits = _PRECISIONS.get(str(type.element if isinstance(type, ShapedType) else type))
    return [1 + 0.5**bits + each for each in (0.0, 0.5**20, 0.5**40)] if bits else []


def _integers(attribute: Attribute) -> Iterator[int]:
    if isinstance(attribute, Dense):
        attribute = attribute.values[:8]
    if isinstance(attribute, tuple):
        yield from (each for part in attribute for each in _integers(part))
    elif isinstance(attribute, int):
        yield attribute
    elif isinstance(attribute, AffineMap):
        yield from (each for result in attribute.results for each in _constants(result))
    elif isinstance(attribute, IntegerSet):
        yield from (each for one in attribute.constraints for each in _constants(one[0]))


def _constants(expression: Expression) -> Iterator[int]:
    if expression.kind == "constant":
        yield expression.value
    for operand in expression.operands:
        yield from _constants(operand)


def sizes_in(functions: Iterable[Function], numbers: Iterable[int]) -> tuple[int, ...]:
    """Return sizes beyond which functions may do something else.

    A size is a number of the program, or the lanes of one or two vectors and one element more.
    """
    found = set(numbers)
    for function in functions:
        for operation in walk(function.operation):
            types = (value.type for value in operation.results)
            vectors = (each for each in types if isinstance(each, ShapedType))
            lanes = {size or 0 for each in vectors if each.kind == "vector" for size in each.shape}
            found |= {size + 1 for size in lanes} | {2 * size + 1 for size in lanes}
    return tuple(sorted(size for size in found if max(_SIZES) < size <= _LARGEST_SIZE))


def edges_in(functions: Iterable[Function]) -> tuple[int, ...]:
    """Return indices near which accesses of functions leave static dimensions.

    Those of vectors do so earlier, by their lanes.
    """
    types = (
        value.type
        for function in functions
        for operation in walk(function.operation)
        for value in (*operation.operands, *operation.results)
    )
    sizes, lanes = set[int](), {0}
    for type in types:
        if isinstance(type, ShapedType):
            found = lanes if type.kind == "vector" else sizes
            found.update(size for size in type.shape if size is not None)
    edges = {size - lane for size in sizes if size > max(_SIZES) for lane in lanes}
    near = {edge + step for edge in edges for step in (-1, 0, 1)}
    return tuple(sorted(each for each in near if each >= 0)[:64])


def choose_inputs(types: Sequence[Type], choice: Choice) -> Iterator[Input]:
    """Yield inputs without end: small and regular ones first, then random ones.

    Raises:
        NotInterpreted: an argument has a type of which no value can be made.
        OutOfBudget: an argument is too large.
    """
    round = 0
    while True:
        yield _Round(random.Random(f"{choice.seed} {round}"), choice, round).input(types)
        round += 1


class _Round:
    """Makes the input of a round, counted from 0."""

    def __init__(self, random: random.Random, choice: Choice, number: int) -> None:
        self._random = random
        self._choice = choice
        self._number = number
        self._size = _SIZES[number % len(_SIZES)]
        self._is_regular = number < len(_SIZES)
        self._buffers: list[tuple[Number, ...]] = []
        self._next = 0
        # The one dimension that is large, counted as Python counts, and its size.
        self._large: tuple[int, int] | None = None
        # By what the dynamic dimensions of arguments without others are multiplied.
        self._tiles: tuple[int, ...] = ()

    def input(self, types: Sequence[Type]) -> Input:
        is_usual = self._is_regular or self._number % 4 != 3
        is_larger = not is_usual and self._take_other_sizes(types)
        arguments = tuple(self._argument(type) for type in types)
        return Input(arguments, tuple(self._buffers), is_larger)

    def _argument(self, type: Type) -> Argument:
        if isinstance(type, ShapedType):
            shape = self._shape(type)
            if prod(shape) > _MOST_ELEMENTS:
                raise OutOfBudget(f"an argument has {prod(shape):,} elements")
            if type.kind == "memref":
                return self._view(type, shape)
            values = tuple(self._number_of(element(type)) for _ in range(prod(shape)))
            return Array(shape, values)
        return self._number_of(element(type), is_argument=True)

    def _take_other_sizes(self, types: Sequence[Type]) -> bool:
        """Take sizes with which a run may take long, if there are any."""
        turn = self._number // 4
        tiles = _tiles_of(types)
        if not tiles:
            return self._take_larger(types, turn)
        if turn % 2:
            return self._take_larger(types, (turn + 1) // 2)
        self._tiles = tiles if turn % 4 else tiles[::-1]
        self._size = 2 + turn // 4 % 2
        return True

    def _take_larger(self, types: Sequence[Type], turn: int) -> bool:
        """Take a size of the program with which a run does not take too long, if there is one.

        Of many dimensions it is one, the last one first, and all others are 1 or 2.
        """
        shapes = [each.shape for each in types if isinstance(each, ShapedType)]
        counts = {shape.count(None) for shape in shapes} - {0}
        rank = max(counts, default=0)
        sizes = self._choice.sizes
        if rank < 3:
            sizes = [each for each in sizes if rank < 2 or each ** (rank + 1) <= _MOST_OF_SIZES]
            self._size = sizes[turn % len(sizes)] if sizes else self._size
        elif sizes:
            places = [*range(rank - 1, -1, -1)]
            if len(counts) > 1:  # the last one of each argument is not the same one
                places += range(-1, -rank - 1, -1)
            round, at = divmod(turn - len(_SIZES) // 4, len(places))
            self._large = (places[at], sizes[-1 - round % len(sizes)])
            self._size = 1 + turn % 2
        return bool(sizes)

    def _shape(self, type: ShapedType) -> tuple[int, ...]:
        """Return the shape of an argument, with sizes for those that are dynamic."""
        if self._tiles and set(type.shape) == {None}:
            tiles = (*self._tiles, *[1] * len(type.shape))
            return tuple(self._size * tile for tile in tiles[: len(type.shape)])
        shape = [self._dimension() if size is None else size for size in type.shape]
        if self._large is not None:
            place, size = self._large
            if -len(shape) <= place < len(shape) and type.shape[place] is None:
                shape[place] = size
        return tuple(shape)

    def _dimension(self) -> int:
        if self._is_regular or self._large or self._tiles or self._random.random() < 0.8:
            return self._size
        return self._random.choice(_SIZES)

    def _view(self, type: ShapedType, shape: tuple[int, ...]) -> View:
        strides: list[int] = []
        stride = 1
        for size, fixed in zip(reversed(shape), reversed(type.strides), strict=True):
            if fixed is not None:
                stride = fixed
            elif strides and not self._is_regular and self._random.random() < 0.5:
                stride += self._random.randrange(3)
            strides.insert(0, stride)
            stride *= max(size, 1)
        offset = type.offset
        if offset is None:
            offset = 0 if self._is_regular else self._random.randrange(4)
        length = offset + extent(shape, strides)
        if length > _MOST_ELEMENTS or any(stride < 0 for stride in strides):
            raise NotInterpreted(f"an argument of type {type}")
        kind = element(type)
        self._buffers.append(tuple(self._number_of(kind) for _ in range(length)))
        return View(len(self._buffers) - 1, offset, shape, tuple(strides))

    def _number_of(self, type: IntegerType | FloatType, is_argument: bool = False) -> Scalar:
        self._next += 1
        has_poison = self._choice.may_be_poison and self._number % 2
        if has_poison and self._random.random() < _SHARE_OF_POISON:
            return POISON
        is_plain = not is_argument and self._number % _PLAIN == 0 and self._number > 0
        if isinstance(type, FloatType):
            if self._choice.exact_floats and self._number > 0:
                return self._exact_float(type, is_argument)
            return self._random.uniform(-8.0, 8.0) if is_plain else self._float(type)
        if type.width == 1:
            return self._random.randrange(2)
        if type.is_index:
            return self._index(is_argument)
        if is_plain:
            return _fit(self._random.randrange(-_LARGEST_PLAIN, _LARGEST_PLAIN), type)
        if self._number == 0:  # all elements differ, as long as there are numbers
            largest = (1 << (type.width - 1)) - 1
            bits = self._next if self._next <= largest else self._random.getrandbits(type.width)
            return _fit(bits, type)
        return _fit(self._integer(type), type)

    def _index(self, is_argument: bool) -> int:
        if not is_argument and self._is_regular:
            return self._next % max(self._size, 1)
        if self._is_regular:
            return (0, self._size, 1, self._size - 1)[self._number % 4] if self._number else 1
        kind = self._random.random()
        if kind < 0.5:
            return self._random.randrange(self._size + 1)
        largest = (1 << (self._choice.index_bits - 1)) - 1
        number = self._random.choice((-1, -2, 10, 100, largest, -largest - 1, 2**31, 2**32 + 1))
        if kind < 0.8 and self._choice.numbers:
            number = self._random.choice(self._choice.numbers)
        if 0.65 < kind < 0.8 and self._choice.edges:
            number = self._random.choice(self._choice.edges)
        return number if -largest - 1 <= number <= largest else self._size

    def _integer(self, type: IntegerType) -> int:
        largest = (1 << (type.width - 1)) - 1
        kind = self._random.random()
        if kind < 0.4 and self._choice.numbers:
            return self._random.choice(self._choice.numbers)
        if kind < 0.7:
            return self._random.choice((0, 1, -1, 2, -2, largest, -largest - 1, largest // 2 + 1))
        if kind < 0.85:
            return self._random.randrange(-9, 10)
        return self._random.getrandbits(type.width)

    def _float(self, type: FloatType) -> float:
        if self._number == 0:  # without a period, which rows or arguments might share
            small = int(_LARGEST_EXACT)
            return float(self._next + 1 if self._next < small else self._random.randint(1, small))
        kind = self._random.random()
        if self._number < 3 or kind < 0.3:
            return float(self._random.randrange(-4, 5))
        if kind < 0.45 and self._choice.floats:
            return rounded(self._random.choice(self._choice.floats), type)
        if kind < 0.7:
            return self._random.choice(_special_floats(type))
        return self._random.uniform(-2.0, 2.0) * 2.0 ** self._random.randrange(-4, 5)

    def _exact_float(self, type: FloatType, is_argument: bool) -> float:
        steps = _STEPS.get(type.name, 1) if self._number % 8 == _NUMBER_WITH_FRACTIONS else 1
        if self._number % 8 == _NUMBER_WITH_NANS:
            large = _LARGE.get(type.name, 4.0)
            if is_argument:
                infinity = _infinity(type)
                return self._random.choice((_nan(type), infinity, -infinity, large, -large))
            if self._random.random() > 0.95:
                return _nan(type)  # in any order, a sum with one is one
        return self._random.randrange(-4 * steps, 4 * steps + 1) / steps


def _tiles_of(types: Sequence[Type]) -> tuple[int, ...]:
    """Return the sizes of tiles, static ones beside dynamic ones, where another argument may hold
    the same elements without tiles; none if they are large.
    """
    shapes = [each.shape for each in types if isinstance(each, ShapedType) and None in each.shape]
    if not any(set(shape) == {None} for shape in shapes):
        return ()
    tiled = (tuple(size for size in shape if size is not None) for shape in shapes)
    found = next((tiles for tiles in tiled if prod(tiles) > 1), ())
    return found if prod(found) <= _MOST_OF_TILES else ()


def _fit(value: int, type: IntegerType) -> int:
    """Return a number cut down to the bits of a type, signed."""
    return signed(value & ((1 << type.width) - 1), type.width)


def _special_floats(type: FloatType) -> tuple[float, ...]:
    largest = _LARGEST.get(type.name, 1.0)
    smallest = _SMALLEST.get(type.name, 0.5)
    infinity = _infinity(type)
    return (0.0, -0.0, 1.0, -1.0, 0.5, _nan(type), infinity, -infinity, largest, -largest, smallest)


def _infinity(type: FloatType) -> float:
    """Return an infinity, or 2 of a type that may have none."""
    return math.inf if type.name in _LARGEST or type.name == "bf16" else 2.0


def _nan(type: FloatType) -> float:
    """Return a NaN, or 0 of a type that may have none."""
    return math.nan if type.name in _LARGEST or type.name == "bf16" else 0.0


def aliased(input: Input, types: Sequence[Type]) -> Input | None:
    """Return an input with the first two memrefs of a type in the same memory, if there are two."""
    seen: dict[str, View] = {}
    arguments = list(input.arguments)
    for at, (argument, type) in enumerate(zip(input.arguments, types, strict=True)):
        if not isinstance(argument, View):
            continue
        first = seen.setdefault(str(type), argument)
        if first is not argument and first.sizes == argument.sizes:
            arguments[at] = first
            return _renumbered(arguments, input)
    return None


def _renumbered(arguments: Sequence[Argument], input: Input) -> Input:
    """Return an input with the buffers that its arguments use."""
    used = sorted({each.buffer for each in arguments if isinstance(each, View)})
    numbers = {old: new for new, old in enumerate(used)}
    renamed = tuple(
        replace(each, buffer=numbers[each.buffer]) if isinstance(each, View) else each
        for each in arguments
    )
    return Input(renamed, tuple(input.buffers[each] for each in used), input.is_larger)
