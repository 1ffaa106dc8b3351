"""The file of one dispatch, from which an output of its configured step can be judged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.generated.plain_data import from_json, to_json
from actiondbg.kernels.model.configuration import Configuration
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.operations.registry import find_kind
from actiondbg.kernels.profiling.time_limit import TimeLimit
from actiondbg.kernels.results.row import Verdict
from actiondbg.support.atomic_write import write_whole

_VERSION = 1


@dataclass(frozen=True)
class WrongKernel:
    """A kernel that is wrong, and how.

    Attributes:
        dispatch: of the kernel.
        verdict: of its verification.
        compiler: its identity, which verdicts depend on.
        limit: of its time, if that is what is wrong.
    """

    dispatch: Dispatch
    verdict: Verdict
    compiler: str
    limit: TimeLimit | None = None


@dataclass(frozen=True)
class _Stored:
    """The content of the file."""

    version: int
    kind: str
    operation: msgspec.Raw
    configuration: Configuration
    verdict: Verdict
    compiler: str
    limit: TimeLimit | None = None


def write_kernel(path: Path, kernel: WrongKernel) -> None:
    """Write the file.

    Raises:
        OSError: it cannot be written.
    """
    operation, configuration = kernel.dispatch.operation, kernel.dispatch.configuration
    fields = msgspec.Raw(to_json(operation))
    stored = _Stored(
        _VERSION,
        operation.kind,
        fields,
        configuration,
        kernel.verdict,
        kernel.compiler,
        kernel.limit,
    )
    write_whole(path, to_json(stored))


def read_kernel(path: Path) -> WrongKernel:
    """Read the file.

    Raises:
        ActiondbgError: it is missing, or not such a file.
    """
    try:
        stored = from_json(path.read_bytes(), _Stored)
        operation = from_json(bytes(stored.operation), find_kind(stored.kind))
    except OSError as error:
        raise ActiondbgError(f"{str(path)!r} cannot be read ({error.strerror}).") from error
    except (msgspec.DecodeError, UsageError) as error:
        raise ActiondbgError(
            f"{str(path)!r} does not describe a wrong kernel ({error}): take kernel.json of the "
            "folder of its bisection."
        ) from error
    dispatch = Dispatch(operation, stored.configuration)
    return WrongKernel(dispatch, stored.verdict, stored.compiler, stored.limit)
