"""Renderers of results, and their context."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO, TypeVar, cast

import msgspec

from actiondbg.commands.render.ir_text.ir_view import IRView, Screen
from actiondbg.commands.render.tables import fitted
from actiondbg.commands.render.terminal.output import Redirect, fills_screen, paged

if TYPE_CHECKING:
    from actiondbg.process.stop import Stop

ResultT = TypeVar("ResultT")


class StopLines(Protocol):
    """The lines of IR at a stop, or after a move; see ``StopContext`` in ``render.ir``."""

    def text(self, stop: Stop) -> list[str]: ...
    def around_cursor(self) -> list[str] | None: ...
    def new_hint(self, hint: str) -> list[str]: ...


class RenderContext(Screen, Protocol):
    """The output, settings and session for rendering a result; see ``interpreter.console.Console``.

    IR is shown by ``ir_view`` only.
    """

    @property
    def out(self) -> TextIO: ...
    @property
    def ir_view(self) -> IRView: ...
    @property
    def stop_context(self) -> StopLines: ...
    @property
    def pages(self) -> bool: ...


class Renderer(msgspec.Struct, frozen=True):
    """The renderer of a type of results and its subclasses.

    Attributes:
        show: writes a result as text.
        json: returns a result for JSON, given the redirection of its text.
    """

    kind: type[object]
    show: Callable[[RenderContext, object], None]
    json: Callable[[object, Redirect | None], object]


def renders(
    kind: type[ResultT],
    text: Callable[[RenderContext, ResultT], str],
    json: Callable[[ResultT], object] = msgspec.to_builtins,
    *,
    fits: bool = False,
) -> Renderer:
    """Return a renderer from a function that returns the complete text.

    Args:
        json: returns an object that msgspec can encode; by default the fields of a struct.
        fits: whether the lines may not be broken to fit a terminal, as those of IR, or fit already.
    """

    def show(context: RenderContext, result: object) -> None:
        width = None if fits else context.width
        write_paged(context, fitted(text(context, cast("ResultT", result)), width))

    return Renderer(kind, show, lambda result, _: json(cast("ResultT", result)))


def write_paged(context: RenderContext, text: str) -> None:
    """Write text; page it if it does not fit the terminal."""
    if not text:
        return
    text = text if text.endswith("\n") else text + "\n"
    if context.pages and fills_screen(text):
        page(context, lambda out: out.write(text))
    else:
        context.out.write(text)


def page(
    context: RenderContext, write: Callable[[TextIO], object], line: int | None = None
) -> None:
    """Write to the pager, which opens at a line if it can."""
    context.out.flush()
    with paged(context.out, line) as pager:
        write(pager)
