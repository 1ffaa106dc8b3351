"""A program as plain objects: what proof and interpretation walk over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from actiondbg.validation.affine import AffineMap, IntegerSet
from actiondbg.validation.types import ShapedType, Type

# The maps of an operation of linalg, also where they follow from its name: an attribute of ours.
MAPS = "_maps"
STRUCTURED = "linalg.generic"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A reference to a symbol: the names from the outermost one, without ``@``."""

    path: tuple[str, ...]


class OtherNaN(float):
    """A NaN with a sign or a payload, which a bitcast shows; all else takes it for any NaN."""

    bits: str  # what tells it from others

    def __new__(cls, value: float, bits: str) -> OtherNaN:
        made = super().__new__(cls, value)
        made.bits = bits
        return made

    def __repr__(self) -> str:
        return f"nan {self.bits}"


@dataclass(frozen=True, slots=True)
class Dense:
    """Constant elements."""

    type: ShapedType
    values: tuple[int | float, ...]  # row by row; a single one if all are the same

    @property
    def is_splat(self) -> bool:
        return len(self.values) == 1


@dataclass(frozen=True, slots=True)
class OpaqueAttribute:
    """Any other attribute, as MLIR prints it: ``#arith.overflow<nsw>``."""

    text: str


# An integer attribute is an int (signed), a float attribute a float, an array and a dense array a
# tuple, a dictionary a dict, a unit attribute True, a type attribute its type.
Attribute = (
    bool
    | int
    | float
    | str
    | tuple["Attribute", ...]
    | Mapping[str, "Attribute"]
    | Dense
    | AffineMap
    | IntegerSet
    | Symbol
    | Type
    | OpaqueAttribute
)


@dataclass(eq=False, slots=True)
class Value:
    """A result of an operation, or an argument of a block; compared by identity."""

    type: Type


@dataclass(eq=False, slots=True)
class Operation:
    """An operation."""

    name: str  # with its dialect
    # Before those of successors; ``successor_operands`` are not apart, see ``operandSegmentSizes``
    # of ``attributes``.
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    attributes: Mapping[str, Attribute]  # the properties, too
    regions: tuple[Region, ...] = ()
    successors: tuple[Block, ...] = ()
    line: int = 0  # where it is in the text that was read, from 1; 0 if unknown

    @property
    def is_structured(self) -> bool:
        """Whether it does what its maps and its body say, as the named operations of linalg do."""
        return bool(self.attributes.get(MAPS) and self.regions)

    def segments(self) -> list[tuple[Value, ...]]:
        """Return the operands by ``operandSegmentSizes``; one segment without it."""
        sizes = self.attributes.get("operandSegmentSizes")
        if not isinstance(sizes, tuple):
            return [self.operands]
        segments: list[tuple[Value, ...]] = []
        at = 0
        for size in sizes:
            assert isinstance(size, int)
            segments.append(self.operands[at : at + size])
            at += size
        return segments


@dataclass(eq=False, slots=True)
class Block:
    """A block; the last operation is its terminator."""

    arguments: tuple[Value, ...]
    operations: list[Operation] = field(default_factory=list[Operation])


@dataclass(eq=False, slots=True)
class Region:
    """A region; the first block is its entry."""

    blocks: tuple[Block, ...]


@dataclass(eq=False, slots=True)
class Function:
    """A function of ``func`` or ``llvm``."""

    symbol: str
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]  # the types of the results
    body: Region | None  # None of a declaration
    is_private: bool  # whether only the module calls it
    operation: Operation


@dataclass(eq=False, slots=True)
class Module:
    """The symbols of a module."""

    functions: dict[str, Function]  # by symbol
    # Any other operation, such as ``memref.global``, by symbol, or by its place.
    others: dict[str, Operation]
    source: str = ""
    _structures: dict[str, str | None] = field(default_factory=dict[str, str | None])
    _callers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def operation(self, symbol: str) -> Operation | None:
        """Return the operation with a symbol."""
        function = self.functions.get(symbol)
        return function.operation if function is not None else self.others.get(symbol)

    def structure(self, symbol: str) -> str | None:
        """Return the structure of the operation with a symbol; None if there is none."""
        if symbol not in self._structures:
            operation = self.operation(symbol)
            self._structures[symbol] = None if operation is None else structure(operation)
        return self._structures[symbol]

    def callers(self) -> dict[str, set[str]]:
        """Return for each symbol the functions that refer to it."""
        if not self._callers:
            self._callers = {symbol: set[str]() for symbol in self.functions}
            for symbol, function in self.functions.items():
                for name in references(function.operation):
                    self._callers.setdefault(name, set()).add(symbol)
        return self._callers


