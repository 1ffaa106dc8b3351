"""What the texts of operations say apart from names of values: a value, a symbol, attributes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from actiondbg.ir.tokens import RESULTS, STRING, VALUE
from actiondbg.ir.written_locations import without_location
from actiondbg.lineage.locations.location_index import ranges_at
from actiondbg.lineage.locations.source_range import SourceRange
from actiondbg.lineage.stage import Stage

CONSTANTS, SYMBOLS = "a constant", "a symbol"  # kinds; no operation has a name with a blank

_CONSTANT = re.compile(r"(?:^|[._])(?:constant|const)$")
_GLOBAL = re.compile(r"(?:^|[._])global$")
_DENSE = re.compile(
    r"(?P<value>dense(?:_resource)?<[^<>]*>)(?:\s*:\s*(?:tensor|vector|memref)<(?P<type>[^<>,]*))?"
)
_DECLARED = re.compile(r":\s*(?:tensor|vector|memref)<(?P<type>[^<>,]*)")
_SCALAR = re.compile(r"(?<![\w.%@#$])(-?\d[\w.+-]*|true|false)\b(?:\s*:\s*(\w+))?")
_RESULTS = re.compile(rf"^\s*{RESULTS}")
_VALUE = re.compile(rf"{VALUE}(?:#\d+)?")
_ALIAS = re.compile(r"([#!][A-Za-z_]+)_?\d*")
_FLOAT = re.compile(r"(?<![\w.%@#$])-?\d+\.\d*(?:[eE][-+]?\d+)?")
_STRING = re.compile(STRING)
SPLAT = re.compile(r"dense<([^<>,\[\]]+)> : (?:[\d?]+x)*(\w+)")
# Values that passes make anew: neutral elements, padding, bounds of ranges in hexadecimal.
_COMMON = re.compile(
    r"(?:-?(?:(?:0|0?\.5|1|2)(?:\.0*)?(?:e[+-]0+)?|5(?:\.0*)?e-01)|0x\w+|true|false) : ",
    re.IGNORECASE,
)
_FLOATS = frozenset(("f16", "bf16", "f32", "f64", "f80", "f128"))
_LONGEST = 10_000  # characters of a line whose numbers are compared as such
_KNOWN_TEXTS = 1 << 16  # most lines of a log are printed again and again


class OperationTexts:
    """The texts of the operations of a stage, in groups that can be compared with other stages.

    Args:
        stage: the stage.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._groups: dict[str, dict[str, list[int]]] = {}
        self._paths: dict[int, str] = {-1: ""}

    def kinds(self, index: int) -> Sequence[str]:
        """Return in which ways an operation is compared: a global by its symbol and its value."""
        name = self.stage.names[index]
        if index in self.stage.symbols:
            return (SYMBOLS, CONSTANTS) if _GLOBAL.search(name) else (SYMBOLS,)
        return (CONSTANTS,) if _CONSTANT.search(name) else (name,)

    def groups(self, kind: str) -> dict[str, list[int]]:
        """Return the operations of a kind that have the same text, by it."""
        found = self._groups.get(kind)
        if found is None:
            found = self._groups[kind] = {}
            for index in self._members(kind):
                key = self.key(kind, index)
                if key:
                    found.setdefault(key, []).append(index)
        return found

    def key(self, kind: str, index: int) -> str:
        """Return the symbol path, constant or line of an operation, for comparison."""
        if kind == SYMBOLS:
            return self.path(index)
        line = self.stage.text_lines[self.stage.lines[index] - 1]
        return constant_value(line) if kind == CONSTANTS else _plain(line)

    def path(self, index: int) -> str:
        """Return the symbols of an operation and of the operations around it, as a path."""
        found = self._paths.get(index)
        if found is None:
            around = self.path(self.stage.parents[index])
            symbol = self.stage.symbols.get(index)
            found = self._paths[index] = f"{around}@{symbol}" if symbol else around
        return found

    def is_unlocated(self, index: int) -> bool:
        """Whether the location of an operation, or a part of it, is unknown."""
        text = self.stage.locations[index].text
        if "unknown" in text and "unknown" in _STRING.sub("", text):
            return True
        return not any(one.is_known for one in self.ranges(index))

    def ranges(self, index: int) -> frozenset[SourceRange]:
        """Return the source ranges of an operation."""
        return ranges_at(self.stage.locations, index)

    @cached_property
    def _symbols(self) -> list[int]:
        return sorted(self.stage.symbols)

    def _members(self, kind: str) -> Sequence[int]:
        if kind == SYMBOLS:
            return self._symbols
        if kind != CONSTANTS:
            return [one.index for one in self.stage.named(kind)]
        names = {
            name for name in set(self.stage.names) if _CONSTANT.search(name) or _GLOBAL.search(name)
        }
        return sorted(one.index for name in names for one in self.stage.named(name))


@lru_cache(_KNOWN_TEXTS)
def _plain(line: str) -> str:
    """Return the text of an operation without location, names of values, numbers of aliases."""
    return _ALIAS.sub(r"\1", _VALUE.sub("%", _right_side(line))).strip()


@lru_cache(_KNOWN_TEXTS)
def constant_value(line: str, *, exactly: bool = False) -> str:
    """Return the value of a constant, or of a global, with its type; empty for none.

    Args:
        line: the operation.
        exactly: keep all digits of numbers, as both texts are printed by MLIR.
    """
    text = _RESULTS.sub("", without_location(line.rstrip())) if exactly else _right_side(line)
    dense = _DENSE.search(text)
    if dense:
        declared = _DECLARED.search(text)
        shape = dense["type"] or (declared["type"] if declared else "")
        return f"{dense['value']} : {shape}"
    scalar = _SCALAR.search(text)
    return f"{scalar[1]} : {scalar[2] or ''}" if scalar else ""


def _right_side(line: str) -> str:
    """Return a line without results and location; numbers as MLIR prints them or as users do."""
    text = _RESULTS.sub("", without_location(line.rstrip()))
    if len(text) > _LONGEST:
        return text
    return _FLOAT.sub(lambda found: f"{float(found[0]):.5e}", text)


def is_distinctive(value: str) -> bool:
    """Whether passes copy a constant of a value: they make sizes, flags and neutral elements."""
    is_copied = value.startswith("dense") or value.rpartition(" : ")[2] in _FLOATS
    return is_copied and not _COMMON.match(SPLAT.sub(r"\1 : \2", value))
