"""The text and JSON of results: the renderer of each type, and its context."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TextIO, TypeVar, cast

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


class _Renderer(NamedTuple):
    show: Callable[[RenderContext, object], None]
    json: Callable[[object, Redirect | None], object]


# By the type of the result. A module that declares a result, or makes one, declares its renderer or
# imports the module that does.
_RENDERERS: dict[type[object], _Renderer] = {}


def kinds() -> list[type[object]]:
    """Return the types of results that have a renderer."""
    return list(_RENDERERS)


def show(context: RenderContext, result: object) -> None:
    """Write a result as text; nothing for None."""
    if result is not None:
        _renderer(result).show(context, result)


def as_json(result: object, redirect: Redirect | None) -> object:
    """Return a result for JSON; redirected IR is not repeated."""
    return None if result is None else _renderer(result).json(result, redirect)


def _renderer(result: object) -> _Renderer:
    """Return the renderer of the most derived declared class of a result."""
    for kind in type(result).__mro__:
        if kind in _RENDERERS:
            return _RENDERERS[kind]
    raise TypeError(f"no renderer is declared for {type(result).__name__}")


def renders_by(
    kind: type[object],
    show: Callable[[RenderContext, object], None],
    json: Callable[[object, Redirect | None], object],
) -> None:
    """Declare how results of a type and of its subclasses are shown.

    Args:
        show: writes a result as text.
        json: returns a result for JSON, given the redirection of its text.
    """
    _RENDERERS[kind] = _Renderer(show, json)


def renders(
    kind: type[ResultT],
    text: Callable[[RenderContext, ResultT], str],
    json: Callable[[ResultT], object] = msgspec.to_builtins,
    *,
    fits: bool = False,
) -> None:
    """Declare how results of a type and of its subclasses are shown, by their complete text.

    Args:
        json: returns an object that msgspec can encode; by default the fields of a struct.
        fits: whether the lines may not be broken to fit a terminal, as those of IR, or fit already.
    """

    def show(context: RenderContext, result: object) -> None:
        width = None if fits else context.width
        write_paged(context, fitted(text(context, cast("ResultT", result)), width))

    renders_by(kind, show, lambda result, _: json(cast("ResultT", result)))


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
