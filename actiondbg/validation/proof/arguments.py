"""Arguments of unknown values, and the numbers that a solver found for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.floats import from_bits
from actiondbg.validation.inputs import Argument, Array, Input, Number, View, element, materialize
from actiondbg.validation.machine import Buffer, RuntimeValue, extent
from actiondbg.validation.program import Module, is_mutable
from actiondbg.validation.proof.operation import Value, sort_of
from actiondbg.validation.proof.terms import Term, Terms
from actiondbg.validation.types import (
    INDEX,
    INDEX_WIDTH,
    FloatType,
    IntegerType,
    ShapedType,
    Type,
    signed,
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
    """Makes the arguments of a function, again and again the same."""

    terms: Terms
    types: Sequence[Type]  # of the arguments
    shapes: Sequence[tuple[int, ...]]  # of the arguments; () for scalars
    index_bits: int = INDEX_WIDTH  # indices are signed numbers of so many bits
    may_be_poison: bool = False  # whether each scalar may be
    # The bits of each scalar in the order of the arguments, and of their elements.
    leaves: list[Term] = field(default_factory=list[Term])

    @property
    def count(self) -> int:
        """The scalars of all arguments."""
        return sum(prod(shape) for shape in self.shapes)

    def make(self) -> tuple[list[RuntimeValue], list[Buffer]]:
        """Return new arguments, and the memory behind them."""
        self.leaves.clear()
        return materialize(self._filled(self._leaf), self.types, lambda leaf, _: leaf)

    def input(self, values: Sequence[int]) -> Input:
        """Return what the function is called with, for the values of the leaves.

        Integers are signed, but those of one bit.
        """
        left = iter(values)
        return self._filled(lambda type: _number(next(left), type))

    def _filled(self, scalar: Callable[[IntegerType | FloatType], Any]) -> Input:
        arguments: list[Argument] = []
        buffers: list[tuple[Any, ...]] = []
        for type, shape in zip(self.types, self.shapes, strict=True):
            kind = element(type)
            if not isinstance(type, ShapedType):
                arguments.append(scalar(kind))
            elif type.kind != "memref":
                arguments.append(Array(shape, tuple(scalar(kind) for _ in range(prod(shape)))))
            else:
                view = View(len(buffers), type.offset or 0, shape, _strides(type, shape))
                length = view.offset + extent(shape, view.strides)
                buffers.append(tuple(scalar(kind) for _ in range(length)))
                arguments.append(view)
        return Input(tuple(arguments), tuple(buffers))

    def _leaf(self, type: IntegerType | FloatType) -> Value:
        name = f"argument {len(self.leaves)}"
        if type == INDEX and self.index_bits < INDEX_WIDTH:
            small = unknown_value(self.terms, name, IntegerType(self.index_bits))
            wide = self.terms.extend(small.term, INDEX_WIDTH, is_signed=True)
            value = Value(wide, small.poison)
        else:
            value = unknown_value(self.terms, name, type)
        bits = value.term.args[0] if value.term.op == "fp.from_bits" else value.term
        self.leaves.append(bits)
        if not self.may_be_poison:
            return value
        return Value(value.term, self.terms.var(f"{name} is poison", "Bool"))


def unknown_value(terms: Terms, name: str, type: Type) -> Value:
    """Return an unknown scalar of a name, which is not poison."""
    sort = sort_of(type)
    if isinstance(sort, tuple):
        return Value(terms.from_bits(terms.var(name, sum(sort)), sort), terms.false)
    return Value(terms.var(name, sort), terms.false)


def unknown_globals(terms: Terms, module: Module, limit: int) -> dict[str, Buffer]:
    """Return unknown memory for each global that may change before the function is called.

    Raises:
        NotInterpreted: one has too many elements.
    """
    found: dict[str, Buffer] = {}
    for symbol, operation in module.others.items():
        type = operation.attributes.get("type")
        if not is_mutable(operation) or not isinstance(type, ShapedType):
            continue
        kind = element(type)
        length = prod(size or 0 for size in type.shape)
        if length > limit:
            raise NotInterpreted(f"proof with the {length:,} elements of global @{symbol}")
        items: list[Any] = [
            unknown_value(terms, f"global {symbol}.{at}", kind) for at in range(length)
        ]
        found[symbol] = Buffer(items, kind)
    return found


def _strides(type: ShapedType, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides: without gaps where they are dynamic."""
    strides: list[int] = []
    stride = 1
    for size, fixed in zip(reversed(shape), reversed(type.strides), strict=True):
        stride = stride if fixed is None else fixed
        strides.insert(0, stride)
        stride *= max(size, 1)
    if any(stride < 0 for stride in strides):
        raise NotInterpreted(f"proof with an argument of type {type}")
    return tuple(strides)


def _number(bits: int, type: IntegerType | FloatType) -> Number:
    if isinstance(type, FloatType):
        return from_bits(bits, type)
    return bits if type.width == 1 else signed(bits, type.width)
