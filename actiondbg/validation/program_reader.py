"""Programs read by MLIR's Python bindings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from math import prod
from typing import Any, Literal, cast

from actiondbg.ir.bindings import IRReader
from actiondbg.validation.affine import parse_affine
from actiondbg.validation.floats import from_bits
from actiondbg.validation.program import (
    MAPS,
    Attribute,
    Block,
    Dense,
    Function,
    Module,
    OpaqueAttribute,
    Operation,
    OtherNaN,
    Region,
    Symbol,
    Value,
)
from actiondbg.validation.types import (
    INDEX,
    INDEX_WIDTH,
    ComplexType,
    FloatType,
    IntegerType,
    OpaqueType,
    ScalarType,
    ShapedType,
    Type,
)

_KINDS: dict[str, Literal["vector", "tensor", "memref"]] = {
    "VectorType": "vector",
    "RankedTensorType": "tensor",
    "MemRefType": "memref",
}
_DYNAMIC = -(2**63)  # a size, a stride or an offset
_FUNCTIONS = frozenset({"func.func", "llvm.func"})
_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_MOST_ELEMENTS = 2**20  # of a constant
# Positive and quiet, without a payload: of f16, bf16, f32 and f64.
_USUAL_NANS = frozenset({"0x7E00", "0x7FC0", "0x7FC00000", "0x7FF8000000000000"})
_LONG = 64  # characters
_SHORTEST_BITS = len("0x7E00")
_PACKED = re.compile(r'<"0x([0-9A-F]+)">')
_WIDE = frozenset({"f80", "f128"})  # which no Python number holds
# They have a property which the bindings do not show as an attribute.
_LINEARIZE = "affine.linearize_index"
_HIDING = re.compile(rf"llvm\.(?:add|sub|mul|shl|trunc|getelementptr)|{_LINEARIZE}|ptr\.\w+")
# In generic form, in which no string has a quotation mark.
_HIDDEN = re.compile(rf'"(?:{_HIDING.pattern})"\([^)]*\)(?: <\{{(.*?)\}}>)?')
_OVERFLOW = re.compile(r"overflowFlags = (\d+)")
_OVERFLOWS = ("none", "nsw", "nuw", "nsw, nuw")  # by the number of the property


class ProgramReader:
    """Reads IR, each text in a context that all texts of the reader share.

    Raises:
        IRNotParsed: the bindings are not installed.
    """

    def __init__(self) -> None:
        self._reader = IRReader()

    def read(self, text: str) -> Module:
        """Read a module, or a function as a module of its own.

        Raises:
            IRNotParsed: the IR is invalid, as it may be in the middle of a conversion.
        """
        return _Conversion(text).module(self._reader.read_module(text))


class _Conversion:
    """Converts the objects of the bindings of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._hidden: Iterator[str] = iter(())
        self._types: dict[Any, Type] = {}
        self._attributes: dict[Any, Attribute] = {}
        self._converters: dict[str, Callable[[Any], Attribute]] = {
            "IntegerAttr": _integer,
            "FloatAttr": _float,
            **dict.fromkeys(("BoolAttr", "StringAttr"), _value),
            "UnitAttr": lambda _: True,
            "TypeAttr": lambda parsed: self._type(parsed.value),
            "ArrayAttr": lambda parsed: tuple(self._attribute(each) for each in parsed),
            "DictAttr": lambda parsed: {each.name: self._attribute(each.attr) for each in parsed},
            "FlatSymbolRefAttr": lambda parsed: Symbol((parsed.value,)),
            "SymbolRefAttr": lambda parsed: Symbol(tuple(parsed.value)),
            **dict.fromkeys(
                ("AffineMapAttr", "IntegerSetAttr"), lambda parsed: parse_affine(str(parsed))
            ),
            **dict.fromkeys(
                ("DenseElementsAttr", "DenseIntElementsAttr", "DenseFPElementsAttr"), self._dense
            ),
        }

    def module(self, parsed: Any) -> Module:
        root = parsed.operation
        if _HIDING.search(self._text):
            self._hidden = _hidden_properties(root)
        tops: list[Any] = [root]
        if root.name == "builtin.module":
            tops = [each.operation for each in parsed.body.operations]
        module = Module({}, {}, self._text)
        for at, top in enumerate(tops):
            operation = self._operation(top, {}, {})
            symbol = operation.attributes.get("sym_name", f"{operation.name} {at}")
            assert isinstance(symbol, str)
            if operation.name in _FUNCTIONS:
                module.functions[symbol] = self._function(symbol, operation, top)
            else:
                module.others[symbol] = operation
        return module

    def _function(self, symbol: str, operation: Operation, parsed: Any) -> Function:
        blocks = operation.regions[0].blocks
        body = operation.regions[0] if blocks else None
        private = operation.attributes.get("sym_visibility") in ("private", "nested")
        kind = parsed.attributes["function_type"].value
        if operation.name == "func.func":
            inputs = tuple(self._type(each) for each in kind.inputs)
            results = tuple(self._type(each) for each in kind.results)
        else:
            inputs = tuple(value.type for value in blocks[0].arguments) if blocks else ()
            returns = [each for block in blocks for each in block.operations[-1:]]
            found = [each for each in returns if each.name == "llvm.return"]
            results = tuple(value.type for value in found[0].operands) if found else ()
        return Function(symbol, inputs, results, body, private, operation)

    def _operation(
        self, parsed: Any, values: dict[Any, Value], blocks: dict[Any, Block]
    ) -> Operation:
        results = tuple(self._value(each, values) for each in parsed.results)
        operands = tuple(self._value(each, values) for each in parsed.operands)
        attributes = {name: self._attribute_of(parsed, name) for name in parsed.attributes}
        if _HIDING.fullmatch(parsed.name):
            attributes |= _hidden_attributes(parsed.name, next(self._hidden))
        if parsed.name.startswith("linalg."):
            attributes[MAPS] = tuple(self._attribute(each) for each in self._maps(parsed))
        regions = tuple(self._region(each, values) for each in parsed.regions)
        successors = tuple(blocks[each] for each in parsed.successors)
        line = getattr(parsed.location, "start_line", 0)
        return Operation(parsed.name, operands, results, attributes, regions, successors, line)

    def _region(self, parsed: Any, values: dict[Any, Value]) -> Region:
        blocks = {
            each: Block(tuple(self._value(argument, values) for argument in each.arguments))
            for each in parsed.blocks
        }
        for each, block in blocks.items():
            for inner in each.operations:
                block.operations.append(self._operation(inner.operation, values, blocks))
        return Region(tuple(blocks.values()))

    def _value(self, parsed: Any, values: dict[Any, Value]) -> Value:
        found = values.get(parsed)
        if found is None:
            found = values[parsed] = Value(self._type(parsed.type))
        return found

    def _maps(self, parsed: Any) -> Sequence[Any]:
        return import_module("mlir.dialects.linalg").get_indexing_maps(parsed) or ()

    # --- types ---

    def _type(self, parsed: Any) -> Type:
        found = self._types.get(parsed)
        if found is None:
            found = self._types[parsed] = self._new_type(parsed)
        return found

    def _new_type(self, parsed: Any) -> Type:
        class_name = type(parsed).__name__
        if class_name == "IntegerType":
            return IntegerType(parsed.width, sign=str(parsed).partition("i")[0])
        if class_name == "IndexType":
            return INDEX
        if class_name == "ComplexType":
            element = self._type(parsed.element_type)
            if isinstance(element, IntegerType | FloatType):
                return ComplexType(element)
        if class_name in _KINDS:
            return self._shaped(_KINDS[class_name], parsed)
        text = str(parsed)
        if text.startswith(("f", "bf", "tf")) and text.isalnum():
            return FloatType(text)
        return OpaqueType(text)

    def _shaped(self, kind: Literal["vector", "tensor", "memref"], parsed: Any) -> Type:
        element = self._type(parsed.element_type)
        if not isinstance(element, ScalarType | OpaqueType):
            element = OpaqueType(str(element))
        if kind == "vector" and any(parsed.scalable_dims):
            return OpaqueType(str(parsed))
        shape = tuple(None if size < 0 else int(size) for size in parsed.shape)
        if kind != "memref":
            return ShapedType(kind, shape, element, text=str(parsed))
        try:
            strides, offset = parsed.get_strides_and_offset()
        except (RuntimeError, ValueError):
            return OpaqueType(str(parsed))
        known = tuple(_known(stride) for stride in strides)
        space = "" if parsed.memory_space is None else str(parsed.memory_space)
        return ShapedType(kind, shape, element, known, _known(offset), str(parsed), space)

    # --- attributes ---

    def _attribute_of(self, parsed: Any, name: str) -> Attribute:
        try:
            return self._attribute(parsed.attributes[name])
        except TypeError:  # the bindings have no class for it
            return OpaqueAttribute(parsed.get_asm(use_local_scope=True))

    def _attribute(self, parsed: Any) -> Attribute:
        found = self._attributes.get(parsed)
        if found is None:
            found = self._attributes[parsed] = self._new_attribute(parsed)
        return found

    def _new_attribute(self, parsed: Any) -> Attribute:
        kind = type(parsed).__name__
        convert = self._converters.get(kind)
        if convert is not None:
            return convert(parsed)
        if kind.startswith("Dense") and kind.endswith("ArrayAttr"):
            return tuple(parsed)
        return OpaqueAttribute(str(parsed))

    def _dense(self, parsed: Any) -> Attribute:
        shaped = self._type(parsed.type)
        if (
            not isinstance(shaped, ShapedType)
            or isinstance(shaped.element, ComplexType | OpaqueType)
            or str(shaped.element) in _WIDE
        ):
            return OpaqueAttribute(str(parsed))
        if parsed.is_splat:
            value = _number(parsed.get_splat_value())
            return Dense(shaped, _told_apart((value,), str(parsed)) if value != value else (value,))
        if len(parsed) > _MOST_ELEMENTS:
            digest = hashlib.sha256(str(parsed).encode()).hexdigest()
            return OpaqueAttribute(f"dense<{len(parsed)} elements, {digest}>")
        try:
            values = [parsed[at] for at in range(len(parsed))]
        except TypeError:  # the bindings have no Python number for the element type
            return _printed_elements(shaped, str(parsed))
        if any(each != each for each in values):
            return Dense(shaped, _told_apart(values, str(parsed)))
        convert = float if isinstance(shaped.element, FloatType) else int
        try:
            return Dense(shaped, tuple(convert(each) for each in values))
        except ValueError:
            return OpaqueAttribute(str(parsed))


