"""The operations of a program, such as a model that a framework exported."""

from __future__ import annotations

import re
from pathlib import Path

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.programs.extraction import CutProgram, cut
from actiondbg.kernels.programs.model_operation import ModelOperation
from actiondbg.kernels.programs.structured_operation import parse_program

_HINTS = {
    "tosa": "mlir-opt --pass-pipeline='builtin.module(func.func(tosa-infer-shapes,"
    "tosa-to-linalg-named,canonicalize,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))'",
    "stablehlo": "stablehlo-opt's --stablehlo-legalize-to-linalg",
    "torch": "torch-mlir-opt's --torch-backend-to-linalg-on-tensors-backend-pipeline",
    "onnx": "onnx-mlir-opt's --convert-onnx-to-linalg",
}
_DIALECT = re.compile(r"(?:= |^\s*)\"?([a-z_]+)\.[a-z_]", re.MULTILINE)


def operations_of(path: Path) -> list[ModelOperation]:
    """Return each linalg operation of a program, or fused group, once for each shape and body.

    Raises:
        UsageError: the file is not MLIR, or has no linalg operation on tensors.
        ActiondbgError: MLIR's Python bindings are not installed, or the file cannot be read.
    """
    return cut_program(path).operations


def cut_program(path: Path) -> CutProgram:
    """Return the operations of a program, and why others are left out; see ``operations_of``."""
    try:
        text = path.read_text()
    except OSError as error:
        raise ActiondbgError(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not text: write the program as .mlir, not bytecode."
        ) from error
    found = cut(parse_program(text, str(path)))
    if found.operations:
        return found
    if found.left_out:
        raise UsageError(f"{path} has no operation that can be a kernel: {found.left_out[0]}")
    dialects = set(_DIALECT.findall(text))
    known = next((each for each in _HINTS if each in dialects), None)
    advice = f"lower it to linalg first; it has {', '.join(sorted(dialects)) or 'no operation'}."
    if known is not None:
        advice = f"lower {known} to linalg first, with {_HINTS[known]}."
    raise UsageError(f"{path} has no linalg operation on tensors: {advice}")
