"""How a type of result is shown to people and given as JSON."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO, TypeVar, cast

import msgspec

from actiondbg.commands.render.output import Redirect, paged

if TYPE_CHECKING:
    from actiondbg.session.debug_session import DebugSession

ResultT = TypeVar("ResultT")


class Preferences(Protocol):
    """The settings of the shell."""

    def __getitem__(self, name: str) -> str:
        """Return a setting."""
        ...

    def on(self, name: str) -> bool:
        """Return whether a setting is anything but off."""
        ...


class RenderContext(Protocol):
    """Where a result is shown, and the session that it comes from."""

    @property
    def out(self) -> TextIO:
        """Return where the text goes."""
        ...

    @property
    def session(self) -> DebugSession:
        """Return the session, which a stop's text asks for its breakpoints and its cursor."""
        ...

    @property
    def settings(self) -> Preferences:
        """Return the settings of the shell."""
        ...

    @property
    def colored(self) -> bool:
        """Return whether the text is coloured."""
        ...

    @property
    def pages(self) -> bool:
        """Return whether long text goes through the pager."""
        ...

    @property
    def redirected(self) -> bool:
        """Return whether the text goes into a file or a command of the user's."""
        ...

    def paint(self, ir: str) -> str:
        """Colour IR, if the text is coloured."""
        ...


class Renderer(msgspec.Struct, frozen=True):
    """Shows the results of one type, and those derived from it.

    Attributes:
        kind: the type.
        show: writes a result for people.
        json: returns a result as JSON has it; the redirection is the one that its text took.
    """

    kind: type[object]
    show: Callable[[RenderContext, object], None]
    json: Callable[[object, Redirect | None], object]


def renders(
    kind: type[ResultT],
    text: Callable[[RenderContext, ResultT], str],
    json: Callable[[ResultT], object] = msgspec.to_builtins,
) -> Renderer:
    """Return the renderer of results whose text is short enough to be made as a whole.

    Args:
        kind: the type of the results.
        text: returns the lines for people.
        json: returns what msgspec can encode; by default the fields of a struct.
    """

    def show(context: RenderContext, result: object) -> None:
        write_paged(context, text(context, cast("ResultT", result)))

    return Renderer(kind, show, lambda result, _: json(cast("ResultT", result)))


def write_paged(context: RenderContext, text: str) -> None:
    """Write lines; through the pager where they do not fit the terminal."""
    if not text:
        return
    text = text if text.endswith("\n") else text + "\n"
    if context.pages and text.count("\n") >= shutil.get_terminal_size().lines:
        page(context, lambda out: out.write(text))
    else:
        context.out.write(text)


def page(context: RenderContext, write: Callable[[TextIO], object]) -> None:
    """Write through the pager."""
    context.out.flush()
    with paged(context.out) as pager:
        write(pager)
