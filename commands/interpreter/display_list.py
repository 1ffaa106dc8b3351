"""The displays of a console: commands that are run, and shown, at each stop."""

from __future__ import annotations

from actiondbg.commands.render.info import Display


class DisplayList:
    """Displays, under numbers from 1 that are never given out again.

    Attributes:
        running: whether one is run now; the tool must not go on meanwhile.
    """

    def __init__(self) -> None:
        self.running = False
        self._all: dict[int, Display] = {}
        self._newest = 0

    def all(self) -> list[Display]:
        """Return all, in the order of their numbers."""
        return list(self._all.values())

    def add(self, line: str) -> Display:
        """Add a command line."""
        self._newest += 1
        added = self._all[self._newest] = Display(self._newest, line)
        return added

    def remove(self, ids: list[int]) -> None:
        """Forget displays."""
        for number in ids:
            del self._all[number]
