"""The handlers of requests, the requests that wait, and the interruption of the one that runs."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from actiondbg.commands.dap.protocol import Arguments, Body, IncomingMessage
from actiondbg.commands.interpreter.options import arguments_type
from actiondbg.support.interrupts import raise_interrupt

if TYPE_CHECKING:
    from types import FrameType

Result = Body | dict[str, object] | str | None
RunT = TypeVar("RunT", bound=Callable[..., Result])
PREFIX = "actiondbg/"  # of the requests that the protocol lacks
_POLL_SECONDS = 0.2  # a signal may end it between the check and the wait

HANDLERS: dict[str, Handler] = {}
CAPABILITIES: dict[str, object] = {}


@dataclass(eq=False)
class Handler:
    """The handler of a request; declared by using it as the decorator of a function.

    Attributes:
        capability: the field of ``Capabilities`` that announces the request, or empty.
        resumes: whether the response is sent first, and a stop is announced afterwards.
        at_once: whether it runs in the thread that reads, while another request runs.
        needs_session: whether there must be a session of a tool or a recording.
        is_long: whether its progress is shown.
        begins: whether it resumes a tool that has not been started.
        ends_run: whether it overtakes the requests that wait, and ends a wait for the tool.
        is_view: whether it fills a side view, which is read again at the next stop: it is cancelled
            when the tool shall be resumed.
        is_free: whether it resumes the tool up to a breakpoint, so that the tool may be stopped and
            resumed for a request that ``is_change``.
        is_change: whether it changes breakpoints, for which the tool has to be stopped.
        is_command: whether it runs commands of the user, which may move the cursor or the tool.
        run: the function: it takes the client and the arguments. It returns the body of the
            response; where ``resumes``, the command line of the shell that resumes the tool.
    """

    name: str
    _: KW_ONLY
    capability: str = ""
    resumes: bool = False
    at_once: bool = False
    needs_session: bool = True
    is_long: bool = False
    begins: bool = False
    ends_run: bool = False
    is_view: bool = False
    is_free: bool = False
    is_change: bool = False
    is_command: bool = False
    run: Callable[..., Result] = field(init=False)

    def __call__(self, run: RunT) -> RunT:
        """Declare a function as the one that handles the request."""
        self.run = run
        HANDLERS[self.name] = self
        if self.capability:
            provide(self.capability)
        return run

    @property
    def arguments(self) -> type[Arguments]:
        return arguments_type(self.run)

    @property
    def summary(self) -> str:
        return " ".join((self.run.__doc__ or "").partition("\n\n")[0].split())


request = Handler  # as a decorator


def provide(capability: str, value: object = True) -> None:
    """Announce a capability that is no request of its own."""
    CAPABILITIES[capability] = value


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
