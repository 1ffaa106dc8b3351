"""The module around a function, as text."""

from __future__ import annotations

import re
from functools import lru_cache

from actiondbg.ir.aliases import without_aliases
from actiondbg.ir.tree.scanner import BrokenText, scan

_SYMBOL = re.compile(r"@([\w$.-]+)")


def in_module(function: str, symbol: str, module: str) -> str:
    """Return a module with a function in place of the one with its symbol; all are texts."""
    text = without_aliases(function)
    others = _referred(text, symbol, _operations(module)) if module else []
    return "\n".join(("module {", *others, text, "}"))


def _referred(text: str, symbol: str, operations: dict[str, str]) -> list[str]:
    """Return the operations to which a text refers, and those to which they refer."""
    found: dict[str, str] = {symbol: ""}
    left = [text]
    while left:
        for name in _SYMBOL.findall(left.pop()):
            if name not in found and name in operations:
                found[name] = operations[name]
                left.append(operations[name])
    return [each for each in found.values() if each]


@lru_cache(8)
def _operations(module: str) -> dict[str, str]:
    """Return the texts of the operations in a module by their symbols."""
    try:
        tree = scan(without_aliases(module), "the module", partial=True).tree
    except BrokenText:
        return {}
    return {
        symbol: tree.text_of(at)
        for at, symbol in tree.symbols.items()
        if not tree.is_module(at) and tree.is_module(tree.parents[at])
    }
