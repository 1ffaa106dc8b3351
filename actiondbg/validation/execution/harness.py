"""The text of a test that runs a function, and prints what it did."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from actiondbg.validation.execution.tested_function import (
    MutableGlobal,
    NotTestable,
    TestedFunction,
    quoted,
    read_tested_function,
)
from actiondbg.validation.floats import bits_of, numpy_type, rounded
from actiondbg.validation.inputs import Argument, Array, Input, Number, View
from actiondbg.validation.machine import row_major
from actiondbg.validation.types import INDEX_WIDTH, FloatType, IntegerType, ShapedType, Type, signed

_WIDEST = 64  # bits of an element that is printed
_MOST_WRITTEN = 256  # elements that are written out one by one
_EXPONENT = re.compile(r"^(-?\d+)(e.*)$")

Element = IntegerType | FloatType


def element_of(type: Type) -> Element:
    """Return the type of the scalars in a type.

    Raises:
        NotTestable: a test can neither make nor print them.
    """
    element = type.element if isinstance(type, ShapedType) else type
    if not isinstance(element, IntegerType | FloatType):
        raise NotTestable(f"a test can make no values of type {type}")
    if not 0 < bits_in(element) <= _WIDEST:
        raise NotTestable(f"a test cannot print values of type {type}")
    return element


def bits_in(type: Element) -> int:
    """Return how many bits a scalar has.

    Raises:
        NotInterpreted: Python has no such floats.
    """
    if isinstance(type, IntegerType):
        return type.width
    return numpy_type(type).itemsize * 8


def as_bits(value: Number, type: Element) -> int:
    """Return the bits of a number, unsigned."""
    if isinstance(type, FloatType):
        return bits_of(float(value), type)
    return int(value) & ((1 << type.width) - 1)


def all_bits(values: Sequence[Number], type: Element) -> list[int]:
    """Return the bits of many numbers of a type, unsigned."""
    if isinstance(type, FloatType):
        with np.errstate(all="ignore"):
            array = np.array(values, dtype=np.float64).astype(numpy_type(type))
        return array.view(f"u{array.dtype.itemsize}").tolist()
    mask = (1 << type.width) - 1
    return [int(value) & mask for value in values]


def all_numbers(bits: Sequence[int], type: Element) -> list[Number]:
    """Return the numbers with some bits; integers are unsigned."""
    if isinstance(type, FloatType):
        kind = numpy_type(type)
        array = np.array(bits, dtype=f"u{kind.itemsize}").view(kind)
        return array.astype(np.float64).tolist()
    return list(bits)


def number(value: Number, type: Element) -> str:
    """Return a number in MLIR's syntax, without its type."""
    if isinstance(type, FloatType):
        return _float(rounded(float(value), type), type)
    bits = as_bits(value, type)
    if type.width == 1:
        return "true" if bits else "false"
    return str(signed(bits, type.width))


def _float(value: float, type: FloatType) -> str:
    if not math.isfinite(value) or bits_in(type) % 8 or bits_in(type) < 16:
        return f"0x{bits_of(value, type):0{bits_in(type) // 4}X}"
    written = repr(value)
    return written if "." in written else _EXPONENT.sub(r"\1.0\2", written)


def dense(shape: Sequence[int], values: Sequence[Number], type: Element) -> str:
    """Return a constant of elements, without its type: ``dense<[[1, 2], [3, 4]]>``."""
    assert len(values) == prod(shape), (shape, len(values))
    if not values:
        return "dense<>"
    bits = all_bits(values, type)
    if len(set(bits)) == 1:
        return f"dense<{number(values[0], type)}>"
    size = bits_in(type) / 8
    if len(values) > _MOST_WRITTEN and size in {1, 2, 4, 8}:
        content = np.array(bits, dtype=f"<u{size:.0f}").tobytes()
        return f'dense<"0x{content.hex().upper()}">'
    return f"dense<{_nested(shape, [number(value, type) for value in values])}>"


def _nested(shape: Sequence[int], written: Sequence[str]) -> str:
    if not shape:
        return written[0]
    if len(shape) == 1:
        return f"[{', '.join(written)}]"
    step = prod(shape[1:])
    rows = [_nested(shape[1:], written[at : at + step]) for at in range(0, len(written), step)]
    return f"[{', '.join(rows)}]"


