"""The names that MLIR's printer gives values, where MLIR's Python bindings can parse the text.

A user who prints a file that was written by hand finds ``%4`` where the file has ``%conv0``. The
dialects suggest names, so that only MLIR can number values as its printer does.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from actiondbg.lineage.stage import Stage

_MOST_TEXT = 2 << 20  # characters: to ask for each name takes longer than to parse


def printed_names(stage: Stage) -> Sequence[str]:
    """Return, of each operation, the printed name of its first result; empty without results.

    They are those of the text if the bindings are missing or cannot parse it, or it is long.
    """
    if len(stage.text) > _MOST_TEXT:
        return stage.results
    try:
        ir: Any = import_module("mlir.ir")
        context = ir.Context()
        context.allow_unregistered_dialects = True
        context.enable_multithreading(False)  # as the shell may fork
        context.attach_diagnostic_handler(_ignore)
        module = ir.Module.parse(stage.text, context)
    except Exception:  # of a type of the bindings: it cannot be parsed, or they cannot be loaded
        return stage.results
    return _matched(stage, _walked(ir, module))


def _ignore(_diagnostic: object) -> bool:
    return True


def _walked(ir: Any, module: Any) -> list[tuple[str, str]]:
    """Return the names of the operations and of their first results, in the order of the text."""
    found: list[tuple[str, str]] = []
    state = ir.AsmState(module.operation)

    def add(operation: Any) -> Any:
        results = operation.results
        found.append((operation.name, results[0].get_name(state) if len(results) else ""))
        return ir.WalkResult.ADVANCE

    module.operation.walk(add, ir.WalkOrder.PRE_ORDER)
    return found


def _matched(stage: Stage, walked: Sequence[tuple[str, str]]) -> Sequence[str]:
    """Return the names of a stage's operations: MLIR has more, such as implicit terminators."""
    names: list[str] = []
    others = iter(walked)
    for operation, result in zip(stage.names, stage.results, strict=True):
        for name, printed in others:
            if name == operation and bool(printed) == bool(result):
                names.append(printed)
                break
        else:
            return stage.results
    return names
