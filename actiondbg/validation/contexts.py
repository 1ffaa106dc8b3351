"""The module around a function, as text."""

from __future__ import annotations

from functools import lru_cache

from actiondbg.ir.aliases import without_aliases
from actiondbg.lineage.text.scanner import BrokenText, scan


def in_module(function: str, symbol: str, module: str) -> str:
    """Return a module with a function in place of the one with its symbol.

    Args:
        function: the text of the function.
        symbol: its name.
        module: the text of a module; empty for none.
    """
    others = [text for name, text in _operations(module) if name != symbol] if module else []
    return "\n".join(("module {", *others, without_aliases(function), "}"))


@lru_cache(8)
def _operations(module: str) -> tuple[tuple[str, str], ...]:
    """Return the symbols and the texts of the operations in a module."""
    try:
        stage = scan(without_aliases(module), "the module", partial=True).stage
    except BrokenText:
        return ()
    names = zip(stage.names, stage.parents, strict=True)
    modules = {at for at, (name, _) in enumerate(names) if name.rpartition(".")[2] == "module"}
    return tuple(
        (stage.symbols.get(at, ""), stage.text_of(at))
        for at, parent in enumerate(stage.parents)
        if at not in modules and (parent < 0 or parent in modules)
    )
