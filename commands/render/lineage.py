"""Answers about lineages as text and JSON: what operations became, and what they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.lineage.stage import stage_title
from actiondbg.lineage.track_answer import (
    AnsweredLoss,
    AnsweredOperation,
    AnsweredStep,
    AnsweredTrace,
    TrackAnswer,
)
from actiondbg.support.counts import counted, shortened

if TYPE_CHECKING:
    from actiondbg.lineage.lineage import Lineage, LineageStep, Node
    from actiondbg.lineage.questions.groups import Fate, Groups
    from actiondbg.lineage.questions.kinds import KindRow
    from actiondbg.lineage.questions.location_loss import LossRow
    from actiondbg.lineage.questions.matrix import Matrix, Orphan
    from actiondbg.lineage.questions.parting import Parting
    from actiondbg.lineage.stage import Operation

Fit = Callable[[str, int], str]

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
    fit = partial(context.ir_view.fit, cut=shortened)
    return "\n".join(answer_lines(found, context.width, colored=context.colored, fit=fit))


def answer_lines(
    found: TrackAnswer, width: int | None = None, *, colored: bool, fit: Fit = shortened
) -> Iterator[str]:
    """Yield the operations in lines, then those that they became or came from.

    Args:
        fit: cuts the text of an operation to a room.
    """
    for one in found.of:
        yield _operation_line(one, found.recorded, width, fit)
    verb, count = _VERBS[found.direction], len(found.operations)
    if not count:
        yield f"  {verb} nothing in {stage_title(found.stage)}{_why(found.losses)}"
        return
    noun = counted(count, "operation")
    by = _on_trust(found.operations) if found.recorded else f", by {_evidence(found.operations)}"
    yield f"  {verb} {noun} of {stage_title(found.stage)}{by}:"
    for trace in found.operations:
        yield f"  {_operation_line(trace.operation, found.recorded, width, fit)}"
        for line in _ways(trace) if found.recorded else ():
            text = f"    {shortened(line, width and width - 4)}"
            yield f"{_DIM}{text}{_OFF}" if colored else text


def _operation_line(one: AnsweredOperation, has_id: bool, width: int | None, fit: Fit) -> str:
    id = f"@{one.node} " if has_id else ""
    is_moment = one.stage.startswith("after ")
    head = f"{id}line {one.line} {one.stage}: " if is_moment else f"{id}{one.stage}:{one.line}: "
    return head + fit(one.text, _MOST if width is None else width - len(head) - 2)


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


renders(TrackAnswer, answer_text)
renders(PictureWritten, picture_text)


MOST = 10  # operations, kinds or reasons that are listed

Object = dict[str, object]


class LineageNames:
    """How operations and actions of a lineage are shown."""

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._has_ids = lineage.is_recorded

    def operation(self, operation: Operation) -> str:
        """Return how an operation of a stage is listed."""
        line = f"line {operation.line}"
        first = f"@{operation.node}" if self._has_ids else line
        result = f" {operation.result}" if operation.result else ""
        symbol = f" @{operation.symbol}" if operation.symbol else ""
        place = location_words(operation.location.text) or (line if self._has_ids else "")
        return f"{first} {operation.name}{result}{symbol}{f' at {place}' if place else ''}"

    def step(self, step: LineageStep) -> str:
        """Return what a step did to its source."""
        target = self._lineage.node(step.target)
        shown = f"@{step.target} {target.name}" if self._has_ids else target.name
        if step.source == step.target:
            return f"{step.evidence}{self._by(step.ordinal)}"
        return f"{step.evidence}: {shown}{self._by(step.ordinal)}"

    def node(self, node: Node) -> str:
        """Return an operation at any time, with its location."""
        shown = f"@{node.number} {node.name}" if self._has_ids else node.name
        return f"{shown} loc({node.location or 'unknown'})"

    def _by(self, ordinal: int | None) -> str:
        return f" (#{ordinal} {self._lineage.action(ordinal)})" if ordinal is not None else ""


def location_words(location: str) -> str:
    """Return a location as FILE:LINE:COL; an empty text for an unknown one."""
    if location in ("", "unknown"):
        return ""
    return location.replace('"', "")


# --- groups -------------------------------------------------------------------------


def groups_lines(groups: Groups, names: LineageNames, every: bool) -> Iterator[str]:
    """Yield the operations that became a kind, and that did not; every one, or the first."""
    total = len(groups.became) + len(groups.others)
    yield (
        f"{total:,} {groups.kind}: {len(groups.became):,} became {groups.wanted}, "
        f"{len(groups.others):,} did not."
    )
    if groups.became:
        yield ""
        yield f"Became {groups.wanted} ({len(groups.became):,}):"
        yield from _operations(groups.became, names, every)
    for fate in groups.fates:
        yield ""
        yield f"{_fate_title(fate)} ({len(fate.operations):,}):"
        yield from _operations(fate.operations, names, every)
        if groups.became:
            yield from _parting_lines(fate, groups, names)


def _fate_title(fate: Fate) -> str:
    from actiondbg.lineage.questions.reasons import reason_text

    if fate.kinds:
        more = f" and {len(fate.kinds) - MOST} more" if len(fate.kinds) > MOST else ""
        return f"Became {', '.join(fate.kinds[:MOST])}{more} instead"
    return f"Became nothing: {reason_text(fate.why)}"


def _operations(operations: Sequence[Operation], names: LineageNames, every: bool) -> Iterator[str]:
    shown = operations if every else operations[:MOST]
    yield from (f"  {names.operation(operation)}" for operation in shown)
    if len(operations) > len(shown):
        yield f"  and {len(operations) - len(shown):,} more (--all lists them)"


def _parting_lines(fate: Fate, groups: Groups, names: LineageNames) -> Iterator[str]:
    parting = fate.parting
    if parting is None:
        yield "  Nothing on their ways differs from those that did."
        return
    yield f"  Their ways part {parting_place(parting)}:"
    yield (
        f"    it is on the way of {parting.count_a:,} of the {parting.size_a:,} that became "
        f"{groups.wanted}, and of {parting.count_b:,} of these {parting.size_b:,}"
    )
    for example in parting.examples[:1]:
        what = f": {names.step(example.step)}" if example.step is not None else ""
        yield f"    such as {names.operation(example.operation)}{what}"


def parting_place(parting: Parting) -> str:
    """Return where ways part, as the end of a sentence."""
    sign = parting.sign
    if parting.ordinal is None:
        where = sign.where if sign.where.startswith("after ") else f"in {sign.where}"
        return f"{where}, at {sign.kind}"
    made = f", which made {sign.kind}" if sign.kind else ""
    inside = ""
    if sign.where and parting.pass_ordinal != parting.ordinal:
        inside = f" in {sign.where} #{parting.pass_ordinal}"
    return f"at {sign.action} #{parting.ordinal}{inside}{made}"


def groups_object(groups: Groups) -> Object:
    return {
        "kind": groups.kind,
        "wanted": groups.wanted,
        "became": [operation_object(one) for one in groups.became],
        "others": [
            {
                "kinds": fate.kinds,
                "reason": fate.why or None,
                "operations": [operation_object(one) for one in fate.operations],
                "parting": None if fate.parting is None else _parting_object(fate.parting),
            }
            for fate in groups.fates
        ],
    }


def _parting_object(parting: Parting) -> Object:
    return {
        "pass": parting.sign.where or None,
        "passOrdinal": parting.pass_ordinal,
        "action": parting.sign.action or None,
        "ordinal": parting.ordinal,
        "kind": parting.sign.kind or None,
        "became": [parting.count_a, parting.size_a],
        "others": [parting.count_b, parting.size_b],
        "examples": [
            {
                "operation": operation_object(example.operation),
                "step": None if example.step is None else step_object(example.step),
            }
            for example in parting.examples
        ],
    }


def operation_object(operation: Operation) -> Object:
    return {
        "node": operation.node,
        "name": operation.name,
        "result": operation.result or None,
        "symbol": operation.symbol or None,
        "line": operation.line,
        "location": operation.location.text,
    }


def step_object(step: LineageStep) -> Object:
    return {
        "evidence": str(step.evidence),
        "source": step.source,
        "target": step.target,
        "ordinal": step.ordinal,
    }


# --- kinds --------------------------------------------------------------------------


def kinds_lines(rows: Sequence[KindRow], every: bool) -> Iterator[str]:
    """Yield a line for each kind; ``every``: all kinds that its operations became."""
    from actiondbg.lineage.questions.reasons import reason_text

    width = max((len(row.kind) for row in rows), default=0)
    digits = max((len(f"{row.count:,}") for row in rows), default=0)
    for row in rows:
        became = [f"{kind} {count:,}" for kind, count in row.became.items()]
        shown = became if every else became[:MOST]
        more = [f"and {len(became) - len(shown)} more"] if len(became) > len(shown) else []
        lost = [f"{reason_text(why)} {count:,}" for why, count in row.lost.items()]
        parts = "; ".join(", ".join(part) for part in ([*shown, *more], lost) if part)
        yield f"{row.kind:<{width}}  {row.count:>{digits},} -> {parts}"


def kinds_object(rows: Iterable[KindRow]) -> list[Object]:
    return [
        {
            "kind": row.kind,
            "count": row.count,
            "became": row.became,
            "lost": {why or "unexplained": count for why, count in row.lost.items()},
        }
        for row in rows
    ]


# --- the matrix ---------------------------------------------------------------------


def matrix_lines(
    matrix: Matrix, unexplained: Sequence[Orphan], names: LineageNames, every: bool
) -> Iterator[str]:
    """Yield a summary of a matrix, and the unexplained orphans."""
    source, target = matrix.source, matrix.target
    yield (
        f"Traced to {target.title}: {len(source) - len(matrix.lost):,} of "
        f"{counted(len(source), 'operation')} of {source.title}. "
        f"With an origin: {len(target) - len(matrix.unfounded):,} of "
        f"{counted(len(target), 'operation')} of {target.title}."
    )
    yield from _reasons("Without a trace", matrix.lost, every)
    yield from _reasons("Without an origin", matrix.unfounded, every)
    if not unexplained:
        yield "There is no unexplained orphan."
        return
    count = len(unexplained)
    yield f"{counted(count, 'unexplained orphan')}:"
    shown = unexplained if every else unexplained[:MOST]
    for orphan in shown:
        operation = orphan.operation
        yield f"  {operation.stage.name}: {names.operation(operation)}"
    if count > len(shown):
        yield f"  and {count - len(shown):,} more (--all lists them)"


def _reasons(title: str, orphans: Sequence[Orphan], every: bool) -> Iterator[str]:
    from actiondbg.lineage.questions.matrix import reason_counts
    from actiondbg.lineage.questions.reasons import reason_text

    counts = reason_counts(orphans).most_common()
    if not counts:
        return
    yield f"{title}: {len(orphans):,}"
    shown = counts if every else counts[:MOST]
    for (why, action), count in shown:
        yield f"  {count:,} {reason_text(why)}{f' by {action}' if action else ''}"
    if len(counts) > len(shown):
        yield f"  and {counted(len(counts) - len(shown), 'more reason')} (--all lists them)"


def matrix_object(matrix: Matrix, unexplained: Sequence[Orphan]) -> Object:
    return {
        "level": matrix.level,
        "input": len(matrix.source),
        "output": len(matrix.target),
        "units": len(matrix.units),
        "lost": _reason_objects(matrix.lost),
        "unfounded": _reason_objects(matrix.unfounded),
        "unexplained": [
            {"stage": one.operation.stage.name, **operation_object(one.operation)}
            for one in unexplained
        ],
    }


def _reason_objects(orphans: Sequence[Orphan]) -> list[Object]:
    from actiondbg.lineage.questions.matrix import reason_counts

    return [
        {"reason": why or None, "action": action or None, "count": count}
        for (why, action), count in reason_counts(orphans).most_common()
    ]


# --- lost locations -----------------------------------------------------------------


def losses_lines(rows: Sequence[LossRow], names: LineageNames, every: bool) -> Iterator[str]:
    """Yield the actions that made operations whose locations say less than their origins."""
    made = sum(row.made for row in rows)
    lossy = [row for row in rows if row.dropped or row.blurred]
    dropped, blurred = sum(row.dropped for row in rows), sum(row.blurred for row in rows)
    yield (
        f"Of {made:,} operations made or changed, {dropped:,} have an unknown location, and "
        f"{blurred:,} one that lacks a source range of an origin."
    )
    if not lossy:
        return
    yield ""
    yield f"{'made':>8}  {'dropped':>8}  {'blurred':>8}  by"
    for row in lossy if every else lossy[:MOST]:
        inside = f" in {row.where}" if row.where and row.where != row.action else ""
        action = row.action or "no known action"
        yield f"{row.made:>8,}  {row.dropped:>8,}  {row.blurred:>8,}  {action}{inside}"
        for loss in row.examples[: None if every else 1]:
            origins = ", ".join(map(names.node, loss.origins[:MOST]))
            when = "" if loss.ordinal is None else f"#{loss.ordinal}: "
            yield f"{'':>30}{when}{names.node(loss.node)} from {origins}"
    if len(lossy) > MOST and not every:
        yield f"and {len(lossy) - MOST:,} more (--all lists them)"


def losses_object(rows: Iterable[LossRow]) -> list[Object]:
    return [
        {
            "pass": row.where or None,
            "action": row.action or None,
            "made": row.made,
            "dropped": row.dropped,
            "blurred": row.blurred,
            "examples": [
                {
                    "kind": loss.kind,
                    "ordinal": loss.ordinal,
                    "operation": loss.node._asdict(),
                    "origins": [origin._asdict() for origin in loss.origins],
                }
                for loss in row.examples
            ],
        }
        for row in rows
    ]