def walk(operation: Operation) -> Iterator[Operation]:
    """Yield an operation, then each one in its regions, in their order."""
    left = [operation]
    while left:
        each = left.pop()
        yield each
        if each.regions:
            blocks = [block for region in each.regions for block in region.blocks]
            for block in reversed(blocks):
                left += reversed(block.operations)


def structure(operation: Operation) -> str:
    """Return a text that two operations have if they differ only in names of values and lines."""
    numbers: dict[object, int] = {}
    parts: list[str] = []

    def number(value: object) -> int:
        return numbers.setdefault(value, len(numbers))

    def add(each: Operation) -> None:
        attributes = sorted(each.attributes.items(), key=lambda item: item[0])
        types = [str(value.type) for value in each.results]
        operands = [number(value) for value in each.operands]
        results = [number(value) for value in each.results]
        successors = [number(block) for block in each.successors]
        parts.append(f"{each.name} {operands} {results} {types} {successors} {attributes!r}")
        for region in each.regions:
            parts.append("(")
            for block in region.blocks:
                types = [str(value.type) for value in block.arguments]
                arguments = [number(value) for value in block.arguments]
                parts.append(f"^{number(block)} {arguments} {types}")
                for inner in block.operations:
                    add(inner)
            parts.append(")")

    add(operation)
    return "\n".join(parts)


def references(operation: Operation) -> Iterator[str]:
    """Yield the symbols to which an operation, and each one in it, refers."""
    for inner in walk(operation):
        for value in inner.attributes.values():
            if isinstance(value, Symbol):
                yield value.path[0]


def called(module: Module, symbol: str) -> Iterator[Function]:
    """Yield a function, and the functions of the module that it may call, each once."""
    left = [symbol]
    seen: set[str] = set()
    while left:
        name = left.pop()
        function = module.functions.get(name)
        if function is None or name in seen:
            continue
        seen.add(name)
        yield function
        left += references(function.operation)


def is_same(before: Module, after: Module, symbols: Iterable[str]) -> bool:
    """Whether symbols, and all to which they refer, are the same in both modules."""
    seen: set[str] = set()
    left = list(symbols)
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        if before.structure(name) != after.structure(name):
            return False
        operation = before.operation(name)
        if operation is not None:
            left += references(operation)
    return True


def is_mutable(operation: Operation) -> bool:
    """Whether an operation is a global that may change."""
    return operation.name == "memref.global" and not operation.attributes.get("constant")


class FunctionPair(NamedTuple):
    """A function before and after an action, with the modules around it, and its pass."""

    symbol: str
    before: Module
    after: Module
    suspect: str = ""
    has_small_indices: bool = False  # of a piece: whether indices at its begin are as arguments

    @property
    def source(self) -> Function:
        return self.before.functions[self.symbol]

    @property
    def target(self) -> Function:
        return self.after.functions[self.symbol]

    @property
    def is_bufferized(self) -> bool:
        """Whether the types differ in nothing but tensors that became memrefs."""
        source, target = self.source, self.target
        if (source.inputs, source.results) == (target.inputs, target.results):
            return False
        pairs = [(source.inputs, target.inputs), (source.results, target.results)]
        return all(
            len(left) == len(right) and all(map(_is_related, left, right)) for left, right in pairs
        )


def _is_related(source: Type, target: Type) -> bool:
    """Whether a type is the same, or a tensor that became a memref."""
    if not isinstance(source, ShapedType) or not isinstance(target, ShapedType):
        return source == target
    is_buffer = (source.kind, target.kind) == ("tensor", "memref")
    same = (source.shape, source.element) == (target.shape, target.element)
    return source == target or (is_buffer and same)
