"""The function that a test calls, with what it needs of its module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from actiondbg.errors import ActiondbgError
from actiondbg.ir.bindings import IRReader
from actiondbg.ir.tokens import SYMBOL, symbol_name
from actiondbg.validation.program_reader import read_type
from actiondbg.validation.types import Type

_SYMBOL = re.compile(SYMBOL)
_PACKED = re.compile(r"(?:memref|tensor)<(?:[\d?]+x)*i[24]\b")
_PLAIN = re.compile(r"[A-Za-z_][\w$.]*")
_FUNCTIONS = ("func.func", "llvm.func")
_SCHEDULE = "transform.with_named_sequence"


class NotTestable(ActiondbgError):
    """No test can be made that runs the function."""


@dataclass(frozen=True, slots=True)
class MutableGlobal:
    """A ``memref.global`` that the program may change."""

    symbol: str
    type: Type
    initial: str  # the constant that it holds at first; empty if it holds nothing


@dataclass(frozen=True, slots=True)
class TestedFunction:
    """The function under test."""

    symbol: str
    dialect: str  # ``func`` or ``llvm``
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]  # the types of the results
    # The text of its module, of which only what it needs is left, up to the brace that closes the
    # module.
    module: str
    globals: tuple[MutableGlobal, ...]  # memory of the module that the function may change
    has_other_state: bool  # whether it may change memory that cannot be set back
    symbols: frozenset[str]  # all names in the module


def read_tested_function(text: str, symbol: str, shown: Iterable[str] = ()) -> TestedFunction:
    """Read a module, and drop what a function of it does not need, but globals that are shown.

    Raises:
        IRNotParsed: the IR is invalid.
        NotTestable: there is no such function, or it has no body.
    """
    module = _reader().read_module(text)
    operations: list[Any] = [each.operation for each in module.body.operations]
    tops = {_symbol_of(each): each for each in operations}
    function = tops.get(symbol)
    if function is None or function.name not in _FUNCTIONS:
        raise NotTestable(f"there is no function @{symbol}")
    if not function.regions[0].blocks:
        raise NotTestable(f"@{symbol} has no body")
    needed = _needed(symbol, tops).union(each for each in shown if each in tops)
    for each in operations:
        if _symbol_of(each) not in needed:
            each.erase()
    if _SCHEDULE in module.operation.attributes:
        del module.operation.attributes[_SCHEDULE]
    if _PACKED.search(str(module)):
        raise NotTestable(
            "the lowering packs the elements of memory of i2 and i4, but not those of constants"
        )
    inputs, results = _signature(function)
    kept = [tops[name] for name in sorted(needed)]
    found = tuple(_global(each) for each in kept if _is_mutable(each, "memref.global"))
    unset = any(not each.initial for each in found)
    return TestedFunction(
        symbol,
        function.name.partition(".")[0],
        tuple(read_type(each) for each in inputs),
        tuple(read_type(each) for each in results),
        str(module).rstrip().removesuffix("}").rstrip(),
        found,
        unset or any(_is_mutable(each, "llvm.mlir.global") for each in kept),
        frozenset(_symbols_in(str(module))) | needed,
    )


@lru_cache(1)
def _reader() -> IRReader:
    return IRReader()


def quoted(symbol: str) -> str:
    """Return a symbol as a reference in MLIR's syntax."""
    if _PLAIN.fullmatch(symbol):
        return f"@{symbol}"
    escaped = symbol.replace("\\", "\\\\").replace('"', '\\"')
    return f'@"{escaped}"'


def _symbol_of(operation: Any) -> str:
    if "sym_name" not in operation.attributes:
        return ""
    return operation.attributes["sym_name"].value


def _needed(symbol: str, tops: dict[str, Any]) -> frozenset[str]:
    """Return the symbols that a function refers to, directly or not, with its own."""
    needed: set[str] = set()
    waiting = [symbol]
    while waiting:
        name = waiting.pop()
        if name in needed or name not in tops:
            continue
        needed.add(name)
        waiting += _symbols_in(str(tops[name]))
    return frozenset(needed)


def _symbols_in(text: str) -> Iterator[str]:
    return map(symbol_name, _SYMBOL.findall(text))


def _is_mutable(operation: Any, name: str) -> bool:
    return operation.name == name and "constant" not in operation.attributes


def _global(operation: Any) -> MutableGlobal:
    type = read_type(operation.attributes["type"].value)
    if "initial_value" not in operation.attributes:
        return MutableGlobal(_symbol_of(operation), type, "")
    value = operation.attributes["initial_value"]
    # Without a value, the attribute says "uninitialized", which has no type of elements.
    initial = str(value).rpartition(" : ")[0] if hasattr(value, "type") else ""
    return MutableGlobal(_symbol_of(operation), type, initial if "dense" in initial else "")


def _signature(function: Any) -> tuple[list[Any], list[Any]]:
    if function.name == "func.func":
        kind = function.attributes["function_type"].value
        return list(kind.inputs), list(kind.results)
    # The bindings know no types of llvm.
    inputs = [argument.type for argument in function.regions[0].blocks[0].arguments]
    for block in function.regions[0].blocks:
        last = list(block.operations)[-1].operation
        if last.name == "llvm.return":
            return inputs, [value.type for value in last.operands]
    return inputs, []
