"""Expected results, kept as .npy files beside the operation."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.kernels.generated.folder_lock import locked
from actiondbg.kernels.generated.layout import GeneratedFolder
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.verification.expectation import FACTOR, Expectation, expected_result
from actiondbg.kernels.verification.reference_providers import NUMPY, find_reference_provider
from actiondbg.support.atomic_write import open_whole, write_whole

if TYPE_CHECKING:
    import numpy as np

_VERSION = 1  # of how operands and bounds are made
_KEY = "reference.json"


class ReferenceCache:
    """Computes expected results, each once.

    Args:
        folder: of the generated kernels.
        provider: of the references.

    Raises:
        UsageError: there is no such provider.
    """

    def __init__(self, folder: GeneratedFolder, provider: str = NUMPY) -> None:
        find_reference_provider(provider)
        self._folder = folder
        self._provider = provider
        self._subfolder = "reference" if provider == NUMPY else f"reference_{provider}"
        # A lock of a folder is one of processes: the threads of this one share its files.
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def expectation(self, operation: Operation) -> Expectation:
        """Return what a kernel has to compute. May be called from several threads.

        Raises:
            KernelError: there is no reference for the operation.
            OSError: a file cannot be written.
        """
        folder = self._folder.of_operation(operation) / self._subfolder
        with self._locks[operation.name], locked(folder):
            stored = _read(operation, folder)
            if stored is not None:
                return stored
            made = expected_result(operation, self._provider)
            _write(operation, folder, made)
            return made


def _digest(operation: Operation) -> str:
    text = f"{_VERSION} {FACTOR} {operation.function()}"
    return hashlib.sha256(text.encode()).hexdigest()


def _read(operation: Operation, folder: Path) -> Expectation | None:
    """Return a stored expectation; None if it is missing, damaged or of another operation."""
    import numpy

    try:
        stored = json.loads((folder / _KEY).read_bytes())
        if stored["digest"] != _digest(operation):
            return None
        operands = [_load(folder / f"{each.name}.npy") for each in operation.inputs]
        # ml_dtypes' numbers are stored as raw bytes.
        typed = [
            array.view(each.type.dtype)
            for each, array in zip(operation.inputs, operands, strict=True)
        ]
        bound = _load(folder / "bound.npy") if stored["bounded"] else None
        values = _load(folder / "expected.npy")
    except (OSError, ValueError, KeyError, TypeError):
        return None
    shapes = [each.shape for each in operation.inputs]
    whole = [each.shape for each in typed] == shapes and values.shape == operation.result.shape
    right = bound is None or numpy.shape(bound) == values.shape
    return Expectation(typed, values, bound, stored["method"]) if whole and right else None


def _load(path: Path) -> np.ndarray:
    import numpy

    return numpy.load(path, allow_pickle=False)


def _write(operation: Operation, folder: Path, made: Expectation) -> None:
    """Write an expectation; the file with its digest is the last one."""
    import numpy

    (folder / _KEY).unlink(missing_ok=True)
    arrays = {each.name: array for each, array in zip(operation.inputs, made.operands, strict=True)}
    arrays["expected"] = made.values
    if made.bound is not None:
        arrays["bound"] = made.bound
    for name, array in arrays.items():
        with open_whole(folder / f"{name}.npy") as file:
            numpy.save(file, array)
    key = {
        "digest": _digest(operation),
        "method": made.method,
        "bounded": made.bound is not None,
    }
    write_whole(folder / _KEY, json.dumps(key).encode())
