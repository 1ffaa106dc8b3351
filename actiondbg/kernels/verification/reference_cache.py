"""Expected results, kept as .npy files beside the operation."""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from actiondbg.kernels.generated.layout import GeneratedFolder
from actiondbg.kernels.model.operation import ROUNDING_FACTOR, Operation
from actiondbg.kernels.verification.expectation import Expectation, expected_results
from actiondbg.kernels.verification.operands import OperandRun
from actiondbg.kernels.verification.reference_providers import NUMPY, find_reference_provider
from actiondbg.support.atomic_write import locked, write_whole
from actiondbg.version import VERSION

_VERSION = 6  # of how operands and bounds are made
_KEY = "reference.json"


class ReferenceCache:
    """Computes expected results, each once.

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

    def identity(self, operation: Operation) -> str:
        """Return a digest of the operands and the expected result, by content.

        Raises:
            KernelError: there is no reference for the operation.
            OSError: a file cannot be written.
        """
        self.expectations(operation)
        folder = self._folder.of_operation(operation) / self._subfolder
        return hashlib.sha256((folder / _KEY).read_bytes()).hexdigest()

    def expectations(self, operation: Operation) -> list[Expectation]:
        """Return what a kernel has to compute. May be called from several threads.

        Raises:
            KernelError: there is no reference for the operation.
            OSError: a file cannot be written.
        """
        folder = self._folder.of_operation(operation) / self._subfolder
        with self._locks[operation.name], locked(folder):
            digest = _digest(operation, self._provider)
            stored = _read(operation, folder, digest)
            if stored:
                return stored
            made = expected_results(operation, self._provider)
            _write(operation, folder, made, digest)
            return made


def _digest(operation: Operation, provider: str) -> str:
    # Of another version, references may be others, and so may NumPy's random numbers.
    versions = f"{_VERSION} {VERSION} {np.__version__} {ROUNDING_FACTOR}"
    text = f"{versions} {_source(provider)} {operation.function()}"
    return hashlib.sha256(text.encode()).hexdigest()


def _source(provider: str) -> str:
    """Return the source of a user's references, as far as Python finds the file."""
    if provider == NUMPY:
        return ""
    compute = find_reference_provider(provider)
    try:
        return inspect.getsource(inspect.getmodule(compute) or type(compute))
    except (OSError, TypeError):
        return repr(compute)


def _read(operation: Operation, folder: Path, digest: str) -> list[Expectation]:
    """Return stored expectations; none if one is missing, damaged or of another operation."""
    try:
        stored = json.loads((folder / _KEY).read_bytes())
        if stored["digest"] != digest:
            return []
        return [_read_one(operation, folder, run) for run in stored["runs"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _read_one(operation: Operation, folder: Path, run: dict[str, Any]) -> Expectation:
    checksums, made = run["checksums"], OperandRun(run["kind"], run["index"])
    folder = folder / made.name
    arrays = {name: _load(folder / name, checksums[name]) for name in checksums}
    # ml_dtypes' numbers are stored as raw bytes.
    typed = [arrays[f"{each.name}.npy"].view(each.type.dtype) for each in operation.inputs]
    bound, values = arrays.get("bound.npy"), arrays["expected.npy"]
    shapes = [each.shape for each in operation.inputs]
    whole = [each.shape for each in typed] == shapes and values.shape == operation.result.shape
    if not whole or (bound is not None and np.shape(bound) != values.shape):
        raise ValueError(f"{folder} is of another operation.")
    return Expectation(typed, values, bound, run["method"], made, run["signed_zeros"])


def _load(path: Path, checksum: str) -> np.ndarray:
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != checksum:
        raise ValueError(f"{path} is damaged.")
    return np.load(io.BytesIO(content), allow_pickle=False)


def _write(operation: Operation, folder: Path, made: list[Expectation], digest: str) -> None:
    """Write expectations; the file with their digest is the last one."""
    (folder / _KEY).unlink(missing_ok=True)
    runs = [
        {
            "kind": each.run.kind,
            "index": each.run.index,
            "method": each.method,
            "signed_zeros": each.signed_zeros,
            "checksums": _write_arrays(operation, folder / each.run.name, each),
        }
        for each in made
    ]
    write_whole(folder / _KEY, json.dumps({"digest": digest, "runs": runs}).encode())


def _write_arrays(operation: Operation, folder: Path, made: Expectation) -> dict[str, str]:
    """Write the arrays of an expectation; return their checksums by file."""
    folder.mkdir(exist_ok=True)
    arrays = {each.name: array for each, array in zip(operation.inputs, made.operands, strict=True)}
    arrays["expected"] = made.values
    if made.bound is not None:
        arrays["bound"] = made.bound
    checksums: dict[str, str] = {}
    for name, array in arrays.items():
        content = io.BytesIO()
        np.save(content, array)
        checksums[f"{name}.npy"] = hashlib.sha256(content.getbuffer()).hexdigest()
        write_whole(folder / f"{name}.npy", content.getvalue())
    return checksums
