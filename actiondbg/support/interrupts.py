"""Waiting for the tool: for what it sends and for its end, and for Ctrl-C meanwhile."""

from __future__ import annotations

import contextlib
import select
import signal
import threading
from collections.abc import Callable, Generator
from types import FrameType, TracebackType
from typing import Any


class HeldInterrupts:
    """Hold Ctrl-C back, except while the tool is waited for.

    A KeyboardInterrupt between the receipt of a message and the note of what it says would lose
    it. In a ``with`` block it is therefore raised in ``Watch.wait`` only, where nothing has been
    received yet, or at the end of the block. That is the main thread's, in which it is raised; in
    others this does nothing.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._waiting = False
        self._pending = False
        self._deaf = False
        self._handler: Callable[[int, FrameType | None], Any] | None = None

    def __enter__(self) -> None:
        if not _is_main():
            return
        if self._depth > 0:
            self._depth += 1
            return
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            # From here on an interrupt is held back; before, nothing is changed that it could
            # leave half done.
            signal.signal(signal.SIGINT, self._arrive)
            self._handler = handler
        self._depth = 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not _is_main():
            return
        self._depth -= 1
        self._waiting = False
        if self._depth > 0 or self._handler is None:
            return
        handler, self._handler = self._handler, None
        pending, self._pending = self._pending, False
        signal.signal(signal.SIGINT, handler)
        if pending:
            handler(signal.SIGINT, None)

    @contextlib.contextmanager
    def deaf(self) -> Generator[None]:
        """Hold interrupts back while the tool is waited for, too, inside of the block."""
        outer, self._deaf = self._deaf, True
        try:
            yield
        finally:
            self._deaf = outer

    def open(self) -> None:
        """Let an interrupt through from now on, also one that was held back."""
        if not _is_main() or self._deaf:
            return
        self._waiting = True
        if self._pending and self._handler is not None:
            self._pending = False
            self._handler(signal.SIGINT, None)

    def shut(self) -> None:
        """Hold interrupts back again."""
        if _is_main():
            self._waiting = False

    def _arrive(self, number: int, frame: FrameType | None) -> None:
        if self._waiting and self._handler is not None:
            self._handler(number, frame)
        else:
            self._pending = True


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


class Watch:
    """Wait until one of a socket and a process has something to tell.

    Args:
        held: opened while waiting.
        socket: what is read from, a file descriptor.
        process: the pidfd of the process at the other end, or None.
    """

    def __init__(self, held: HeldInterrupts, socket: int, process: int | None) -> None:
        self._held = held
        self._poll = select.poll()
        self._socket = socket
        self._poll.register(socket, select.POLLIN)
        if process is not None:
            self._poll.register(process, select.POLLIN)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait.

        Args:
            seconds: at most so long; None for as long as it takes.

        Returns:
            True when the socket can be read (or has ended), False when the process has ended
            and left nothing in the socket.

        Raises:
            TimeoutError: neither happened in time.
        """
        try:
            self._held.open()
            ready = self._poll.poll(None if seconds is None else seconds * 1000)
        finally:
            self._held.shut()
        if not ready:
            raise TimeoutError
        return any(fd == self._socket for fd, _ in ready)


def wait_for_end(process: int, seconds: float) -> bool:
    """Wait for a process to end, without reaping it.

    Args:
        process: its pidfd.
        seconds: at most so long.

    Returns:
        Whether it has ended.
    """
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