def _hidden_attributes(name: str, properties: str) -> dict[str, Attribute]:
    """Return the properties of an operation that hides one, as attributes."""
    if name == _LINEARIZE:
        return {"disjoint": True} if properties.startswith("disjoint,") else {}
    if name.startswith("ptr.") or name.endswith(".getelementptr"):
        return {"properties": OpaqueAttribute(properties)}
    found = _OVERFLOW.search(properties)
    flags = _OVERFLOWS[int(found[1]) if found else 0]
    return {"overflowFlags": OpaqueAttribute(f"#llvm.overflow<{flags}>")}


def _hidden_properties(root: Any) -> Iterator[str]:
    """Yield the properties of the operations that hide one, in the order of the text.

    The root is printed once: MLIR numbers all values of a function each time it prints an
    operation of it.
    """
    text = root.get_asm(print_generic_op_form=True, assume_verified=True)
    yield from (found[1] or "" for found in _HIDDEN.finditer(text))


def _value(attribute: Any) -> Attribute:
    return attribute.value


def _integer(attribute: Any) -> int:
    if getattr(attribute.type, "width", 0) > INDEX_WIDTH:  # the bindings cut it down to 64 bits
        return int(str(attribute).partition(" ")[0])
    return attribute.value


def _float(attribute: Any) -> Attribute:
    wide = str(attribute.type) in _WIDE
    text = str(attribute)
    return OpaqueAttribute(text) if wide else _told_apart((attribute.value,), text)[0]


