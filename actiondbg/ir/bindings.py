"""The IR at a stop as objects of MLIR's Python bindings."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from actiondbg.errors import IRNotParsed, NoSuchUnit

if TYPE_CHECKING:
    from mlir.ir import Context, Module, Operation, OpView  # pyright: ignore[reportMissingTypeStubs]

_PATH_STEP = 3  # a path leads region, block, operation, region, block, operation, ...


class IRReader:
    """Parses IR in one context, which lives as long as the reader or any parsed IR.

    Raises:
        IRNotParsed: the bindings are not installed.
    """

    def __init__(self) -> None:
        try:
            self._ir: Any = import_module("mlir.ir")
        except ImportError as error:
            raise IRNotParsed(
                "MLIR's Python bindings are missing, or cannot be loaded: "
                "pip install xtc-mlir-python-bindings."
            ) from error
        self._context: Context = self._ir.Context()
        self._context.allow_unregistered_dialects = True
        # Without threads, as a script may fork.
        self._context.enable_multithreading(False)

    def read(self, text: str) -> Module | Operation:
        """Parse the generic form of a module.

        Returns:
            The module, or the outermost operation if that is not a builtin.module.

        Raises:
            IRNotParsed: the IR is invalid, as it may be in the middle of a conversion, or the
                bindings lack a dialect of it; with the first diagnostic.
        """
        ir = self._ir
        return self._parse(ir.Module.parse if _is_module(text) else ir.Operation.parse, text)

    def read_module(self, text: str) -> Module:
        """Parse a module in any form; operations without a module around them get one.

        Raises:
            IRNotParsed: the IR is invalid.
        """
        return self._parse(self._ir.Module.parse, text)

    def find(self, parsed: Module | Operation, path: list[int]) -> OpView:
        """Return the operation at a path in parsed IR: region, block, operation, ... from 0.

        Raises:
            NoSuchUnit: the path ends at a region or a block.
        """
        is_module = isinstance(parsed, self._ir.Module)
        root = cast("Operation", parsed.operation if is_module else parsed)
        return self._anchored(_follow(root, path).opview, parsed)

    def _anchored(self, view: Any, parsed: Module | Operation) -> OpView:
        """Make an operation keep the module alive, as the bindings do not.

        The reference is an attribute, which only Python classes accept; the class of unregistered
        operations is native.
        """
        if type(view) is self._ir.OpView:
            view = type("UnregisteredOp", (self._ir.OpView,), {})(view.operation)
        view.actiondbg_root = parsed
        return view

    def _parse(self, parse: Any, text: str) -> Any:
        try:
            return parse(text, context=self._context)
        except self._ir.MLIRError as error:
            raise IRNotParsed(
                "MLIR's Python bindings cannot read the IR, which is not valid, or has a dialect "
                f"that they lack: {_first_diagnostic(error)}."
            ) from error


def _is_module(text: str) -> bool:
    """Return whether printed generic IR is a builtin.module, after its aliases."""
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
            "The cursor is on a region or a block: move it to the operation that holds it "
            "(cursor-parent)."
        )
    # The bindings free an operation with its parent's Python object: keep all parents.
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
