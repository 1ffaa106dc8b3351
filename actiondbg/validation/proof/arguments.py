"""Arguments of unknown values, and the numbers that a solver found for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.floats import from_bits
from actiondbg.validation.inputs import Argument, Array, Input, Number, View
from actiondbg.validation.machine import Buffer, Elements, MemRef, RuntimeValue
from actiondbg.validation.program import Module, Operation
from actiondbg.validation.proof.operation import Value, sort_of
from actiondbg.validation.proof.terms import Term, Terms, signed
from actiondbg.validation.types import (
    INDEX,
    INDEX_WIDTH,
    ComplexType,
    FloatType,
    IntegerType,
    ShapedType,
    Type,
)

_MOST_COMBINATIONS = 64  # of dynamic sizes; of more, only those with all sizes equal


def size_combinations(
    types: Sequence[Type], sizes: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the shapes of arguments, () for a scalar, with each choice of the dynamic sizes."""
    shapes = [each.shape if isinstance(each, ShapedType) else () for each in types]
    count = sum(size is None for shape in shapes for size in shape)
    choices: Iterator[Sequence[int]]
    if len(sizes) ** count <= _MOST_COMBINATIONS:
        choices = product(sizes, repeat=count)
    else:
        choices = iter([(size,) * count for size in sizes])
    for choice in choices:
        left = iter(choice)
        yield tuple(
            tuple(next(left) if size is None else size for size in shape) for shape in shapes
        )


@dataclass(slots=True)
class SymbolicArguments:
    """Makes the arguments of a function, again and again the same.

    Args:
        terms: what makes their terms.
        types: of the arguments.
        shapes: of the arguments; () for scalars.
        may_be_poison: whether scalars may be, and elements.
        is_aliased: whether memrefs of the same type and shape share memory.
        index_bits: indices are signed numbers of so many bits.

    Attributes:
        leaves: the bits of each scalar in the order of the arguments, and of their elements.
        poison: for each leaf, whether it is.
    """

    terms: Terms
    types: Sequence[Type]
    shapes: Sequence[tuple[int, ...]]
    may_be_poison: bool = False
    is_aliased: bool = False
    index_bits: int = INDEX_WIDTH
    leaves: list[Term] = field(default_factory=list[Term])
    poison: list[Term] = field(default_factory=list[Term])

    @property
    def count(self) -> int:
        """The scalars of all arguments."""
        return sum(prod(shape) for shape in self.shapes)

    def make(self) -> tuple[list[RuntimeValue], list[Buffer]]:
        """Return new arguments, and the memory behind them."""
        self.leaves.clear()
        self.poison.clear()
        buffers: list[Buffer] = []
        places: dict[object, int] = {}
        made: list[RuntimeValue] = []
        for at, (type, shape) in enumerate(zip(self.types, self.shapes, strict=True)):
            if not isinstance(type, ShapedType):
                made.append(self._scalar(type, f"{at}"))
                continue
            element = _element(type)
            if type.kind != "memref":
                names = (f"{at}.{item}" for item in range(prod(shape)))
                items = [self._leaf(name, element) for name in names]
                made.append(Elements(shape, items, element))
                continue
            key = (str(type), shape) if self.is_aliased else at
            if key not in places:
                places[key] = len(buffers)
                buffers.append(self._buffer(type, shape, at))
            made.append(_view(type, shape, buffers[places[key]]))
        return made, buffers

    def _scalar(self, type: Type, name: str) -> RuntimeValue:
        if isinstance(type, ComplexType):
            raise NotInterpreted(f"proof with an argument of type {type}")
        return self._leaf(name, type)

    def _buffer(self, type: ShapedType, shape: tuple[int, ...], at: int) -> Buffer:
        element = _element(type)
        length = _length(type, shape)
        items: list[Any] = [self._leaf(f"{at}.{item}", element) for item in range(length)]
        return Buffer(items, element)

    def _leaf(self, name: str, type: Type) -> Value:
        name = f"argument {name}"
        if type == INDEX and self.index_bits < INDEX_WIDTH:
            small = unknown_value(
                self.terms, name, IntegerType(self.index_bits), self.may_be_poison
            )
            wide = self.terms.extend(small.term, INDEX_WIDTH, is_signed=True)
            value = Value(wide, small.poison)
        else:
            value = unknown_value(self.terms, name, type, self.may_be_poison)
        bits = value.term.args[0] if value.term.op == "fp.from_bits" else value.term
        self.leaves.append(bits)
        self.poison.append(value.poison)
        return value

    @property
    def wanted(self) -> list[Term]:
        """The terms whose values make an input."""
        return [*self.leaves, *self.poison]

    def input(self, values: Sequence[int]) -> tuple[Input, bool]:
        """Return what the function is called with, for the values of ``wanted``.

        Integers are signed, but those of one bit. Also returns whether a scalar is poison, for
        which the input has any number.
        """
        numbers = iter(values[: len(self.leaves)])
        arguments: list[Argument] = []
        buffers: list[tuple[Number, ...]] = []
        places: dict[object, int] = {}
        for at, (type, shape) in enumerate(zip(self.types, self.shapes, strict=True)):
            if not isinstance(type, ShapedType):
                arguments.append(_number(next(numbers), type))
                continue
            element = _element(type)
            if type.kind != "memref":
                items = tuple(_number(next(numbers), element) for _ in range(prod(shape)))
                arguments.append(Array(shape, items))
                continue
            key = (str(type), shape) if self.is_aliased else at
            if key not in places:
                places[key] = len(buffers)
                length = _length(type, shape)
                buffers.append(tuple(_number(next(numbers), element) for _ in range(length)))
            offset, strides = _layout(type, shape)
            arguments.append(View(places[key], offset, shape, strides))
        return Input(tuple(arguments), tuple(buffers)), any(values[len(self.leaves) :])


