"""The progress of a long request, as events that a client can show and cancel."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING

from actiondbg.commands.dap.protocol.events import (
    EventBody,
    ProgressEndEvent,
    ProgressStartEvent,
    ProgressUpdateEvent,
)
from actiondbg.commands.render.bisection import progress_words
from actiondbg.commands.render.terminal.progress import ProgressLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from actiondbg.bisection.progress import Progress

_LATE_SECONDS = 0.5


class RequestProgress(ProgressLine):
    """Sends events about a request that takes long; the waits in it are no progress of their own.

    Args:
        number: the number of the request, which is also that of its progress.
    """

    def __init__(self, send: Callable[[EventBody], None], number: int, title: str) -> None:
        super().__init__(io.StringIO(), enabled=False)
        self._send = send
        self._number = number
        self._title = title
        self._events = threading.Lock()
        self._is_shown = self._is_over = False
        self._timer = threading.Timer(_LATE_SECONDS, self._start)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        self._timer.cancel()
        with self._events:
            if self._is_shown:
                self._send(ProgressEndEvent(progress_id=str(self._number)))
            self._is_shown, self._is_over = False, True

    def change(self, text: str) -> None:
        self._update(text, None)

    def report(self, progress: Progress) -> None:
        total = None if progress.to_go is None else progress.trials + progress.to_go
        percentage = None if not total else round(100.0 * progress.trials / total, 1)
        self._update(progress.note or progress_words(progress), percentage)

    def _start(self) -> None:
        with self._events:
            if self._is_over:
                return
            self._is_shown = True
            self._send(
                ProgressStartEvent(
                    progress_id=str(self._number),
                    title=self._title,
                    request_id=self._number,
                    cancellable=True,
                )
            )

    def _update(self, message: str, percentage: float | None) -> None:
        with self._events:
            if self._is_shown:
                number = str(self._number)
                self._send(
                    ProgressUpdateEvent(progress_id=number, message=message, percentage=percentage)
                )
