"""Functions with smaller sizes, for sizes of which nothing depends on more than their equality."""

from __future__ import annotations

import re
from dataclasses import replace

from actiondbg.validation.affine import AffineMap
from actiondbg.validation.program import (
    Attribute,
    Block,
    Dense,
    Function,
    Module,
    Operation,
    Region,
    Value,
)
from actiondbg.validation.types import ShapedType, Type

# Sizes that differ stay different, and no one is a multiple of another one.
_SMALL = (2, 3, 5, 7, 11)
# Whose meaning is the same for all sizes, if those of operands and results fit.
_ANY_SIZE = re.compile(
    r"(?:arith|math)\..*|linalg\.(?:generic|index|yield|fill|map|reduce"
    r"|transpose|broadcast|matmul|batch_matmul|matvec|vecmat|dot|batch_matvec|elementwise"
    r"|add|sub|mul|div|exp|log|negf|abs|copy|max|min|select)|tensor\.empty|func\.return|cut\.copy"
)


class NotScaled(Exception):
    """The meaning may depend on the sizes."""


def scaled(before: Module, after: Module, symbol: str) -> tuple[Module, Module]:
    """Return modules with a function of smaller sizes each.

    Args:
        before: with the function, which calls no other.
        after: likewise.
        symbol: of the function.

    Raises:
        NotScaled: an operation may depend on its sizes, or none is large.
    """
    functions = [module.functions[symbol] for module in (before, after)]
    sizes = _Sizes()
    for function in functions:
        sizes.note(function)
    if not sizes.has_large:
        raise NotScaled
    made = [_Copy(sizes).function(function) for function in functions]
    first, second = (Module({symbol: each}, {}) for each in made)
    return first, second


class _Sizes:
    """Which size stands for which."""

    def __init__(self) -> None:
        self._small: dict[int, int] = {0: 0, 1: 1}
        self.has_large = False

    def note(self, function: Function) -> None:
        """Choose small sizes for those of a function."""
        assert function.body is not None
        for block in function.body.blocks:
            for value in block.arguments:
                self._note(value.type)
            for operation in block.operations:
                _check(operation)
                for value in operation.results:
                    self._note(value.type)

    def _note(self, type: Type) -> None:
        for size in type.shape if isinstance(type, ShapedType) else ():
            if size is None:
                raise NotScaled
            if size in self._small:
                continue
            if len(self._small) - 2 == len(_SMALL):
                raise NotScaled
            self._small[size] = _SMALL[len(self._small) - 2]
            self.has_large = self.has_large or size > _SMALL[-1]

    def type(self, type: Type) -> Type:
        """Return a type with small sizes."""
        if not isinstance(type, ShapedType):
            return type
        shape = tuple(self._small[size or 0] for size in type.shape)
        words = "x".join((*map(str, shape), str(type.element)))
        return replace(type, shape=shape, text=f"{type.kind}<{words}>")


def _check(operation: Operation) -> None:
    """Raise NotScaled if the meaning of an operation may depend on sizes."""
    if _ANY_SIZE.fullmatch(operation.name) is None:
        raise NotScaled
    for value in operation.attributes.values():
        parts = value if isinstance(value, tuple) else (value,)
        for part in parts:
            if not _is_any_size(part):
                raise NotScaled
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                _check_inner(inner)


def _is_any_size(attribute: Attribute) -> bool:
    if isinstance(attribute, AffineMap):
        return all(each.kind == "input" for each in attribute.results)
    return not isinstance(attribute, Dense) or attribute.is_splat


def _check_inner(operation: Operation) -> None:
    if operation.name == "linalg.index" or operation.regions:
        raise NotScaled
    if any(isinstance(value.type, ShapedType) for value in operation.operands):
        raise NotScaled


class _Copy:
    """Copies a function with other types.

    Args:
        sizes: gives the types.
    """

    def __init__(self, sizes: _Sizes) -> None:
        self._sizes = sizes
        self._values: dict[Value, Value] = {}

    def function(self, function: Function) -> Function:
        assert function.body is not None
        body = self._region(function.body)
        operation = Operation("func.func", (), (), function.operation.attributes, (body,))
        inputs, results = (
            tuple(map(self._sizes.type, types)) for types in (function.inputs, function.results)
        )
        symbol, is_private = function.symbol, function.is_private
        return Function(symbol, inputs, results, body, is_private, operation)

    def _region(self, region: Region) -> Region:
        blocks: list[Block] = []
        for block in region.blocks:
            copied = Block(tuple(map(self._value, block.arguments)))
            copied.operations += [self._operation(each) for each in block.operations]
            blocks.append(copied)
        return Region(tuple(blocks))

    def _operation(self, operation: Operation) -> Operation:
        return Operation(
            operation.name,
            tuple(map(self._value, operation.operands)),
            tuple(map(self._value, operation.results)),
            {name: self._attribute(value) for name, value in operation.attributes.items()},
            tuple(map(self._region, operation.regions)),
        )

    def _attribute(self, value: Attribute) -> Attribute:
        if not isinstance(value, Dense):
            return value
        kind = self._sizes.type(value.type)
        assert isinstance(kind, ShapedType)
        return Dense(kind, value.values)

    def _value(self, value: Value) -> Value:
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = Value(self._sizes.type(value.type))
        return found
