"""The history file of the shell: plain text, one command line a line."""

from __future__ import annotations

import contextlib
from pathlib import Path

from actiondbg.support.atomic_write import write_whole
from actiondbg.support.user_directories import state_directory

_KEPT = 5000  # lines


def history_file() -> Path:
    """Return the path of the history file, in XDG_STATE_HOME."""
    return state_directory() / "history"


class HistoryFile:
    """The history file; each line is written before it runs, so that a kill loses none.

    Args:
        path: the file; when it is not writable, the history lasts for this session only.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = ""
        self._writable = True

    def load(self) -> list[str]:
        """Return the lines of earlier sessions, oldest first; shorten a long file."""
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []
        if len(lines) > 2 * _KEPT:
            lines = lines[-_KEPT:]
            self._rewrite(lines)
        self._last = lines[-1] if lines else ""
        return lines[-_KEPT:]

    def append(self, line: str) -> None:
        """Add a line, unless it repeats the last one."""
        line = line.strip()
        if not line or line == self._last or "\n" in line or not self._writable:
            return
        self._last = line
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8", errors="replace") as file:
                file.write(line + "\n")
        except OSError:
            self._writable = False

    def _rewrite(self, lines: list[str]) -> None:
        # By rename: another session may be reading or appending.
        with contextlib.suppress(OSError):
            write_whole(self._path, ("\n".join(lines) + "\n").encode())
