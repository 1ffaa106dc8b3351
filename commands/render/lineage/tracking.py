"""The text of what operations became, and of what they came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.lineage.answer import (
    AnsweredLoss,
    AnsweredOperation,
    AnsweredStep,
    AnsweredTrace,
    TrackAnswer,
)
from actiondbg.lineage.stage import stage_title
from actiondbg.support.counts import counted, shortened

_VERBS = {"forward": "became", "back": "came from", "related": "shares its source with"}
_WHY = {
    "unlocated": "it has no source location",
    "unmatched": "no source location there overlaps its own",
    "shared": "more operations share its source location than it can tell apart",
    "folded": "was folded",
    "dead": "was erased when nothing used it any more",
    "consumed": "was erased as unused, after its last user was rewritten",
    "erased": "was erased",
    "ambiguous": "was inserted, and more operations share its location than it can tell apart",
    "inexact": "dumps show nothing but locations and texts",
    "unread": "is in a part of the input that is read later: name a later run, as in cse#2",
    "finished": "is in a part of the input that ended before: name an earlier run, as in cse#1",
    "untraced": "is not there, and no action is known that erased it",
    "inserted": "was inserted, and its origin is not known",
}
_OF_DUMPS = ("unlocated", "unmatched", "shared", "inexact")
_EVENTS = 3  # changes of one operation that are listed
_DIM, _OFF = "\x1b[2m", "\x1b[0m"
_MOST = 100  # columns of a line of IR where no terminal limits it


class PictureWritten(msgspec.Struct):
    """The files of a picture of a lineage.

    Attributes:
        note: a sentence if operations are summarised; else empty.
    """

    files: list[str]
    boxes: int
    note: str


def answer_text(context: RenderContext, found: TrackAnswer) -> str:
    return "\n".join(answer_lines(found, context.width, colored=context.colored))


def answer_lines(found: TrackAnswer, width: int | None = None, *, colored: bool) -> Iterator[str]:
    """Yield the operations in lines, then those that they became or came from."""
    for one in found.of:
        yield _operation_line(one, found.recorded, width)
    verb, count = _VERBS[found.direction], len(found.operations)
    if not count:
        yield f"  {verb} nothing in {stage_title(found.stage)}{_why(found.losses)}"
        return
    noun = counted(count, "operation")
    by = _on_trust(found.operations) if found.recorded else f", by {_evidence(found.operations)}"
    yield f"  {verb} {noun} of {stage_title(found.stage)}{by}:"
    for trace in found.operations:
        yield f"  {_operation_line(trace.operation, found.recorded, width)}"
        for line in _ways(trace) if found.recorded else ():
            text = f"    {shortened(line, width and width - 4)}"
            yield f"{_DIM}{text}{_OFF}" if colored else text


def _operation_line(one: AnsweredOperation, has_id: bool, width: int | None) -> str:
    id = f"@{one.node} " if has_id else ""
    is_moment = one.stage.startswith("after ")
    head = f"{id}line {one.line} {one.stage}: " if is_moment else f"{id}{one.stage}:{one.line}: "
    return head + shortened(one.text, _MOST if width is None else width - len(head) - 2)


def _evidence(traces: Sequence[AnsweredTrace]) -> str:
    return ", ".join(dict.fromkeys(step.evidence for one in traces for step in one.steps))


def _on_trust(traces: Sequence[AnsweredTrace]) -> str:
    """Return how many operations were reached only by what the compiler did not show."""
    guessed = [trace for trace in traces if not trace.exact]
    if not guessed:
        return ""
    steps = [step for trace in guessed for step in trace.steps]
    kinds = sorted(
        {
            "text" if step.evidence == "text" else "location"
            for step in steps
            if step.evidence in ("text", "location", "rewritten")
        }
    )
    count = "all" if len(guessed) == len(traces) else f"{len(guessed):,} of them"
    return f", {count} by {' and '.join(kinds)}"


def _ways(trace: AnsweredTrace) -> list[str]:
    lines: list[str] = []
    for _, found in groupby(trace.steps, lambda step: (step.source == step.target, step.target)):
        steps = list(found)
        shown = steps[:_EVENTS] if steps[0].source == steps[0].target else steps
        lines += [_way(step) for step in shown]
        if len(shown) < len(steps):
            lines.append(
                f"@{steps[0].target} changed by {counted(len(steps) - len(shown), 'more action')}"
            )
    return lines or ["the same operation"]


def _way(step: AnsweredStep) -> str:
    if step.evidence == "location":
        return f"@{step.target} has a location of @{step.source}"
    if step.evidence == "text":
        return f"@{step.target} has a text of @{step.source}"
    if step.evidence == "same":
        return f"@{step.source} printed, @{step.target} parsed"
    how = f"@{step.target} {step.evidence}"
    if step.evidence in ("merged", "symbol"):
        how = f"@{step.source} {step.evidence} into @{step.target}"
    return how if step.ordinal is None else f"{how} by #{step.ordinal} {step.action}"


def _why(losses: Sequence[AnsweredLoss]) -> str:
    """Return why nothing was reached, by the losses: of recorded operations, each in a line."""
    known = [loss for loss in losses if loss.why not in _OF_DUMPS]
    if not known:
        return f": {_WHY[losses[0].why]}." if losses else "."
    lines = ["."]
    for loss in known:
        by = f" by #{loss.ordinal} {loss.action}" if loss.ordinal is not None else ""
        lines.append(f"  @{loss.node} {loss.name} {_WHY[loss.why]}{by}.")
    return "\n".join(lines)


def picture_text(_: RenderContext, written: PictureWritten) -> str:
    boxes = counted(written.boxes, "box")
    note = f" {written.note}" if written.note else ""
    return f"Wrote {', '.join(written.files)}: {boxes}.{note}"


RENDERERS = (renders(TrackAnswer, answer_text), renders(PictureWritten, picture_text))
