"""A terminal with two screens, as xterm has, and a program in it."""

from __future__ import annotations

import copy
import re
import time
from typing import Any

import pexpect
import pyte

_ALTERNATE = 1049  # the private mode for the alternate screen
_SECONDS = 60  # to wait at most for a text


class TwoScreens(pyte.Screen):
    """A screen that keeps what was behind the alternate screen.

    Attributes:
        is_alternate: whether the alternate screen is shown.
    """

    is_alternate = False
    buffer: Any  # which pyte does not annotate in full
    cursor: Any

    def set_mode(self, *modes: int, **options: Any) -> None:
        if options.get("private") and _ALTERNATE in modes and not self.is_alternate:
            self._behind = copy.deepcopy(self.buffer), copy.copy(self.cursor)
            self.is_alternate = True
            self.erase_in_display(2)
        super().set_mode(*modes, **options)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        if options.get("private") and _ALTERNATE in modes and self.is_alternate:
            self.buffer, self.cursor = self._behind
            self.is_alternate = False
            self.dirty.update(range(self.lines))
        super().reset_mode(*modes, **options)


class ScreenTerminal:
    """A program in a terminal whose screen can be read.

    Args:
        command: the command line of the program.
        environment: its environment.
        rows: of the terminal.
        columns: of the terminal.
    """

    def __init__(
        self, command: list[str], environment: dict[str, str], rows: int = 36, columns: int = 130
    ) -> None:
        self.screen = TwoScreens(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.child: Any = pexpect.spawn(
            command[0], command[1:], env=environment, dimensions=(rows, columns)
        )

    @property
    def text(self) -> str:
        """Return what the screen shows."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def send(self, keys: str) -> None:
        """Press keys."""
        self.child.send(keys)

    def see(self, pattern: str, *, alternate: bool | None = None, seconds: int = _SECONDS) -> str:
        """Wait until the screen shows a pattern; return its text.

        Args:
            pattern: a regular expression, in which ^ and $ match at lines.
            alternate: the screen that has to be shown; None for any.
            seconds: to wait at most.
        """
        deadline = time.monotonic() + seconds
        while not (
            re.search(pattern, self.text, re.MULTILINE)
            and alternate in (None, self.screen.is_alternate)
        ):
            assert time.monotonic() < deadline, f"{pattern!r} is not shown:\n{self.text}"
            self._receive()
        return self.text

    def finish(self) -> int | None:
        """Wait for the end of the program; return its status, negative for a signal."""
        deadline = time.monotonic() + _SECONDS
        while self._receive():
            assert time.monotonic() < deadline, f"The program goes on:\n{self.text}"
        self.child.wait()
        return self.child.exitstatus if self.child.signalstatus is None else -1

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the terminal."""
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def _receive(self) -> bool:
        """Draw what the program writes within a moment; return False at its end."""
        try:
            self._stream.feed(self.child.read_nonblocking(1 << 16, 0.1))
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        return True
