"""The text of breakpoints: one that was made, and those of ``info breakpoints``."""

from __future__ import annotations

import msgspec

from actiondbg.breakpoints.breakpoint import Breakpoint
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import wrapped
from actiondbg.support.counts import counted

# The fixed JSON interface, independent of further fields of the API.
_KEYS = (
    *("id", "kind", "spec", "condition", "enabled", "temporary", "after", "outcome", "ignore"),
    *("hits", "commands", "pending"),
)


class Breakpoints(msgspec.Struct):
    breakpoints: list[Breakpoint]


class Ignored(msgspec.Struct):
    """A breakpoint whose next hits will be ignored."""

    breakpoint: Breakpoint


def ignored_text(_: RenderContext, ignored: Ignored) -> str:
    """Return what gdb prints after ``ignore``."""
    id, count = ignored.breakpoint.id, ignored.breakpoint.ignore
    if not count:
        return f"Will stop next time breakpoint {id} is reached."
    crossings = "crossing" if count == 1 else counted(count, "crossing")
    return f"Will ignore next {crossings} of breakpoint {id}."


def breakpoint_text(context: RenderContext, breakpoint: Breakpoint) -> str:
    kind = breakpoint.kind.capitalize()
    if breakpoint.temporary:
        kind = f"Temporary {breakpoint.kind}"
    words = _words(breakpoint).removeprefix(f"{breakpoint.kind} ")
    pending = f", pending: {breakpoint.pending}" if breakpoint.pending else ""
    line = f"{kind} {breakpoint.id}: {words}{pending}"
    return line if context.width is None else "\n".join(wrapped(line, context.width))


def _words(breakpoint: Breakpoint) -> str:
    words = breakpoint.spec
    if breakpoint.condition:
        words += f" if {breakpoint.condition}"
    if breakpoint.outcome:
        return f"{words}, after the action if {breakpoint.outcome}"
    return words + (", after the action" if breakpoint.after else "")


def breakpoints_text(_: RenderContext, listed: Breakpoints) -> str:
    if not listed.breakpoints:
        return "There are no breakpoints."
    lines = ["id   enabled  hits    what"]
    for each in listed.breakpoints:
        temporary = ", once" if each.temporary else ""
        ignore = f", ignored {counted(each.ignore, 'more time')}" if each.ignore else ""
        enabled = "yes" if each.enabled else "no"
        pending = ", pending" if each.pending else ""
        what = f"{_words(each)}{temporary}{ignore}{pending}"
        lines.append(f"{each.id:<4} {enabled:<8} {each.hits:<7} {what}")
        lines += [f"{'':<22}{line}" for line in each.commands]
    return "\n".join(lines)


def _breakpoint_object(breakpoint: Breakpoint) -> object:
    return {key: getattr(breakpoint, key) for key in _KEYS}


RENDERERS = (
    renders(Breakpoint, breakpoint_text, _breakpoint_object),
    renders(Ignored, ignored_text, lambda ignored: _breakpoint_object(ignored.breakpoint)),
    renders(
        Breakpoints,
        breakpoints_text,
        lambda listed: {"breakpoints": [_breakpoint_object(each) for each in listed.breakpoints]},
    ),
)
