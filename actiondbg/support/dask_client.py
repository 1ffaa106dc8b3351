"""The part of Dask's interface that is used, and the connection to a scheduler."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Protocol, cast

from actiondbg.errors import UsageError

_CONNECT_SECONDS = 10.0
_POLL_SECONDS = 0.5


class _TaskState(Protocol):
    state: str


class _WorkerState(Protocol):
    tasks: Mapping[str, _TaskState]


class _DaskWorker(Protocol):
    state: _WorkerState

    def get_current_task(self) -> str: ...


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


@contextmanager
def cancelled_with_task(cancel: Callable[[], None]) -> Generator[None]:
    """Call a function when the task that runs the block on a worker is cancelled.

    Dask itself does not stop running tasks. The function may be called again, as what it ends may
    not have begun, or have just started another process.
    """
    # Imported here: Dask is optional, and takes most of a second to import.
    from distributed import get_worker

    worker = cast(_DaskWorker, get_worker())
    key, over = worker.get_current_task(), threading.Event()

    def watch() -> None:
        while not over.wait(_POLL_SECONDS):
            task = worker.state.tasks.get(key)
            if task is None or task.state == "cancelled":
                cancel()

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()
