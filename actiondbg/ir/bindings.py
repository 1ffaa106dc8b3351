"""Hand the IR at a stop over as objects of MLIR's Python bindings."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from actiondbg.errors import IRNotParsed, NoSuchUnit

if TYPE_CHECKING:
    from mlir.ir import Context, Module, Operation, OpView  # pyright: ignore[reportMissingTypeStubs]

_PATH_STEP = 3  # a path leads region, block, operation, region, block, operation, ...


class IRReader:
    """Parse IR in one context, which lives as long as this or what was parsed.

    Raises:
        IRNotParsed: the bindings are not installed.
    """

    def __init__(self) -> None:
        try:
            self._ir: Any = import_module("mlir.ir")
        except ImportError as error:
            raise IRNotParsed(
                "MLIR's Python bindings are missing, or do not load: "
                "pip install xtc-mlir-python-bindings."
            ) from error
        self._context: Context = self._ir.Context()
        self._context.allow_unregistered_dialects = True
        # Else a thread pool is started, and a script may want to fork.
        self._context.enable_multithreading(False)

    def read(self, text: str) -> Module | Operation:
        """Parse what ``print module`` gave in generic form.

        Returns:
            The module, or the operation if the outermost one is no builtin.module.

        Raises:
            IRNotParsed: with the first diagnostic; IR in the middle of a conversion need not be
                valid.
        """
        ir = self._ir
        return self._parse(ir.Module.parse if _is_module(text) else ir.Operation.parse, text)

    def find(self, parsed: Module | Operation, path: list[int]) -> OpView:
        """Return the operation that a path leads to.

        Args:
            parsed: where the path begins, from ``read``.
            path: region, block, operation, ... from 0.

        Raises:
            NoSuchUnit: it leads to a region or a block.
        """
        is_module = isinstance(parsed, self._ir.Module)
        root = cast("Operation", parsed.operation if is_module else parsed)
        return self._anchored(_follow(root, path).opview, parsed)

    def _anchored(self, view: Any, parsed: Module | Operation) -> OpView:
        """Have an operation keep the module alive: the bindings do not see to it.

        Only a class of Python's takes an attribute; that of an unregistered operation is none.
        """
        if type(view) is self._ir.OpView:
            view = type("UnregisteredOp", (self._ir.OpView,), {})(view.operation)
        view.actiondbg_root = parsed
        return view

    def _parse(self, parse: Any, text: str) -> Any:
        try:
            return parse(text, self._context)
        except self._ir.MLIRError as error:
            raise IRNotParsed(
                "The IR at the stop is not valid on its own, so that it cannot be handed over: "
                f"{_first_diagnostic(error)}."
            ) from error


def _is_module(text: str) -> bool:
    """Tell whether printed generic IR is that of a builtin.module, past its aliases."""
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        line = text[at : end if end >= 0 else len(text)]
        if line and not line.startswith(("#", "!", "//", "{-#")):
            return line.startswith(('"builtin.module"', "module"))
        at += len(line) + 1
    return False


def _follow(root: Operation, path: list[int]) -> Operation:
    if len(path) % _PATH_STEP:
        raise NoSuchUnit(
            "The cursor is not on an operation but in one: move it to the operation that holds it "
            "(cursor-parent)."
        )
    # Each operation is freed with the one around it, when that is forgotten: keep them all.
    around = [root]
    for at in range(0, len(path), _PATH_STEP):
        region, block, operation = path[at : at + _PATH_STEP]
        found = around[-1].regions[region].blocks[block].operations[operation]
        around.append(found.operation)
    return around[-1]


def _first_diagnostic(error: Any) -> str:
    for diagnostic in getattr(error, "error_diagnostics", ()):
        return f"{diagnostic.message} at {diagnostic.location}".rstrip(".")
    return str(error).rstrip(".")