def shaped(kind: str, shape: Sequence[int | None], element: Element | str, rest: str = "") -> str:
    """Return a type of elements: ``tensor<2x?xf32>``; the rest stands before the last bracket."""
    sizes = "".join(f"{'?' if size is None else size}x" for size in shape)
    return f"{kind}<{sizes}{element}{rest}>"


def strided(strides: Sequence[int], offset: int) -> str:
    """Return a layout."""
    at = f", offset: {offset}" if offset else ""
    return f"strided<[{', '.join(map(str, strides))}]{at}>"


# --- tests ---


_NAMES = ("test", "actiondbg_test")  # of the entry
_STACK = 2**16  # bytes of the stack that are filled before a call
_MOST_SHOWN = 16  # elements of an argument in a comment


@dataclass(frozen=True, slots=True)
class Part:
    """What a test prints after a call."""

    key: str  # before the values: ``result 0``, ``memory 1``, ``global @cell``
    type: Element  # of the values
    shape: tuple[int, ...] | None  # of the values; None if it is printed before them


@dataclass(frozen=True, slots=True)
class Test:
    """A module that runs a function."""

    __test__ = False  # no class of tests for pytest

    text: str
    entry: str  # the function that runs all inputs
    entries: tuple[str, ...]  # the functions that run one input each
    parts: tuple[tuple[Part, ...], ...]  # what is printed for each input
    is_isolated: bool  # each input needs a process of its own


def make_test(
    text: str,
    symbol: str,
    inputs: Sequence[Input],
    fill: bool = False,
    shown: Iterable[str] = (),
) -> Test:
    """Make a test from a module.

    Args:
        text: of the module.
        symbol: the function under test.
        inputs: what it is called with.
        fill: whether to fill the stack before each call, with what fresh memory of the heap holds.
        shown: globals to print, whether or not the function uses them.

    Raises:
        IRNotParsed: the IR is invalid.
        NotTestable: the function has arguments or results that a test cannot make or print, or
            the inputs are for another function.
    """
    tested = read_tested_function(text, symbol, shown)
    free = [name for name in _NAMES if not any(each.startswith(name) for each in tested.symbols)]
    if not free:
        raise NotTestable(f"no name for the test is free beside {_NAMES[-1]!r}")
    return _TestWriter(tested, free[0], fill).write(inputs)


