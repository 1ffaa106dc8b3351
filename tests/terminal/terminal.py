"""A terminal with the shell in it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pexpect

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")
TAKEN = r"\x1b\[\?2004l"  # the end of reading a line: bracketed paste is switched off
# What prompt_toolkit writes when it waits for keys; the prompt before is drawn more than once.
BLOCK = r">[^\n]*\x1b\[\?25h"  # waits for a line of a block
READY = r"\(actiondbg\)(?:\s|\x1b\[[0-9;?]*[A-Za-z])*\x1b\[\?25h"


def end(child: Any) -> None:
    """End a program in a terminal; on a busy machine it dies later than pexpect waits for that."""
    with suppress(pexpect.ExceptionPexpect):
        child.close(force=True)


def environment_in(home: Path, **more: str) -> dict[str, str]:
    """Return an environment whose home is another one, with the agents that were built before."""
    # A parallel run of the tests sets the size of its own terminal.
    others = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    return {
        **others,
        "HOME": str(home),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "TERM": "xterm",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        **more,
    }


class Terminal:
    """A terminal with the shell in it.

    Args:
        arguments: of actiondbg.
        environment: of the process.
        python: the words that let Python run actiondbg.
    """

    def __init__(
        self,
        arguments: list[str],
        environment: dict[str, str],
        python: Sequence[str] = ("-m", "actiondbg"),
    ) -> None:
        self.child: pexpect.spawn[str] = pexpect.spawn(
            sys.executable,
            [*python, *arguments],
            env=environment,
            dimensions=(30, 120),
            encoding="utf-8",
            timeout=20,
        )

    def ready(self) -> str:
        """Wait for the prompt; return what stood before it, without escapes."""
        self.child.expect(READY)
        return ESCAPE.sub("", self.child.before or "").replace("\r", "")

    def enter(self, line: str) -> None:
        """Type a line, and wait until the shell has taken it."""
        self.child.send(line + "\r")
        self.child.expect(TAKEN)

    def do(self, line: str) -> str:
        self.enter(line)
        return self.ready()

    def see(self, pattern: str) -> None:
        self.child.expect(pattern)

    def resize(self, rows: int, columns: int) -> None:
        self.child.setwinsize(rows, columns)  # pyright: ignore[reportUnknownMemberType]
