"""Functions in MLIR that print values by their bits, so that nothing is lost."""

from __future__ import annotations

import re

from actiondbg.validation.execution.literals import bits_in, element_of
from actiondbg.validation.execution.subject import NotRunnable, TypedText
from actiondbg.validation.types import INDEX_WIDTH, FloatType, IntegerType, ShapedType


class Printers:
    """Makes a function for each type that is printed.

    Args:
        prefix: of their names.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._made: dict[str, tuple[str, str]] = {}

    def call(self, value: str, type: TypedText) -> str:
        """Return the line that prints a value.

        Raises:
            NotRunnable: its type cannot be printed.
        """
        if type.text not in self._made:
            name = re.sub(r"\W+", "_", type.text).strip("_")
            taken = {taken for taken, _ in self._made.values()}
            name = f"{self._prefix}_print_{name}"
            name = name if name not in taken else f"{name}_{len(taken)}"
            self._made[type.text] = (name, _function(name, type))
        name = self._made[type.text][0]
        return f"func.call @{name}({value}) : ({type.text}) -> ()"

    def texts(self) -> list[str]:
        """Return the functions."""
        return [text for _, text in self._made.values()]


def _function(name: str, type: TypedText) -> str:
    kind = type.type
    element = element_of(kind)
    lines = [f"func.func private @{name}(%value: {type.text}) {{"]
    if not isinstance(kind, ShapedType):
        made, wide = _widened("%value", element, "")
        lines += [*made, f"  vector.print {wide} : i64"]
    elif kind.kind == "vector":
        sizes = "x".join(map(str, kind.shape))
        around = f"vector<{sizes + 'x' if sizes else ''}@>"
        made, wide = _widened("%value", element, around)
        lines += [*made, f"  vector.print {wide} : {around.replace('@', 'i64')}"]
    else:
        lines += [f"  {line}" for line in _elements(kind, element, type.text)]
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


def _elements(kind: ShapedType, element: IntegerType | FloatType, text: str) -> list[str]:
    """Return lines that print the sizes, then the elements of a tensor or a memref."""
    load = {"tensor": "tensor.extract", "memref": "memref.load"}.get(kind.kind)
    if load is None:
        raise NotRunnable(f"a test cannot print values of type {text}")
    rank = len(kind.shape)
    lines: list[str] = []
    if rank:
        lines += ["%zero = arith.constant 0 : index", "%one = arith.constant 1 : index"]
    for at in range(rank):
        lines.append(f"%at{at} = arith.constant {at} : index")
        lines.append(f"%size{at} = {kind.kind}.dim %value, %at{at} : {text}")
        lines.append(f"%printed{at} = arith.index_castui %size{at} : index to i64")
        lines.append(f"vector.print %printed{at} : i64 punctuation <comma>")
    lines.append('vector.print str "elements: "')
    for at in range(rank):
        lines.append(f"{'  ' * at}scf.for %i{at} = %zero to %size{at} step %one {{")
    indices = ", ".join(f"%i{at}" for at in range(rank))
    made, wide = _widened("%element", element, "")
    inner = [f"  %element = {load} %value[{indices}] : {text}", *made]
    inner.append(f"  vector.print {wide} : i64 punctuation <comma>")
    deep = "  " * max(rank - 1, 0)
    lines += [f"{deep}{line}" for line in inner] if rank else [line[2:] for line in inner]
    lines += [f"{'  ' * at}}}" for at in reversed(range(rank))]
    return [*lines, "vector.print punctuation <newline>"]