class _TestWriter:
    """Writes the functions of a test, whose names begin with that of the test."""

    def __init__(self, tested: TestedFunction, name: str, fill: bool) -> None:
        self._tested = tested
        self._name = name
        self._fill = fill  # the stack
        # The name and the text of the function that prints a type.
        self._printers: dict[Type, tuple[str, str]] = {}
        self._constants: list[str] = []

    def write(self, inputs: Sequence[Input]) -> Test:
        resets = len(inputs) > 1
        written = [self._input(at, each, resets) for at, each in enumerate(inputs, 1)]
        entries = tuple(f"{self._name}_{at}" for at in range(1, len(inputs) + 1))
        calls = [f"  func.call @{entry}() : () -> ()" for entry in entries]
        everything = "\n".join([f"func.func @{self._name}() {{", *calls, "  return", "}"])
        if resets:
            self._constants += [self._initial(each) for each in self._tested.globals]
        pieces = [
            *self._constants,
            *(text for text, _ in written),
            everything,
            *([self._filler()] if self._fill else []),
            *(text for _, text in self._printers.values()),
        ]
        body = "\n\n".join(_indented(piece) for piece in pieces)
        return Test(
            f"{self._tested.module}\n\n  // --- the test ---\n\n{body}\n}}\n",
            self._name,
            entries,
            tuple(parts for _, parts in written),
            len(inputs) > 1 and self._tested.has_other_state,
        )

    def _input(self, at: int, input: Input, resets: bool) -> tuple[str, tuple[Part, ...]]:
        inputs, results = self._tested.inputs, self._tested.results
        if len(inputs) != len(input.arguments):
            raise NotTestable(f"@{self._tested.symbol} takes {len(inputs)} arguments")
        lines = self._reset() if resets else []
        buffers = self._buffers(at, input, lines)
        given: list[str] = []
        for place, (argument, type) in enumerate(zip(input.arguments, inputs, strict=True)):
            made, value = _argument(f"%arg{place}", argument, type, buffers)
            lines += made
            given.append(value)
        lines.append(self._marker(f"input {at}"))
        if self._fill:
            lines.append(f"func.call @{self._name}_fill_stack() : () -> ()")
        lines.append(self._call(given))
        lines.append(self._marker("returned"))
        parts = [
            self._printed(f"result {place}", value, type, lines)
            for place, (value, type) in enumerate(zip(_results(results), results, strict=True))
        ]
        for place, buffer in buffers.items():
            parts.append(self._printed(f"memory {place}", f"%buffer{place}", buffer, lines))
        for place, each in enumerate(self._tested.globals):
            lines.append(f"%global{place} = memref.get_global {quoted(each.symbol)} : {each.type}")
            key = f"global {quoted(each.symbol)}"
            parts.append(self._printed(key, f"%global{place}", each.type, lines))
        lines.append(self._marker(f"end {at}"))
        head = f"// {describe(input)}\nfunc.func @{self._name}_{at}() {{"
        return "\n".join([head, *(f"  {line}" for line in lines), "  return", "}"]), tuple(parts)

    def _call(self, given: Sequence[str]) -> str:
        tested = self._tested
        types = ", ".join(map(str, tested.inputs))
        made = ", ".join(map(str, tested.results))
        if tested.dialect == "llvm" and len(tested.results) > 1:
            raise NotTestable(f"@{tested.symbol} of the llvm dialect has several results")
        many = len(tested.results)
        name = {0: "", 1: "%result = "}.get(many, f"%result:{many} = ")
        arrow = "()" if not many else made if tested.dialect == "llvm" else f"({made})"
        call = f"{tested.dialect}.call {quoted(tested.symbol)}({', '.join(given)})"
        return f"{name}{call} : ({types}) -> {arrow}"

    def _printed(self, key: str, value: str, type: Type, lines: list[str]) -> Part:
        element = element_of(type)
        shape: tuple[int, ...] | None = ()
        if isinstance(type, ShapedType):
            is_vector = type.kind == "vector"
            shape = tuple(size or 0 for size in type.shape) if is_vector else None
        shown = key.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'vector.print str "[{self._name}] {shown}: "')
        lines.append(f"func.call @{self._printer(type)}({value}) : ({type}) -> ()")
        return Part(key, element, shape)

    def _printer(self, type: Type) -> str:
        """Return the name of the function that prints a type; it is made if there is none.

        Raises:
            NotTestable: the type cannot be printed.
        """
        if type not in self._printers:
            taken = {taken for taken, _ in self._printers.values()}
            words = re.sub(r"\W+", "_", str(type)).strip("_")
            name = f"{self._name}_print_{words}"
            name = name if name not in taken else f"{name}_{len(taken)}"
            self._printers[type] = (name, _function(name, type))
        return self._printers[type][0]

    def _marker(self, text: str) -> str:
        return f'vector.print str "\\n[{self._name}] {text}\\n"'

    # --- memory ---

    def _buffers(self, at: int, input: Input, lines: list[str]) -> dict[int, ShapedType]:
        """Make the memory behind memrefs; return the types of ``%buffer0`` and so on."""
        made: dict[int, ShapedType] = {}
        for argument, type in zip(input.arguments, self._tested.inputs, strict=True):
            if not isinstance(argument, View) or argument.buffer in made:
                continue
            element = element_of(type)
            values = input.buffers[argument.buffer]
            shape = _buffer_shape(argument.buffer, input)
            text = shaped("memref", shape, element)
            strides = row_major(shape)
            made[argument.buffer] = ShapedType("memref", shape, element, strides, 0, text)
            name = f"%buffer{argument.buffer}"
            lines.append(f"{name} = memref.alloc() : {text}")
            if not values:
                continue
            initial = f"@{self._name}_{at}_buffer{argument.buffer}"
            constant = dense(shape, values, element)
            self._constants.append(
                f'memref.global "private" constant {initial} : {text} = {constant}'
            )
            lines.append(f"%initial{argument.buffer} = memref.get_global {initial} : {text}")
            lines.append(f"memref.copy %initial{argument.buffer}, {name} : {text} to {text}")
        return made

    def _initial(self, each: MutableGlobal) -> str:
        at = self._tested.globals.index(each)
        name = f"@{self._name}_global{at}"
        return f'memref.global "private" constant {name} : {each.type} = {each.initial}'

    def _reset(self) -> list[str]:
        """Return lines that set globals back, as an earlier input may have changed them."""
        lines: list[str] = []
        if self._tested.has_other_state:
            return lines
        for at, each in enumerate(self._tested.globals):
            text = each.type
            source = f"memref.get_global @{self._name}_global{at}"
            lines.append(f"%reset{at} = {source} : {text}")
            lines.append(f"%set{at} = memref.get_global {quoted(each.symbol)} : {text}")
            lines.append(f"memref.copy %reset{at}, %set{at} : {text} to {text}")
        return lines

    def _filler(self) -> str:
        return (
            "// With MALLOC_PERTURB_, memory that is read before it is written shows.\n"
            f"func.func private @{self._name}_fill_stack() {{\n"
            f"  %stack = memref.alloca() : memref<{_STACK}xi8>\n"
            "  %zero = arith.constant 0 : index\n"
            "  %one = arith.constant 1 : index\n"
            f"  %size = arith.constant {_STACK} : index\n"
            "  %fresh = memref.alloc() : memref<64xi8>\n"
            "  %fill = memref.load %fresh[%one] : memref<64xi8>\n"
            "  scf.for %i = %zero to %size step %one {\n"
            f"    memref.store %fill, %stack[%i] : memref<{_STACK}xi8>\n"
            "  }\n"
            "  return\n"
            "}"
        )