def _told_apart(values: Sequence[int | float], text: str) -> tuple[int | float, ...]:
    """Return numbers of which the NaNs that are printed with a sign or a payload have their bits.

    Args:
        values: of the constant.
        text: of the constant.
    """
    if not any(each != each for each in values):
        return tuple(values)
    words = _elements_in(text, len(values))
    return tuple(
        OtherNaN(each, word) if each != each and _is_unusual(word) else each
        for each, word in zip(values, words, strict=True)
    )


def _elements_in(text: str, count: int) -> Sequence[str]:
    """Return how elements are printed; the whole constant for each if that is not known.

    Those of a large constant are printed in one string, byte by byte, the lowest first.
    """
    if packed := _PACKED.search(text):
        size = len(packed[1]) // (2 * count) or 1
        octets = bytes.fromhex(packed[1])
        words = [
            f"0x{octets[at : at + size][::-1].hex().upper()}" for at in range(0, len(octets), size)
        ]
    else:
        words = _NUMBER.findall(_between_brackets(text) or text.partition(" :")[0])
    if len(words) == count:
        return words
    return [text if len(text) <= _LONG else hashlib.sha256(text.encode()).hexdigest()] * count


def _is_unusual(word: str) -> bool:
    """Whether a NaN that is printed so has a sign or a payload; those of 8 bits have none."""
    return len(word) >= _SHORTEST_BITS and word not in _USUAL_NANS


def _between_brackets(text: str) -> str:
    return text.partition("<")[2].rpartition(">")[0].rpartition("> :")[0]


def _printed_elements(type: ShapedType, text: str) -> Attribute:
    """Read numbers that are written out; a constant with few elements is."""
    inner = _between_brackets(text) or text
    words = _NUMBER.findall(inner)
    if '"' in text or len(words) != prod(size or 0 for size in type.shape):
        return OpaqueAttribute(text)
    element = type.element
    if isinstance(element, FloatType):
        numbers = tuple(
            from_bits(int(word, 16), element) if word.startswith("0x") else float(word)
            for word in words
        )
        return Dense(type, _told_apart(numbers, text))
    return Dense(type, tuple(int(word) for word in words))


def _number(attribute: Any) -> int | float:
    if type(attribute).__name__ == "IntegerAttr":
        return _integer(attribute)
    value = attribute.value
    return int(value) if isinstance(value, bool) else cast("int | float", value)


def _known(number: int) -> int | None:
    return None if number == _DYNAMIC else int(number)


def read_type(parsed: Any) -> Type:
    """Return a type of the bindings as an object of this package."""
    return _Conversion("")._type(parsed)  # pyright: ignore[reportPrivateUsage]