def unknown_value(terms: Terms, name: str, type: Type, may_be_poison: bool) -> Value:
    """Return an unknown scalar of a name."""
    sort = sort_of(type)
    poison = terms.var(f"{name} is poison", "Bool") if may_be_poison else terms.false
    if isinstance(sort, tuple):
        return Value(terms.from_bits(terms.var(name, sum(sort)), sort), poison)
    return Value(terms.var(name, sort), poison)


def unknown_globals(terms: Terms, module: Module, limit: int) -> dict[str, Buffer]:
    """Return unknown memory for each global that may change before the function is called.

    Raises:
        NotInterpreted: one has too many elements.
    """
    found: dict[str, Buffer] = {}
    for symbol, operation in module.others.items():
        type = operation.attributes.get("type")
        if not _is_mutable(operation) or not isinstance(type, ShapedType):
            continue
        element = _element(type)
        length = prod(size or 0 for size in type.shape)
        if length > limit:
            raise NotInterpreted(f"proof with the {length:,} elements of global @{symbol}")
        items: list[Any] = [
            unknown_value(terms, f"global {symbol}.{at}", element, False) for at in range(length)
        ]
        found[symbol] = Buffer(items, element)
    return found


def _is_mutable(operation: Operation) -> bool:
    return operation.name == "memref.global" and not operation.attributes.get("constant")


def _element(type: ShapedType) -> IntegerType | FloatType:
    if isinstance(type.element, IntegerType | FloatType):
        return type.element
    raise NotInterpreted(f"proof with an argument of type {type}")


def _layout(type: ShapedType, shape: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Return the offset and the strides: without gaps where they are dynamic."""
    strides: list[int] = []
    stride = 1
    for size, fixed in zip(reversed(shape), reversed(type.strides), strict=True):
        stride = stride if fixed is None else fixed
        strides.insert(0, stride)
        stride *= max(size, 1)
    if any(stride < 0 for stride in strides):
        raise NotInterpreted(f"proof with an argument of type {type}")
    return type.offset or 0, tuple(strides)


def _length(type: ShapedType, shape: tuple[int, ...]) -> int:
    offset, strides = _layout(type, shape)
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    return offset + (last + 1 if all(shape) else 0)


def _view(type: ShapedType, shape: tuple[int, ...], buffer: Buffer) -> MemRef:
    offset, strides = _layout(type, shape)
    return MemRef(buffer, offset, shape, strides)


def _number(bits: int, type: Type) -> Number:
    if isinstance(type, FloatType):
        return from_bits(bits, type)
    assert isinstance(type, IntegerType)
    return bits if type.width == 1 else signed(bits, type.width)
