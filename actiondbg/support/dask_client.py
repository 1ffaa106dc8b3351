"""The part of Dask's interface that is used, and the connection to a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, cast

from actiondbg.errors import UsageError

_CONNECT_SECONDS = 10.0


class DaskFuture(Protocol):
    """A ``distributed.Future``."""

    def result(self) -> object: ...
    def cancel(self) -> object: ...
    def add_done_callback(self, callback: Callable[[DaskFuture], None], /) -> object: ...


class DaskClient(Protocol):
    """A ``distributed.Client``."""

    def nthreads(self) -> Mapping[str, int]: ...
    def submit(
        self,
        function: Callable[..., object],
        /,
        *arguments: object,
        workers: list[str] | None = None,
        pure: bool,
        retries: int = 0,
    ) -> DaskFuture: ...
    def run(
        self,
        function: Callable[..., object],
        /,
        *arguments: object,
        workers: list[str] | None = ...,
    ) -> object: ...
    def close(self) -> object: ...


def connect(address: str) -> DaskClient:
    """Connect to a scheduler that has workers.

    Args:
        address: of the scheduler, such as ``tcp://10.0.0.1:8786``.

    Raises:
        UsageError: the scheduler cannot be reached or has no workers, or Dask is not installed.
    """
    try:
        # Imported here: Dask is optional, and takes most of a second to import.
        from distributed import Client
    except ImportError as error:
        raise UsageError("Dask is not installed: pip install 'actiondbg[dask]'.") from error
    try:
        client = cast(DaskClient, Client(address, timeout=_CONNECT_SECONDS, set_as_default=False))
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"The Dask scheduler at {address!r} cannot be reached ({error}): check its address."
        ) from error
    if not client.nthreads():
        client.close()
        raise UsageError(f"The Dask scheduler at {address!r} has no workers: start some.")
    return client
