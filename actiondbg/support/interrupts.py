"""Signals, interrupts and waits: Ctrl-C is deferred, except during waits for the tool."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
from collections.abc import Callable, Generator
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, ParamSpec, TypeVar, cast

from actiondbg.errors import NotStopped

_IMPORT = "<frozen importlib._bootstrap>"  # the file of its functions
_START = "_execute_child"  # the method of subprocess.Popen
_RETRY_SECONDS = 0.01
_undisturbed = set[CodeType]()
P = ParamSpec("P")
R = TypeVar("R")


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def exit_code(status: int) -> int:
    """Return an exit status as a shell does: 128 plus the signal for a negative one."""
    return status if status >= 0 else 128 - status


def raise_interrupt(_: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, as a handler of SIGINT, unless the signal is delayed."""
    if not delay_signal(signal.SIGINT, frame):
        raise KeyboardInterrupt


def undisturbed(function: Callable[P, R]) -> Callable[P, R]:
    """Delay signals of our handlers in a function.

    What it makes is removed by its caller, which must get it.
    """
    _undisturbed.add(cast("FunctionType", function).__code__)
    return function


def delay_signal(number: int, frame: FrameType | None) -> bool:
    """Send a signal again a little later if an exception would do harm now; return whether it did.

    Within an import it leaves broken modules, can crash the interpreter in the middle of a
    compiled one, or is swallowed by the package. While a process is started, or a file is made by
    an ``undisturbed`` function, nobody has it yet who would end or remove it.
    """
    while frame is not None:
        code = frame.f_code
        is_start = code.co_name == _START and code.co_filename == subprocess.__file__
        if code.co_filename == _IMPORT or is_start or code in _undisturbed:
            again = threading.Timer(_RETRY_SECONDS, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()
            return True
        frame = frame.f_back
    return False


class HeldInterrupts:
    """Defers Ctrl-C, except during waits for the tool.

    A KeyboardInterrupt between the receipt and the processing of a message would lose the message.
    In a ``with`` block it is therefore raised in ``Watch.wait`` only, before anything is received,
    or at the end of the block. Only the main thread gets interrupts; in others this does nothing.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._waiting = False
        self._pending = False
        self._blocked = False
        self._handler: Callable[[int, FrameType | None], Any] | None = None
        self._turn = threading.RLock()

    def __enter__(self) -> None:
        if not _is_main():
            return
        if self._depth > 0:
            self._depth += 1
            return
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            # From here on interrupts are deferred; earlier ones leave no partial state.
            signal.signal(signal.SIGINT, self._handle)
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
    def alone(self, *, wait: bool = False) -> Generator[None]:
        """Defer interrupts in the block, and refuse other threads, which would mix up the answers.

        Args:
            wait: for the end of such a block in another thread.

        Raises:
            NotStopped: another thread is in such a block, and ``wait`` is false.
        """
        if not self._turn.acquire(blocking=wait):
            raise NotStopped(
                "Another thread uses the tool: call a session in one thread at a time; only "
                "interrupt() and kill() may be called meanwhile."
            )
        try:
            with self:
                yield
        finally:
            self._turn.release()

    @contextlib.contextmanager
    def blocked(self) -> Generator[None]:
        """Defer interrupts in the block during waits, too."""
        outer, self._blocked = self._blocked, True
        try:
            yield
        finally:
            self._blocked = outer

    def open(self) -> None:
        """Admit interrupts from now on, including a deferred one."""
        if not _is_main() or self._blocked:
            return
        self._waiting = True
        if self._pending and self._handler is not None:
            self._pending = False
            self._handler(signal.SIGINT, None)

    def shut(self) -> None:
        """Defer interrupts again."""
        if _is_main():
            self._waiting = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._waiting and self._handler is not None:
            self._handler(number, frame)
        else:
            self._pending = True


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


class SocketWatch:
    """Waits for data on a socket, or for the end of the process of a pidfd at its other end."""

    def __init__(self, held: HeldInterrupts, socket: int, process: int | None) -> None:
        self._held = held
        self._poll = select.poll()
        self._socket = socket
        self._poll.register(socket, select.POLLIN)
        if process is not None:
            self._poll.register(process, select.POLLIN)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for data or for the end of the process, at most some seconds.

        Returns:
            True when the socket is readable or closed, False when the process has ended and the
            socket is empty.

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


def wait_for_end(process: int, seconds: float | None) -> bool:
    """Wait for the end of the process of a pidfd, without reaping it; return whether it ended."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