def describe(input: Input) -> str:
    """Return an input on one line, as a person reads it."""
    shown = [f"%arg{at} = {_shown(each, input)}" for at, each in enumerate(input.arguments)]
    return ", ".join(shown) or "no arguments"


def _shown(argument: Argument, input: Input) -> str:
    match argument:
        case Array(shape, values):
            return f"{'x'.join(map(str, shape))}{_some(values)}" if shape else _some(values)
        case View(buffer, offset, sizes, strides):
            values = input.buffers[buffer]
            where = f"memory {buffer}{_some(values)}"
            if _is_whole(argument, len(values)):
                return f"{'x'.join(map(str, sizes))} {where}" if sizes else where
            return f"{'x'.join(map(str, sizes))} {where} at {offset} by {list(strides)}"
        case _:
            return str(argument)


def _some(values: Sequence[int | float]) -> str:
    shown = [str(value) for value in values[:_MOST_SHOWN]]
    more = ", ..." if len(values) > _MOST_SHOWN else ""
    return f"[{', '.join(shown)}{more}]"


def _results(results: Sequence[Type]) -> list[str]:
    if len(results) == 1:
        return ["%result"]
    return [f"%result#{at}" for at in range(len(results))]


def _argument(
    name: str, argument: Argument, type: Type, buffers: dict[int, ShapedType]
) -> tuple[list[str], str]:
    """Return the lines that make an argument, and its name."""
    element = element_of(type)
    match argument:
        case View() if isinstance(type, ShapedType) and type.kind == "memref":
            return _view(name, argument, type, buffers[argument.buffer])
        case Array(shape, values) if isinstance(type, ShapedType) and type.kind != "memref":
            if len(shape) != len(type.shape):
                raise NotTestable(f"an array of shape {shape} is no {type}")
            fixed = shaped(type.kind, shape, element)
            lines = [f"{name} = arith.constant {dense(shape, values, element)} : {fixed}"]
            if fixed == str(type):
                return lines, name
            cast = f"{name}_cast = tensor.cast {name} : {fixed} to {type}"
            return [*lines, cast], f"{name}_cast"
        case int() | float() if not isinstance(type, ShapedType):
            written = number(argument, element)
            typed = "" if written in {"true", "false"} else f" : {type}"
            return [f"{name} = arith.constant {written}{typed}"], name
        case _:
            raise NotTestable(f"{argument!r} is no {type}")


def _view(name: str, view: View, type: ShapedType, buffer: ShapedType) -> tuple[list[str], str]:
    """Return the lines that make a memref from a buffer, by as few casts as it takes."""
    element = element_of(type)
    if len(view.sizes) != len(type.shape):
        raise NotTestable(f"a view of sizes {view.sizes} is no {type}")
    lines: list[str] = []
    source, have = f"%buffer{view.buffer}", buffer.text
    if buffer.shape != view.sizes or not _is_whole(view, prod(view.sizes)):
        layout = strided(view.strides, view.offset)
        wanted = shaped("memref", view.sizes, element, f", {layout}")
        lines.append(
            f"{name}_view = memref.reinterpret_cast {source} to offset: [{view.offset}], "
            f"sizes: {list(view.sizes)}, strides: {list(view.strides)} : {have} to {wanted}"
        )
        source, have = f"{name}_view", wanted
    if type.space:
        wanted = f"{have[:-1]}, {type.space}>"
        lines.append(f"{name}_space = memref.memory_space_cast {source} : {have} to {wanted}")
        source, have = f"{name}_space", wanted
    if have != str(type):
        lines.append(f"{name} = memref.cast {source} : {have} to {type}")
        source = name
    return lines, source


