"""The operations of a dump as objects of MLIR's Python bindings, and the names that MLIR prints.

A user who prints a file that was written by hand finds ``%4`` where the file has ``%conv0``. The
dialects suggest names, so that only MLIR can number values as its printer does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from actiondbg.lineage.stage import Operation, Stage

_MOST_TEXT = 2 << 20  # characters: to ask for each name takes longer than to parse


class ParsedOperations:
    """The operations of a dump, parsed by MLIR's Python bindings when they are first needed.

    Without the bindings, or where they cannot parse the dump, the text answers.

    Args:
        stage: the dump.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    @cached_property
    def names(self) -> Sequence[str]:
        """Of each operation, the printed name of its first result; empty without results.

        Those of the text in a dump of more than 2 MB.
        """
        if len(self._stage.text) > _MOST_TEXT or self._parsed is None:
            return self._stage.results
        state = import_module("mlir.ir").AsmState(self._parsed[0])
        return [
            one.results[0].get_name(state) if len(one.results) else "" for one in self._parsed[1]
        ]

    @cached_property
    def operations(self) -> Sequence[Any]:
        """Of each operation, its ``mlir.ir.Operation``, or its ``Operation`` of the text."""
        if self._parsed is None:
            return [Operation(self._stage, index) for index in range(len(self._stage))]
        return self._parsed[1]

    @cached_property
    def _parsed(self) -> tuple[Any, Sequence[Any]] | None:
        """The module, and of each operation of the text that of the bindings."""
        try:
            ir: Any = import_module("mlir.ir")
            context = ir.Context()
            context.allow_unregistered_dialects = True
            context.enable_multithreading(False)  # as the shell may fork
            context.attach_diagnostic_handler(_ignore)
            module = ir.Module.parse(self._stage.text, context)
        except Exception:  # of a type of the bindings: no bindings, or they cannot parse it
            return None
        found = self._matched(_walked(ir, module.operation))
        return None if found is None else (module.operation, found)

    def _matched(self, walked: Sequence[Any]) -> Sequence[Any] | None:
        """Return the operations of the text: MLIR has more, such as implicit terminators."""
        found: list[Any] = []
        others = iter(walked)
        for name, result in zip(self._stage.names, self._stage.results, strict=True):
            for one in others:
                if one.name == name and bool(len(one.results)) == bool(result):
                    found.append(one)
                    break
            else:
                return None
        return found


def _ignore(_diagnostic: object) -> bool:
    return True


def _walked(ir: Any, root: Any) -> list[Any]:
    """Return operations in the order of the text."""
    found: list[Any] = []

    def add(operation: Any) -> Any:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    root.walk(add, ir.WalkOrder.PRE_ORDER)
    return found
