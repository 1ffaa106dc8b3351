"""Functions with smaller sizes, for sizes of which nothing depends on more than their equality."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from actiondbg.validation.affine import AffineMap
from actiondbg.validation.machine import row_major
from actiondbg.validation.program import (
    Attribute,
    Block,
    Dense,
    Function,
    Module,
    Operation,
    Pair,
    Region,
    Value,
    walk,
)
from actiondbg.validation.types import INDEX, ShapedType, Type

# Sizes that differ stay different, in their order, and no one is a multiple of another one.
_SMALL = (2, 3, 5, 7, 11)
# Whose meaning is the same for all sizes, if those of operands and results fit.
_LINALG = re.compile(
    r"linalg\.(?:generic|index|yield|fill|map|reduce|transpose|broadcast|matmul|batch_matmul|matvec"
    r"|vecmat|dot|batch_matvec|elementwise|add|sub|mul|div|exp|log|negf|abs|copy|max|min|select)"
)
_ANY_SIZE = re.compile(
    r"math\..*|tensor\.empty|bufferization\.alloc_tensor|func\.return|cut\.copy"
    r"|scf\.(?:for|yield)|cf\.(?:cond_)?br"
    r"|memref\.(?:alloc|alloca|dealloc|load|store|copy)"
)
_LARGE = 12  # the least size that is worth it
_OUTPUT_SHAPE = "static_output_shape"
_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape")
# Of numbers that may be sizes or places.
_ANY_INDEX = re.compile(r"arith\.(?:constant|cmpi|select|(?:min|max)[su]i)")


class NotScaled(Exception):
    """The meaning may depend on the sizes."""


def scaled(pair: Pair) -> Pair:
    """Return a function that calls no other with smaller sizes.

    Raises:
        NotScaled: an operation may depend on its sizes, or none is large.
    """
    functions = (pair.source, pair.target)
    sizes = _Sizes(functions)
    made = (_Copy(sizes).function(function) for function in functions)
    before, after = (Module({pair.symbol: each}, {}) for each in made)
    return Pair(pair.symbol, before, after)


class _Sizes:
    """The small size that stands for each size of functions.

    Raises:
        NotScaled: an operation may depend on its sizes, or none is large.
    """

    def __init__(self, functions: Sequence[Function]) -> None:
        types = {kind for each in functions for kind in _types(each.operation)}
        shaped = [each for each in types if isinstance(each, ShapedType)]
        sizes = {size for each in shaped for size in each.shape} - {0, 1}
        known = [each for each in sizes if each is not None]
        if len(known) < len(sizes) or len(known) > len(_SMALL) or max(known, default=0) < _LARGE:
            raise NotScaled
        self._small = {0: 0, 1: 1, **dict(zip(sorted(known), _SMALL, strict=False))}
        for function in functions:
            for operation in walk(function.operation):
                if operation is not function.operation:
                    self._check(operation)
            _check_indices(function)

    def of(self, size: int) -> int:
        """Return the small size for one; raises NotScaled for another number."""
        if size not in self._small:
            raise NotScaled
        return self._small[size]

    def type(self, type: Type) -> Type:
        """Return a type with small sizes."""
        if not isinstance(type, ShapedType):
            return type
        old = tuple(size or 0 for size in type.shape)
        shape = tuple(map(self.of, old))
        words = "x".join((*map(str, shape), str(type.element)))
        text = f"{type.kind}<{words}>"
        if type.kind != "memref":
            return replace(type, shape=shape, text=text)
        if type.strides != row_major(old) or type.offset != 0:
            raise NotScaled
        return replace(type, shape=shape, strides=row_major(shape), text=text)

    def _check(self, operation: Operation) -> None:
        """Raise NotScaled if the meaning of an operation may depend on sizes."""
        for value in operation.attributes.values():
            parts = value if isinstance(value, tuple) else (value,)
            if not all(_is_any_size(part) for part in parts):
                raise NotScaled
        if operation.name in _RESHAPES:
            _check_reshape(operation)
        elif _LINALG.fullmatch(operation.name):
            for region in operation.regions:
                for block in region.blocks:
                    for inner in block.operations:
                        _check_inner(inner)
        elif not operation.name.startswith("arith.") and not _ANY_SIZE.fullmatch(operation.name):
            raise NotScaled


def _types(operation: Operation) -> Iterator[Type]:
    """Yield the types of the values in an operation."""
    for each in walk(operation):
        yield from (value.type for value in each.results)
        for region in each.regions:
            for block in region.blocks:
                yield from (value.type for value in block.arguments)


def _is_any_size(attribute: Attribute) -> bool:
    if isinstance(attribute, AffineMap):
        return all(each.kind == "input" for each in attribute.results)
    return not isinstance(attribute, Dense) or attribute.is_splat


def _check_reshape(operation: Operation) -> None:
    """Raise NotScaled unless nothing but dimensions of size 1 come and go."""
    source, result = operation.operands[0].type, operation.results[0].type
    if not isinstance(source, ShapedType) or not isinstance(result, ShapedType):
        raise NotScaled
    large = [[size for size in each.shape if size != 1] for each in (source, result)]
    groups = operation.attributes.get("reassociation")
    shape = max(source.shape, result.shape, key=len)
    if large[0] != large[1] or not isinstance(groups, tuple):
        raise NotScaled
    for group in groups:
        if not isinstance(group, tuple):
            raise NotScaled
        if sum(isinstance(at, int) and shape[at] != 1 for at in group) > 1:
            raise NotScaled


def _check_inner(operation: Operation) -> None:
    if operation.name == "linalg.index" or operation.regions:
        raise NotScaled
    if any(isinstance(value.type, ShapedType) for value in operation.operands):
        raise NotScaled


def _check_indices(function: Function) -> None:
    """Raise NotScaled if places are computed but by counting."""
    ones: set[Value] = set()
    for operation in walk(function.operation):
        values = (*operation.operands, *operation.results)
        if not operation.name.startswith(("arith.", "math.")) or all(
            value.type != INDEX for value in values
        ):
            continue
        if operation.attributes.get("value") == 1:
            ones.update(operation.results)
        is_count = operation.name == "arith.addi" and not ones.isdisjoint(operation.operands)
        if not is_count and not _ANY_INDEX.fullmatch(operation.name):
            raise NotScaled


class _Copy:
    """Copies a function with other types."""

    def __init__(self, sizes: _Sizes) -> None:
        self._sizes = sizes
        self._values: dict[Value, Value] = {}
        self._blocks: dict[Block, Block] = {}

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
        for block in region.blocks:
            self._blocks[block] = Block(tuple(map(self._value, block.arguments)))
        for block in region.blocks:
            self._blocks[block].operations += map(self._operation, block.operations)
        return Region(tuple(self._blocks[block] for block in region.blocks))

    def _operation(self, operation: Operation) -> Operation:
        attributes = {name: self._attribute(value) for name, value in operation.attributes.items()}
        shape = attributes.get(_OUTPUT_SHAPE)
        if isinstance(shape, tuple):
            attributes[_OUTPUT_SHAPE] = tuple(self._number(each) for each in shape)
        if any(value.type == INDEX for value in operation.results) and "value" in attributes:
            attributes["value"] = self._number(attributes["value"])
        return Operation(
            operation.name,
            tuple(map(self._value, operation.operands)),
            tuple(map(self._value, operation.results)),
            attributes,
            tuple(map(self._region, operation.regions)),
            tuple(self._blocks[each] for each in operation.successors),
        )

    def _number(self, value: Attribute) -> int:
        if not isinstance(value, int):
            raise NotScaled
        return self._sizes.of(value)

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
