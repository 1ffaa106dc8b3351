"""The requests of clients that wait or run, and the interruption of the one that runs."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from actiondbg.commands.dap.declaration import Handler
from actiondbg.commands.dap.protocol import IncomingMessage
from actiondbg.support.interrupts import raise_interrupt

if TYPE_CHECKING:
    from types import FrameType

_POLL_SECONDS = 0.2  # a signal may end it between the check and the wait


NO_HANDLER = Handler("")  # of a response, and of a request that does not exist


class Waiting(msgspec.Struct, eq=False):
    """A request that waits or runs; the server adds the client.

    Attributes:
        is_cancelled: whether it shall not run.
        is_interrupted: whether it shall be interrupted as soon as it runs.
    """

    message: IncomingMessage
    handler: Handler
    is_cancelled: bool = False
    is_interrupted: bool = False


WaitingT = TypeVar("WaitingT", bound=Waiting)


class InFlight(Generic[WaitingT]):
    """The requests that wait, in their order, and the one that the main thread runs.

    The thread of a connection adds requests, and interrupts the one that runs by SIGINT: a
    KeyboardInterrupt is raised in the main thread, within blocks that allow it.
    """

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._waiting: deque[WaitingT] = deque()
        self._running: WaitingT | None = None
        self._is_allowed = False
        self._is_over = False
        self._wants_changes = False
        self._is_interrupted = False

    def install(self) -> None:
        """Handle SIGINT, in the main thread."""
        signal.signal(signal.SIGINT, self._handle)

    # --- in the threads of connections --------------------------------------------

    def add(self, request: WaitingT) -> None:
        """Add a request.

        A request that ends the run overtakes all others, and a request that resumes the tool those
        of side views. One that is for a stop interrupts a run up to a breakpoint for a moment.
        """
        with self._lock:
            handler = request.handler
            if handler.ends_run:
                for each in self._waiting:
                    each.is_cancelled = True
                self._interrupt()
            elif handler.resumes:
                self._cancel_views()
            self._waiting.append(request)
            if handler.is_change and self._running is not None and self._running.handler.is_free:
                self._signal(for_changes=True)
            self._lock.notify()

    def end(self) -> None:
        """Add no more requests, and run none that wait: the client is gone."""
        with self._lock:
            self._is_over = True
            self._interrupt()
            self._lock.notify()

    def pause(self) -> None:
        """Interrupt the request that resumes the tool, also one that waits."""
        with self._lock:
            if self._running is not None and self._running.handler.resumes:
                self._interrupt()
                return
            for each in self._waiting:
                if each.handler.resumes:
                    each.is_interrupted = True
                    return

    def cancel(self, number: int) -> bool:
        """Interrupt a request, or keep it from running; return whether there is one."""
        with self._lock:
            if self._running is not None and self._running.message.seq == number:
                self._interrupt()
                return True
            for each in self._waiting:
                if each.message.seq == number:
                    each.is_cancelled = True
                    return True
        return False

    def _cancel_views(self) -> None:
        for each in self._waiting:
            each.is_cancelled = each.is_cancelled or each.handler.is_view
        if self._running is not None and self._running.handler.is_view:
            self._interrupt()

    def _interrupt(self) -> None:
        if self._running is not None:
            self._signal(for_changes=False)

    def _signal(self, *, for_changes: bool) -> None:
        self._wants_changes, self._is_interrupted = for_changes, True
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    # --- in the main thread -------------------------------------------------------

    def next(self) -> WaitingT | None:
        """Wait for a request, which runs then; None at the end."""
        with self._lock:
            while not self._waiting and not self._is_over:
                self._lock.wait(_POLL_SECONDS)
            if self._is_over:
                return None
            self._running = self._waiting.popleft()
            self._wants_changes, self._is_interrupted = False, self._running.is_interrupted
            return self._running

    def finished(self) -> None:
        """Note that the request is over."""
        with self._lock:
            self._running = None
            self._wants_changes = self._is_interrupted = False

    @contextlib.contextmanager
    def interruptible(self) -> Generator[None]:
        """Raise KeyboardInterrupt in the block when the request is interrupted, or was before."""
        try:
            self._is_allowed = True
            if self.was_interrupted():
                raise KeyboardInterrupt
            yield
        finally:
            self._is_allowed = False

    def was_interrupted(self) -> bool:
        """Return whether the request was interrupted since the last time."""
        was, self._is_interrupted = self._is_interrupted, False
        return was

    def changes(self) -> list[WaitingT]:
        """Return the requests for which the run was interrupted; none if a user did that."""
        with self._lock:
            if not self._wants_changes:
                return []
            self._wants_changes = False
            found = [each for each in self._waiting if each.handler.is_change]
            for each in found:
                self._waiting.remove(each)
            return found

    def _handle(self, number: int, frame: FrameType | None) -> None:
        # Without the lock, which this thread may hold.
        if not self._is_allowed or not self._is_interrupted:
            return
        try:
            raise_interrupt(number, frame)  # or later, where that is impossible now
        except KeyboardInterrupt:
            self._is_interrupted = False
            raise
