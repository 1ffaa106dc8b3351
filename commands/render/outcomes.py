"""The text of the outcome of an action, and of its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.units import operation, place_words
from actiondbg.protocol import Change, Changes, Outcome, ValueRef
from actiondbg.protocol.tags import PATTERN_TAG
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.process.stop import Stop


class OutcomeShown(msgspec.Struct):
    stop: Stop
    outcome: Outcome


class ChangesShown(msgspec.Struct):
    ordinal: int
    changes: Changes
    own: bool  # without those of nested actions


def result_words(outcome: Outcome, changes: int) -> str:
    """Return an outcome's result in a few words."""
    if outcome.result == "unchanged":
        return "succeeded, but changed nothing"
    if outcome.result == "failed" and changes:
        return "failed, with changes"  # which a conversion takes back
    return outcome.result


def outcome_lines(outcome: Outcome, tag: str) -> list[str]:
    """Return the reasons or the kind of a result, a line each."""
    label = "no match: " if tag == PATTERN_TAG and outcome.result == "failed" else ""
    lines = [f"{label}{reason}" for reason in outcome.reasons]
    if outcome.how in ("constants", "values", "constants and values"):
        values = f": {', '.join(outcome.values)}" if outcome.values else ""
        lines.append(f"folded to {outcome.how}{values}")
    elif outcome.how == "in-place":
        lines.append("folded in place")
    elif outcome.how:
        lines.append(outcome.how)
    return lines


def change_line(change: Change, ordinal: int) -> str:
    """Return a change as one line; ``ordinal`` is that of the printed action."""
    what = operation(change.id, change.op)
    if change.what == "block":
        what = f"a block of {what}"
    by = ", ".join(dict.fromkeys(map(_value_words, change.by or ())))
    guess = " (a guess)" if change.guess else ""
    elsewhere = f", in #{change.ordinal}" if change.ordinal != ordinal else ""
    return f"{change.kind:<9} {what}{f' by {by}' if by else ''}{guess}{elsewhere}"


def _value_words(value: ValueRef) -> str:
    if value.op == "block argument":
        holder = f" of @{value.id}" if value.id is not None else ""
        return f"block argument {value.result}{holder}"
    return operation(value.id, value.op)


def outcome_text(_: RenderContext, shown: OutcomeShown) -> str:
    stop, count = shown.stop, shown.stop.change_count
    head = f"#{stop.ordinal} {stop.tag} ({stop.name or 'nameless'})"
    lines = [f"{head}: {result_words(shown.outcome, count)}"]
    lines += [f"  {line}" for line in outcome_lines(shown.outcome, stop.tag)]
    changes = counted(count, "change")
    return "\n".join([*lines, f"  {changes}{': info changes' if count else ''}"])


def _outcome_object(shown: OutcomeShown) -> object:
    stop, outcome = shown.stop, shown.outcome
    return {
        "ordinal": stop.ordinal,
        "tag": stop.tag,
        "name": stop.name,
        "result": outcome.result,
        "reasons": outcome.reasons,
        "how": outcome.how,
        "values": outcome.values,
        "changes": stop.change_count,
    }


def changes_text(_: RenderContext, shown: ChangesShown) -> str:
    found: Changes = shown.changes
    if not found.total and not found.undated:
        return f"#{shown.ordinal} has changed nothing so far."
    counts = ", ".join(f"{count} {kind}" for kind, count in found.counts.items() if count)
    lines = [f"#{shown.ordinal} made {counted(found.total, 'change')}{counts and f': {counts}'}"]
    if found.forgotten:
        lines.append(
            f"  ... the first {counted(found.forgotten, 'change')} "
            f"{'is' if found.forgotten == 1 else 'are'} no longer available"
        )
    for change in found.changes:
        place = place_words(change.location, before="  ")
        lines.append(f"  {change_line(change, shown.ordinal)}{place}")
    rest = found.total - found.forgotten - len(found.changes)
    if rest > 0:
        own = " --own" if shown.own else ""
        lines.append(f"  ... and {rest} more: info changes{own} --count {found.total}")
    if found.undated:
        lines.append(
            f"  ... and {counted(found.undated, 'change')} before or after this stop: a recording "
            "does not hold the times of changes"
        )
    return "\n".join(lines)


renders(OutcomeShown, outcome_text, _outcome_object)
renders(
    ChangesShown,
    changes_text,
    lambda shown: {"ordinal": shown.ordinal, **msgspec.to_builtins(shown.changes)},
)
