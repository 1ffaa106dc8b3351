"""What a kernel has to compute for given operands, how far it may be off, and its cache."""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import threading
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.model import ROUNDING_FACTOR, ElementType, Operation, Reference
from actiondbg.kernels.packages import np
from actiondbg.kernels.verification.operands import (
    FIRST_RUN,
    OperandKind,
    OperandRun,
    exact_limit,
    further_runs,
    make_operands,
    operand_kinds,
    precise_scale,
)
from actiondbg.kernels.verification.reference_providers import (
    NUMPY,
    ComputeReference,
    find_reference_provider,
)
from actiondbg.support.atomic_write import locked, write_whole
from actiondbg.version import VERSION

# The smallest normal number may be flushed to zero, but for half precision, where none is.
_TINY = {"f16": -24, "bf16": -126, "f32": -126, "f64": -1022}
_EQUAL = "equal"
_INTEGERS = ("whole range", "integers", "signs")
_VERSION = 10
_KEY = "reference.json"


@dataclass(frozen=True)
class Expectation:
    """Operands, and the result that they must give.

    Attributes:
        values: the expected result, in float64 or int64.
        bound: the largest error of each element; None where the result must be equal.
        method: how elements are compared, in words.
        run: the kind of the operands.
        signed_zeros: whether -0.0 does not equal 0.0: a maximum or minimum selects one of them.
        overflows: see Reference.
    """

    operands: list[np.ndarray]
    values: np.ndarray
    bound: np.ndarray | None
    method: str
    run: OperandRun = FIRST_RUN
    signed_zeros: bool = False
    overflows: bool = False

    def reshaped(self, shape: tuple[int, ...]) -> Expectation:
        bound = None if self.bound is None else self.bound.reshape(shape)
        return replace(self, values=self.values.reshape(shape), bound=bound)


def expected_result(operation: Operation, provider: str = NUMPY) -> Expectation:
    """Compute what a kernel has to compute.

    Small integers come first: if all sums are small enough to be exact, in each order of adding
    up, the result must be equal. Else numbers are compared by a bound of the rounding errors.

    Raises:
        UsageError: there is no such provider.
        KernelError: there is no reference for the operation.
    """
    compute = find_reference_provider(provider)
    *kinds, last = operand_kinds(operation)
    for kind in kinds:
        expectation = expectation_of(operation, kind, compute)
        if expectation.method == _EQUAL:
            return expectation
    return expectation_of(operation, last, compute)


def expected_results(operation: Operation, provider: str = NUMPY) -> list[Expectation]:
    """Compute what a kernel has to compute, for each of the operands that verify it.

    Sums of small integers find lost and doubled elements; operands with all their bits and reals
    find lost precision; maxima at each place find a maximum of too few elements. Operands are left
    out of which a number on the way to the result is too large.

    Raises:
        UsageError: there is no such provider.
        KernelError: there is no reference for the operation.
    """
    compute = find_reference_provider(provider)
    first = expected_result(operation, provider)
    exact = _reference(operation, first.operands, compute).exact
    further = (
        expectation_of(operation, run.kind, compute, run.index)
        for run in further_runs(operation, first.run.kind, exact)
    )
    return [first, *(each for each in further if not each.overflows)]


def expectation_of(
    operation: Operation, kind: OperandKind, compute: ComputeReference, index: int = 0
) -> Expectation:
    """Compute the expected result for one kind of operands; see OperandRun.

    Raises:
        KernelError: the reference failed, needs too much memory, or has another shape.
    """
    operands = make_operands(operation, kind, index)
    reference = _reference(operation, operands, compute)
    made = _expectation(operation, OperandRun(kind, index), operands, reference, compute)
    return replace(made, overflows=reference.overflows)


