"""A line about a wait, such as ``... 3 s``, on a terminal."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

import msgspec

_LATE_SECONDS = 1
_TICK_SECONDS = 0.2
# The cursor stays where it is, so that output of the tool overwrites the line, which is not wrapped
# at the margin.
_DRAWN = "\x1b7\x1b[?7l{}\x1b[K\x1b[?7h\x1b8"
_ERASED = "\x1b[K"


class _Wait(msgspec.Struct):
    text: str
    since: float
    late: int


class ProgressLine:
    """A line about the current wait; erased at its end.

    Args:
        out: the stream, on which nothing is written unless it is a terminal.
    """

    def __init__(self, out: TextIO, enabled: bool = True) -> None:
        self._out = out
        self.shows = enabled and out.isatty() and os.environ.get("TERM") != "dumb"
        self._lock = threading.Lock()
        self._waits: list[_Wait] = []  # the inner one, which is shown, is the last
        self._drawn = ""
        self._over = threading.Event()

    @contextmanager
    def shown(self, text: str = "...", late: int = _LATE_SECONDS) -> Generator[None]:
        """Show the text and the seconds so far, while the block runs.

        Args:
            late: the whole seconds after which it appears.
        """
        if not self.shows:
            yield
            return
        self._begin(text, late)
        try:
            yield
        finally:
            self._end()

    def _begin(self, text: str, late: int) -> None:
        with self._lock:
            self._erase()
            self._waits.append(_Wait(text, time.monotonic(), late))
            if len(self._waits) > 1:
                return
            self._over = threading.Event()
        threading.Thread(target=self._tick, args=(self._over,), daemon=True).start()

    def change(self, text: str) -> None:
        """Show another text for the inner wait."""
        if self.shows:
            with self._lock:
                self._waits[-1].text = text

    def _end(self) -> None:
        with self._lock:
            self._erase()
            self._waits.pop()
            if not self._waits:
                self._over.set()
            else:
                self._waits[-1].since = time.monotonic()  # the inner wait was shown instead

    def _tick(self, over: threading.Event) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the main thread handles it
        while not over.is_set():
            with self._lock:
                if not over.is_set():
                    self._draw(self._waits[-1])
            over.wait(_TICK_SECONDS)

    def _draw(self, wait: _Wait) -> None:
        seconds = int(time.monotonic() - wait.since)
        # Never longer than the first line of a module.
        passed = f"{seconds} s" if seconds < 100 else f"{seconds // 60}m{seconds % 60:02}"
        line = f"{wait.text} {passed}"
        if seconds >= wait.late and line != self._drawn:
            self._write(_DRAWN.format(line))
            self._drawn = line

    def _erase(self) -> None:
        if self._drawn:
            self._write(_ERASED)
            self._drawn = ""

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
