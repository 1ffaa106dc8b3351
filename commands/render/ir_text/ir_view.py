"""The view of IR: what a command reads of the IR, and how its text is cut and coloured."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, Unpack

from actiondbg.commands.render.ir_text.short_names import ShortNames
from actiondbg.errors import ActiondbgError
from actiondbg.protocol import ALL_ELEMENTS, GetExcerpt

if TYPE_CHECKING:
    from actiondbg.ir.diff import Diff
    from actiondbg.ir.printed import Excerpt, PrintedText
    from actiondbg.process.stop import Stop
    from actiondbg.protocol import Line
    from actiondbg.recording.session.recorded_session import DebugSession
    from actiondbg.session.inspection.stopped_ir import PrintForm, What

Cut = Callable[[str, int], str]

_UNLIMITED = 1 << 20  # columns
_ELLIPSIS = "…"


class Preferences(Protocol):
    """The settings of the shell; see ``interpreter.settings.Settings``."""

    def __getitem__(self, name: str) -> str: ...
    def on(self, name: str) -> bool: ...
    def limit(self, name: str) -> int | None: ...


class Screen(Protocol):
    """The session, and the terminal that shows its IR; see ``interpreter.console.Console``.

    The width is that of the terminal at which a user is; None without one. ``to_file`` is whether
    output is redirected to a file.
    """

    @property
    def session(self) -> DebugSession: ...
    @property
    def settings(self) -> Preferences: ...
    @property
    def colored(self) -> bool: ...
    @property
    def width(self) -> int | None: ...
    @property
    def to_file(self) -> bool: ...


def cut_between_words(text: str, room: int) -> str:
    """Cut a line that is too long, between two words if one ends nearby."""
    if len(text) <= room:
        return text
    kept = text[: max(room - 2, 1)]
    blank = kept.rfind(" ")
    if blank > len(kept) // 2:
        kept = kept[:blank]
    return f"{kept.rstrip()} {_ELLIPSIS}"


class IRView:
    """The IR of a session as its user wants to see it.

    Settings that concern shown IR are applied here: to what is read, by ``print``, ``excerpt`` and
    ``elided``, and to all text that is shown, which passes ``fit``.

    Attributes:
        short_names: of long attributes, in lines around a place.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._columns: int | None = None  # of a part of the screen
        self.short_names = ShortNames()

    def in_columns(self, columns: int) -> IRView:
        """Return the view for a part of the screen."""
        part = copy.copy(self)
        part._columns = columns
        return part

    # --- the IR that is read ---

    @property
    def context(self) -> int:
        """The number of lines before and after the cursor that a stop shows; 0 for none."""
        return 0 if self._screen.width is None else int(self._screen.settings["context"])

    def print(
        self,
        what: What,
        *,
        mark: bool = True,
        elide: int | None = None,
        full: bool = False,
        **form: Unpack[PrintForm],
    ) -> PrintedText:
        """Print IR, in a file without a mark and with the names of MLIR's printer.

        Args:
            elide, full: see ``elided``; the others are those of ``StoppedIR.print``.
        """
        to_file = self._screen.to_file
        return self._screen.session.ir.print(
            what,
            mark=mark and not to_file,
            printer_names=to_file,
            elide=self._elision(elide, full),
            **form,
        )

    def excerpt(
        self,
        place: int | None = None,
        *,
        part: int = 0,
        before: int,
        after: int,
        definitions: bool = False,
    ) -> Excerpt:
        """Return lines around an operation, by default the cursor; see ``StoppedIR.excerpt``.

        Args:
            definitions: add definitions that lie further away, if the setting is on.
        """
        settings = self._screen.settings
        return self._screen.session.ir.excerpt(
            place,
            part=part,
            before=before,
            after=after,
            elide=settings.limit("elide"),
            definitions=definitions and settings.on("context-defs"),
        )

    def lines_before(self, stop: Stop, count: int) -> list[Line]:
        """Return the lines around the operation of an action as they were before it.

        There are none in a recording, or of a tool that is not replayed.
        """
        if stop.id is None:
            return []
        elide = self._screen.settings.limit("elide")
        message = GetExcerpt(
            id=stop.id, before=count, after=count, elide=ALL_ELEMENTS if elide is None else elide
        )
        try:
            return self._screen.session.past.excerpt_before(stop, message).lines
        except ActiondbgError:
            return []

    def elided(self, diff: Diff, most: int | None, *, full: bool) -> Diff:
        """Return a diff without the elements of large constants.

        Args:
            most: the value of ``--elide``, or None: then constants are elided on a terminal.
            full: whether ``--full`` is given, to elide nothing.
        """
        elide = self._elision(most, full)
        return diff if elide is None or diff.is_empty else diff.elided(elide)

    def _elision(self, most: int | None, full: bool) -> int | None:
        if most is None and not full and self._screen.width is not None:
            return self._screen.settings.limit("elide")
        return most

    # --- the text that is shown ---

    @property
    def colored(self) -> bool:
        return self._screen.colored

    @property
    def columns(self) -> int:
        """The columns for lines around a place, which outside of a terminal are not cut."""
        columns = self._columns or self._screen.width
        return _UNLIMITED if columns is None else columns

    def shown(self, text: str, room: int | None = None, cut: Cut = cut_between_words) -> str:
        """Return lines of IR as they are shown, in colour if the output is coloured."""
        return self.paint(self.fit(text, room, cut))

    def fit(self, text: str, room: int | None = None, cut: Cut = cut_between_words) -> str:
        """Return lines of IR as they are shown, but without colour.

        Args:
            text: whole lines; a single one if there is a limit.
            room: the columns for it; None for no limit.
            cut: how to cut a line that is too long.
        """
        return text if room is None else cut(text, room)

    def paint(self, text: str) -> str:
        """Return a part of a shown line in colour, if the output is coloured."""
        if not self._screen.colored:
            return text
        from actiondbg.ir.lexer import colorize

        return colorize(text, self._screen.settings["style"])
