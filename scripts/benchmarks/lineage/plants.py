"""Plants: constants and symbols that are unique in the input and can be found again in the output.

They are the truth that does not come from our own observation. An operation carries a plant if it
has the constant itself, uses a value that is the constant, or defines the symbol; an operation with
regions carries the plants of the operations in them too, and a call those of the function.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from actiondbg.lineage.stage import Stage

# 200001 to 299999: as floats printed in six digits by every dialect, so never in hexadecimal.
_BASE = 200_000
_MOST = 99_999
_FLOAT = re.compile(r"(?<![\w.])2\.(\d{5})0e\+05\b")
_INTEGER = re.compile(r"(?<![\w.%#@])2(\d{5})(?= :|>|,|\)| *\})")
_RESULTS = re.compile(r"^\s*(%[\w$.-]+)(?::\d+)?((?:, %[\w$.-]+(?::\d+)?)*) = ")
_VALUE = re.compile(r"%[\w$.-]+")
_LOCATION = re.compile(r'\bloc\((?:[^()"]|"[^"]*"|\((?:[^()"]|"[^"]*")*\))*\)')
# Operations whose result is the constant too, in another form.
_FORWARDING = re.compile(
    r"(?:^|\.)(?:constant|const|const_shape|broadcast|splat|insertelement|shufflevector|"
    r"unrealized_conversion_cast|from_elements|cast|bitcast)$"
)


class Plants:
    """Makes plants for a generated input."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def float(self) -> str:
        """Return the next plant as a float."""
        return f"{self._next() / 1e5:.6f}e+05"

    def integer(self) -> str:
        """Return the next plant as an integer."""
        return str(self._next())

    def grown(self, template: str, count: int) -> str:
        """Return copies of a template: ``{n}`` is the number of the copy, ``{p}`` a plant."""
        copies: list[str] = []
        for number in range(count):
            text = template.replace("{n}", str(number))
            copies.append(re.sub(r"\{p\}", lambda _: self.float(), text))
        return "\n".join(copies)

    def _next(self) -> int:
        number = next(self._numbers)
        if number > _MOST:
            raise SystemExit(f"an input can have {_MOST:,} plants at most")
        return _BASE + number


Plant = int | str  # a constant, less 200,000, or a symbol


class Carriers(NamedTuple):
    """The plants of the operations of a stage.

    Args:
        own: by index, those that an operation has, uses or defines itself.
        all: by index, those of the operations in its regions, and in the function that it calls,
            too; without modules, which have all.
    """

    own: dict[int, frozenset[Plant]]
    all: dict[int, frozenset[Plant]]


def carriers(stage: Stage) -> Carriers:
    """Find the carriers of plants in a stage."""
    own: dict[int, frozenset[Plant]] = {
        index: frozenset[Plant](found) for index, found in _own(stage) if found
    }
    modules = {index for index, name in enumerate(stage.names) if name.endswith("module")}
    for index, symbol in stage.symbols.items():
        if index not in modules:
            own[index] = own.get(index, frozenset[Plant]()) | {symbol}
    whole = _with_regions(stage, {index: set(found) for index, found in own.items()})
    defined = {name: index for index, name in stage.symbols.items()}
    for index, names in stage.symbol_uses.items():
        if stage.names[index].endswith(".call"):
            called = (whole.get(defined.get(name, -1), set[Plant]()) for name in names)
            whole.setdefault(index, set()).update(*called)
    whole = _with_regions(stage, whole)
    parts = {index: frozenset(found) for index, found in whole.items() if index not in modules}
    return Carriers(own, parts)


def _with_regions(stage: Stage, plants: dict[int, set[Plant]]) -> dict[int, set[Plant]]:
    """Add the plants of operations to those around them."""
    for index in range(len(stage) - 1, -1, -1):
        parent = stage.parents[index]
        if index in plants and parent >= 0:
            plants.setdefault(parent, set()).update(plants[index])
    return plants


def _own(stage: Stage) -> Iterator[tuple[int, set[int]]]:
    """Iterate over operations and the plants that they have or use themselves."""
    values: dict[str, frozenset[int]] = {}  # by name, the plants of values
    seen = 0
    for index in range(len(stage)):
        if stage.symbols.get(index):
            values = {}  # names are those of a function
        first = stage.lines[index]
        if first <= seen:
            continue  # the custom form leaves it out
        seen = first
        text = _own_text(stage, index)
        found = {int(digits) for digits in _FLOAT.findall(text)}
        found |= {int(digits) for digits in _INTEGER.findall(text)}
        results = _RESULTS.match(text)
        operands = text[results.end() :] if results else text
        for name in _VALUE.findall(operands):
            found |= values.get(name, frozenset())
        if results:
            names = _VALUE.findall(results[0])
            forwards = _FORWARDING.search(stage.names[index])
            values |= dict.fromkeys(names, frozenset(found if forwards else ()))
        yield index, found


def _own_text(stage: Stage, index: int) -> str:
    """Return the lines of an operation without those of the operations in its regions."""
    first, last = stage.lines[index], stage.last_lines[index]
    children = stage.children(index)
    inner = min((stage.lines[child] for child in children), default=last + 1)
    lines = stage.text_lines[first - 1 : max(first, min(inner - 1, last))]
    if inner <= last and last > first:
        lines = [*lines, stage.text_lines[last - 1]]
    kept = [lines[0], *(line for line in lines[1:] if not line.lstrip().startswith("^"))]
    return _LOCATION.sub("", "\n".join(kept))