def _expectation(
    operation: Operation,
    run: OperandRun,
    operands: list[np.ndarray],
    reference: Reference,
    compute: ComputeReference,
) -> Expectation:
    kind = run.kind
    values, result = reference.values, operation.result.type
    if kind == "edges":
        # Of results that are NaN or infinite there is none. A finite one that was selected from
        # such operands is as exact as the operation is, and else unknown.
        magnitude = np.broadcast_to(reference.magnitude, values.shape)
        unknown = np.isfinite(values) & (not reference.exact)
        finite = np.where(unknown, np.inf, 0.0)
        magnitude = np.where(np.isfinite(magnitude), magnitude, finite)
        reference = replace(reference, magnitude=magnitude, errors=None)
    limit = exact_limit(operation)
    small = float(np.max(reference.magnitude, initial=0.0)) < limit
    is_equal = reference.exact and small and kind in (*_INTEGERS, "edges")
    signed = kind == "edges" and reference.signed_zeros
    if kind == "extremes" or operation.extreme is not None or (is_equal and kind != "edges"):
        return Expectation(operands, values, None, _EQUAL, run, signed)
    if kind == "precise" and not result.is_float:
        # A sum beyond the limit wraps around, unless a maximum follows: only the others are known.
        bound = np.where(reference.magnitude < limit, 0.0, np.inf)
        bound = np.broadcast_to(bound, values.shape)
        return Expectation(operands, values, bound, _EQUAL, run)
    if not result.is_float:
        method = _EQUAL if small else f"{_EQUAL} modulo 2**{result.bits}"
        return Expectation(operands, values, None, method, run)
    tiny = 2.0 ** _TINY[result.value]
    if is_equal:
        return Expectation(operands, values, np.full(values.shape, tiny), _EQUAL, run, signed)
    errors = reference.magnitude if reference.errors is None else reference.errors
    errors = np.asarray(errors, np.float64)
    bound = ROUNDING_FACTOR * operation.accumulator.unit_roundoff * errors
    # The last rounding, which the reference has too, in f64, and that of numbers below the smallest
    # normal one.
    last = 2 if result is ElementType.F64 else 1
    bound = bound + last * result.unit_roundoff * np.abs(values)
    bound = np.broadcast_to(bound, values.shape) + tiny
    method = f"bound {ROUNDING_FACTOR} u |A||B|"
    if kind in ("precise", "huge", "denormals") and reference.exact:
        bound = np.where(_exact_sums(operation, operands, run, reference, compute), 0.0, bound)
        method = _EQUAL
    return Expectation(operands, values, bound, method, run)


def _exact_sums(
    operation: Operation,
    operands: list[np.ndarray],
    run: OperandRun,
    reference: Reference,
    compute: ComputeReference,
) -> np.ndarray:
    """Return which results of precise, huge or denormal operands are exact.

    They are if the results of the same operands as integers are, and they and all that is added up
    on the way are multiples of these: a constant that is added, and subtracted again, rounds.
    """
    at = run.index % len(operands)
    scale = precise_scale(run.kind, operation.inputs[at].type)
    integers = [
        (each / each.dtype.type(scale)) if number == at else each
        for number, each in enumerate(operands)
    ]
    unscaled = _reference(operation, integers, compute)
    exact = unscaled.values * scale == reference.values
    exact &= unscaled.magnitude * scale == reference.magnitude
    return (unscaled.magnitude < exact_limit(operation)) & exact


def _reference(
    operation: Operation, operands: list[np.ndarray], compute: ComputeReference
) -> Reference:
    try:
        with np.errstate(all="ignore"):
            reference = compute(operation, operands)
    except MemoryError as error:
        raise KernelError("The reference needs more memory than there is.") from error
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise KernelError(f"The reference failed: {type(error).__name__}: {error}.") from error
    values = np.asarray(reference.values)
    if values.shape != operation.result.shape:
        raise KernelError(
            f"The reference has the shape {values.shape}, the result {operation.result.shape}."
        )
    return replace(reference, values=values)


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
    arrays: dict[str, np.ndarray] = {}
    for name, checksum in checksums.items():
        content = (folder / name).read_bytes()
        if hashlib.sha256(content).hexdigest() != checksum:
            raise ValueError(f"{folder / name} is damaged.")
        arrays[name] = np.load(io.BytesIO(content), allow_pickle=False)
    # ml_dtypes' numbers are stored as raw bytes.
    typed = [arrays[f"{each.name}.npy"].view(each.type.dtype) for each in operation.inputs]
    bound, values = arrays.get("bound.npy"), arrays["expected.npy"]
    shapes = [each.shape for each in operation.inputs]
    whole = [each.shape for each in typed] == shapes and values.shape == operation.result.shape
    if not whole or (bound is not None and np.shape(bound) != values.shape):
        raise ValueError(f"{folder} is of another operation.")
    return Expectation(typed, values, bound, run["method"], made, run["signed_zeros"])


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
