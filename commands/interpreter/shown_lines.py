"""The lines of IR that ``around`` and ``list`` show, and where they go on."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from actiondbg.commands.render.ir.excerpt import Block
from actiondbg.errors import NoSuchUnit
from actiondbg.protocol import Excerpt, Line
from actiondbg.session.debug_session import DebugSession


class ShownLines:
    """Shows lines around a place; asked for the same place again, those after them.

    Args:
        session: the session.
        elide: returns the limit above which the elements of a constant are elided.
    """

    def __init__(self, session: DebugSession, elide: Callable[[], int | None]) -> None:
        self._session = session
        self._elide = elide
        self._last: Line | None = None
        self._asked: object = None

    def show(self, place: str, count: int) -> Block:
        """Return the lines around a place.

        Args:
            place: "cursor", or a place of ``Cursor.goto``.
            count: lines before it and after it.

        Raises:
            NoSuchUnit: there is no such place, or all lines up to the end have been shown.
        """
        cursor = self._session.cursor.get().unit.id
        stop = self._session.stop
        asked = (place, cursor, stop.event if stop else None)
        if asked != self._asked:
            excerpt = self._around(place, count)
        elif self._last is None or self._last.id is None:
            self._asked = None
            raise NoSuchUnit("All lines have been shown: the next command begins again.")
        else:
            excerpt = self._after(self._last, 2 * count)
        self._asked = asked
        self._last = excerpt.lines[-1] if excerpt.more_after else None
        return Block(excerpt, cursor)

    def _around(self, place: str, count: int) -> Excerpt:
        if place == "cursor":
            return self._read(None, 0, count, count)
        with self._session.cursor.at(place):
            return self._read(None, 0, count, count)

    def _after(self, last: Line, count: int) -> Excerpt:
        excerpt = self._read(last.id, last.part, 0, count)
        return msgspec.structs.replace(excerpt, lines=excerpt.lines[1:], current=-1)

    def _read(self, operation: int | None, part: int, before: int, after: int) -> Excerpt:
        return self._session.ir.excerpt(
            operation, part=part, before=before, after=after, elide=self._elide()
        )
