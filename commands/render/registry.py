"""The registry of renderers: from the type of a result to its text and JSON."""

from __future__ import annotations

from actiondbg.commands.render import (
    actions,
    bisection,
    breakpoints,
    diff,
    edits,
    ir,
    lineage,
    native_debugger,
    outcomes,
    past,
    statistics,
    status,
    stop,
    time_travel,
    units,
    validation,
    whatif,
)
from actiondbg.commands.render.legalization import explanation_text as legalization
from actiondbg.commands.render.renderer import RenderContext, Renderer
from actiondbg.commands.render.terminal.output import Redirect

_TOPICS = (
    *(actions, bisection, breakpoints, diff, edits, ir, legalization, lineage, native_debugger),
    *(outcomes, past, statistics, status, stop, time_travel, units, validation, whatif),
)
_RENDERERS = {each.kind: each for topic in _TOPICS for each in topic.RENDERERS}


def kinds() -> list[type[object]]:
    return list(_RENDERERS)


def show(context: RenderContext, result: object) -> None:
    """Write a result as text; nothing for None."""
    if result is not None:
        _renderer(result).show(context, result)


def as_json(result: object, redirect: Redirect | None) -> object:
    """Return a result for JSON; redirected IR is not repeated."""
    return None if result is None else _renderer(result).json(result, redirect)


def _renderer(result: object) -> Renderer:
    """Return the renderer of the most derived registered class of a result."""
    for kind in type(result).__mro__:
        if kind in _RENDERERS:
            return _RENDERERS[kind]
    raise TypeError(f"no renderer is registered for {type(result).__name__}")
