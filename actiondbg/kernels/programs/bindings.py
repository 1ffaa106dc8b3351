"""Programs parsed by MLIR's Python bindings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from actiondbg.errors import ActiondbgError, UsageError

if TYPE_CHECKING:
    from mlir import ir  # pyright: ignore[reportMissingTypeStubs]


def parse_program(text: str, source: str) -> ir.Module:
    """Return the module of a program.

    Args:
        text: of the program.
        source: its name in messages.

    Raises:
        ActiondbgError: the bindings are not installed.
        UsageError: the text is not valid MLIR; with the first diagnostic.
    """
    try:
        import_module("mlir.dialects.linalg")
        ir: Any = import_module("mlir.ir")
    except ImportError as error:
        raise ActiondbgError(
            "Cutting kernels out of a program needs MLIR's Python bindings: "
            "pip install xtc-mlir-python-bindings."
        ) from error
    context = ir.Context()
    context.enable_multithreading(False)  # a script may fork
    try:
        return ir.Module.parse(text, context)
    except ir.MLIRError as error:
        first = next(iter(error.error_diagnostics), None)
        reason = f"{first.message} at {_place(str(first.location))}" if first else str(error)
        raise UsageError(f"{source} is not valid MLIR: {reason.rstrip('.')}.") from error


def _place(location: str) -> str:
    """Return the line and column of a location in text without a file name."""
    found = re.search(r'"-":(\d+):(\d+)', location)
    return f"line {found[1]}, column {found[2]}" if found else location


def nested_operations(operation: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the operations inside of one, in program order."""
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                yield from nested_operations(view.operation)


def defining_operation(value: ir.Value) -> ir.Operation | None:
    """Return the operation whose result a value is; None for a block's argument."""
    return cast("ir.Operation | None", getattr(value.owner, "operation", None))


def tensor_shape(kind: ir.Type) -> tuple[int, ...]:
    return tuple(cast("Any", kind).shape)


def element_name(kind: ir.Type) -> str:
    """Return the element type of a tensor type, such as ``f32``."""
    return str(cast("Any", kind).element_type)


def integer_attribute(operation: ir.Operation, name: str) -> int:
    return cast("Any", operation.attributes[name]).value
