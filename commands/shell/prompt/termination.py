"""The end of the shell by a signal, with the terminal as it was."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from prompt_toolkit.application import Application

SIGNALS = signal.SIGTERM, signal.SIGHUP


class Termination:
    """Handles the signals that end the shell.

    An exception in the middle of prompt_toolkit's event loop would leave the terminal in its mode.
    So the application that reads a line is asked to end first.
    """

    def __init__(self) -> None:
        self._application: Application[Any] | None = None
        self._signal = 0

    def handle(self, number: int, _: FrameType | None = None) -> None:
        """Handle a signal: exit, at once or after the line that is being read."""
        application = self._application
        if application is None or not application.is_running or application.loop is None:
            leave(number)
        self._signal = number
        application.loop.call_soon_threadsafe(self._end_reading)

    @contextmanager
    def reading(self, application: Application[Any]) -> Generator[None]:
        """Let an application read a line; exit at its end, if a signal came meanwhile."""
        before, self._application = self._application, application
        try:
            yield
        finally:
            self._application = before
            if self._signal:
                leave(self._signal)

    def _end_reading(self) -> None:
        application = self._application
        if application is not None and application.future and not application.future.done():
            application.exit(exception=EOFError)


def leave(number: int) -> NoReturn:
    """Exit with the status of a process killed by a signal, through every ``finally``."""
    # A second signal must not interrupt the clean-up.
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)