def _buffer_shape(number: int, input: Input) -> tuple[int, ...]:
    """Return the shape of a buffer: that of its view, if that is all of it."""
    views = {each for each in input.arguments if isinstance(each, View) and each.buffer == number}
    length = len(input.buffers[number])
    if len(views) == 1:
        view = views.pop()
        if _is_whole(view, length):
            return view.sizes
    return (length,)


def _is_whole(view: View, length: int) -> bool:
    dense_strides = row_major(view.sizes)
    return view.offset == 0 and view.strides == dense_strides and prod(view.sizes) == length


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in text.split("\n"))


# --- printing ---


def _function(name: str, kind: Type) -> str:
    element = element_of(kind)
    lines = [f"func.func private @{name}(%value: {kind}) {{"]
    if not isinstance(kind, ShapedType):
        made, wide = _widened("%value", element, "")
        lines += [*made, f"  vector.print {wide} : i64"]
    elif kind.kind == "vector":
        sizes = "x".join(map(str, kind.shape))
        around = f"vector<{sizes + 'x' if sizes else ''}@>"
        made, wide = _widened("%value", element, around)
        lines += [*made, f"  vector.print {wide} : {around.replace('@', 'i64')}"]
    else:
        lines += [f"  {line}" for line in _elements(kind, element)]
    return "\n".join([*lines, "  return", "}"])


def _widened(value: str, element: IntegerType | FloatType, around: str) -> tuple[list[str], str]:
    """Return lines that make an ``i64`` of the bits of a value, and its name."""
    width = bits_in(element)

    def of(type: str) -> str:
        return around.replace("@", type) if around else type

    lines: list[str] = []
    if isinstance(element, FloatType):
        lines.append(f"  %bits = arith.bitcast {value} : {of(str(element))} to {of(f'i{width}')}")
        value = "%bits"
    elif element.is_index:
        return [f"  %wide = arith.index_castui {value} : {of('index')} to {of('i64')}"], "%wide"
    if width < INDEX_WIDTH:
        lines.append(f"  %wide = arith.extui {value} : {of(f'i{width}')} to {of('i64')}")
        value = "%wide"
    return lines, value


def _elements(kind: ShapedType, element: IntegerType | FloatType) -> list[str]:
    """Return lines that print the sizes, then the elements of a tensor or a memref."""
    load = {"tensor": "tensor.extract", "memref": "memref.load"}.get(kind.kind)
    if load is None:
        raise NotTestable(f"a test cannot print values of type {kind}")
    rank = len(kind.shape)
    lines: list[str] = []
    if rank:
        lines += ["%zero = arith.constant 0 : index", "%one = arith.constant 1 : index"]
    for at in range(rank):
        lines.append(f"%at{at} = arith.constant {at} : index")
        lines.append(f"%size{at} = {kind.kind}.dim %value, %at{at} : {kind}")
        lines.append(f"%printed{at} = arith.index_castui %size{at} : index to i64")
        lines.append(f"vector.print %printed{at} : i64 punctuation <comma>")
    lines.append('vector.print str "elements: "')
    for at in range(rank):
        lines.append(f"{'  ' * at}scf.for %i{at} = %zero to %size{at} step %one {{")
    indices = ", ".join(f"%i{at}" for at in range(rank))
    made, wide = _widened("%element", element, "")
    inner = [f"  %element = {load} %value[{indices}] : {kind}", *made]
    inner.append(f"  vector.print {wide} : i64 punctuation <comma>")
    deep = "  " * max(rank - 1, 0)
    lines += [f"{deep}{line}" for line in inner] if rank else [line[2:] for line in inner]
    lines += [f"{'  ' * at}}}" for at in reversed(range(rank))]
    return [*lines, "vector.print punctuation <newline>"]
