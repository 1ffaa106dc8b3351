"""The text of what operations became, and of what they came from."""

from __future__ import annotations

import msgspec

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.lineage.answer import (
    AnsweredLoss,
    AnsweredOperation,
    AnsweredTrace,
    TrackAnswer,
)

_VERBS = {"forward": "became", "back": "came from", "related": "shares an origin with"}
_DIM, _BOLD, _OFF = "\x1b[2m", "\x1b[1m", "\x1b[0m"
_INDENT = "    "


class PictureWritten(msgspec.Struct):
    """The files of a picture of a lineage.

    Attributes:
        files: their paths.
        boxes: the number of boxes that are drawn.
        note: a sentence if operations are summarised; else empty.
    """

    files: list[str]
    boxes: int
    note: str


def answer_text(context: RenderContext, found: TrackAnswer) -> str:
    """Return the text of ``track``, ``track-back`` and ``related``."""
    lines = answer_lines(found, context.width, colored=context.colored)
    return "\n".join(lines)


def answer_lines(found: TrackAnswer, width: int | None, *, colored: bool) -> list[str]:
    """Return what tracking found in lines.

    Args:
        found: the answer.
        width: the columns to which lines of IR are cut; None for whole lines.
        colored: whether escape sequences set colours.
    """
    count = len(found.traces)
    what = f"{count:,} operation{'' if count == 1 else 's'} of the IR {found.stage}"
    if not count:
        what = f"nothing in the IR {found.stage}"
    lines = [f"{_subject(found.of)} {_VERBS[found.direction]} {what}{':' if count else '.'}"]
    for trace in found.traces:
        lines += _trace_lines(trace, width, colored)
    if not count:
        lines += [f"  {_loss(loss)}" for loss in found.losses]
    return lines


def _subject(of: list[AnsweredOperation]) -> str:
    if len(of) == 1:
        one = of[0]
        place = "" if one.location == "unknown" else f" at {_place(one.location)}"
        return f"@{one.id} {one.name}{place}"
    return f"{len(of):,} operations"


def _place(location: str) -> str:
    return location.replace('"', "")


def _trace_lines(trace: AnsweredTrace, width: int | None, colored: bool) -> list[str]:
    operation = trace.operation
    function = f" of @{operation.function}" if operation.function else ""
    head = f"  @{operation.id} line {operation.line}{function}"
    bold, dim, off = (_BOLD, _DIM, _OFF) if colored else ("", "", "")
    text = operation.text
    if width is not None and len(text) > width - len(_INDENT):
        text = text[: width - len(_INDENT) - 3] + "..."
    lines = [f"{bold}{head}{off}", f"{_INDENT}{text}"]
    lines += [f"{_INDENT}{dim}{one}{off}" for one in _ways(trace, width)]
    return lines


def _ways(trace: AnsweredTrace, width: int | None) -> list[str]:
    if not trace.steps:
        return ["the same operation"]
    lines: list[str] = []
    for step in trace.steps:
        how = f"@{step.target} {step.evidence}"
        if step.evidence in ("merged", "symbol"):
            how = f"@{step.source} {step.evidence} into @{step.target}"
        if step.evidence == "location":
            how = f"@{step.target} has a location of @{step.source}"
        elif step.ordinal is not None:
            how += f" by #{step.ordinal} {step.action}"
        if width is not None and len(how) > width - len(_INDENT):
            how = how[: width - len(_INDENT) - 3] + "..."
        lines.append(how)
    return lines


def _loss(loss: AnsweredLoss) -> str:
    ways = {
        "folded": "was folded",
        "merged": "was merged",
        "dead": "was erased as dead",
        "erased": "was erased",
        "inserted": "was made from no other operation",
    }
    by = f" by #{loss.ordinal} {loss.action}" if loss.ordinal is not None else ""
    return f"@{loss.id} {loss.name} {ways[loss.why]}{by}."


def picture_text(_: RenderContext, written: PictureWritten) -> str:
    """Return the text of ``lineage``."""
    boxes = f"{written.boxes:,} box{'' if written.boxes == 1 else 'es'}"
    note = f" {written.note}" if written.note else ""
    return f"Wrote {', '.join(written.files)}: {boxes}.{note}"


RENDERERS = [
    renders(TrackAnswer, answer_text),
    renders(PictureWritten, picture_text),
]
