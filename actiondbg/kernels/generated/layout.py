"""The paths of generated kernels."""

from __future__ import annotations

from pathlib import Path

from actiondbg.kernels.model import Dispatch, Operation
from actiondbg.kernels.providers.provider import CONFIGURED

_DIALECT = "linalg"


class GeneratedFolder:
    """The folder of generated kernels, laid out as that of IREE's dispatch profiler.

    ::

        generated/linalg/manifest.json
        generated/linalg/matmul/matmul_64x64x64_f32t_f32t_f32t/
            matmul_64x64x64_f32t_f32t_f32t.mlir    the operation
            reference/integers_0/, ...             operands and expected result, as .npy
            mlir_tile_.../                         a configuration
                configured.mlir, binaries, compile.log, commands.sh, compiled.json

    Args:
        parent: the folder that has, or gets, the folder ``generated``.
    """

    def __init__(self, parent: Path) -> None:
        self.path = parent / "generated" / _DIALECT

    @property
    def manifest(self) -> Path:
        """The file that lists the dispatches."""
        return self.path / "manifest.json"

    def of_operation(self, operation: Operation) -> Path:
        return self.path / operation.kind / operation.name

    def source(self, operation: Operation) -> Path:
        """Return the file of an operation's MLIR."""
        return self.of_operation(operation) / f"{operation.name}.mlir"

    def of_dispatch(self, dispatch: Dispatch) -> Path:
        return self.of_operation(dispatch.operation) / dispatch.configuration.name

    def configured(self, dispatch: Dispatch) -> Path:
        """Return the file of a dispatch's MLIR, from which it is compiled."""
        return self.of_dispatch(dispatch) / CONFIGURED
