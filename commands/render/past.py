"""Past attempts of patterns, the history of an operation, and cycles of actions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from actiondbg.analysis.history import History
from actiondbg.commands.render.diff import diff_object, unified_lines
from actiondbg.commands.render.outcomes import outcome_lines, result_words
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import fitted, wrapped
from actiondbg.commands.render.units import operation, place_words
from actiondbg.protocol import RESULTS, ref_fields
from actiondbg.support.counts import counted, plural, times

if TYPE_CHECKING:
    from actiondbg.analysis.attempts import Attempt, AttemptedPlace, Group, PatternAttempts
    from actiondbg.analysis.contrast import Contrast
    from actiondbg.analysis.cycles import Applied, Cycle
    from actiondbg.analysis.history import Event
    from actiondbg.session.past.failure_return import FailureReturn

_PLACES = 5  # of attempts elsewhere that are listed


class AttemptsShown(msgspec.Struct):
    """Past attempts of a pattern: each in a line, or grouped.

    Attributes:
        each: whether each is listed.
        inside: whether the stop is inside an action, which may be an attempt that has not ended.
        contrast: of a failure without a reason; None if there is none.
        returned: the place in the code where it returned; None if it was not asked for.
        where: the place that was asked for; empty for none.
        elsewhere: without attempts there, where the others were, the nearest first.
        has_next: whether ``why-not --next`` can continue to an attempt there.
    """

    attempts: PatternAttempts
    each: bool
    inside: bool = False
    contrast: Contrast | None = None
    returned: FailureReturn | None = None
    where: str = ""
    elsewhere: list[AttemptedPlace] = msgspec.field(default_factory=list["AttemptedPlace"])
    has_next: bool = False


# --- attempts --------------------------------------------------------------------


def attempts_text(_: RenderContext, shown: AttemptsShown) -> str:
    found = shown.attempts
    if not found.attempts:
        return "\n".join(_none_lines(shown))
    counts = Counter[str]()
    for group in found.grouped():
        counts[group.result] += group.count
    words = {"unchanged": "succeeded but changed nothing"}
    parts = [f"{counts[each]:,} {words.get(each, each)}" for each in RESULTS if counts[each]]
    head = f"{counted(len(found.attempts), 'attempt')} of {found.name}: {', '.join(parts)}"
    if shown.each:
        each = (_attempt_line(one) for one in found.attempts)
        return "\n".join([head, *each, *_return_lines(shown.returned)])
    lines = [head, *_group_lines(found.grouped())]
    if shown.contrast is not None:
        lines += _contrast_lines(shown.contrast)
    return "\n".join([*lines, *_return_lines(shown.returned)])


def _none_lines(shown: AttemptsShown) -> list[str]:
    """Return the text for a place, or a run, without attempts."""
    name = shown.attempts.name
    is_unit = shown.where.startswith(("@", "%")) or shown.where == "cursor"
    of = "the operation of the cursor" if shown.where == "cursor" else shown.where
    at = f" {'on' if is_unit else 'at'} {of}" if of else ""
    if not shown.elsewhere:
        if shown.inside:
            return [f"No attempt of {name} has ended so far."]
        return [f"There was no attempt of {name}{at}."]
    count = sum(place.count for place in shown.elsewhere)
    were = f"There {'was' if count == 1 else 'were'} {counted(count, 'attempt')} elsewhere:"
    lines = [f"There was no attempt of {name}{at} up to here. {were}"]
    first = shown.elsewhere[:_PLACES]
    digits = max(len(f"{place.count:,}") for place in first)
    lines += [f"  {place.count:>{digits},} x  {_unit_place(place.first)}" for place in first]
    if len(shown.elsewhere) > _PLACES:
        lines.append(f"  and {counted(len(shown.elsewhere) - _PLACES, 'more place')}")
    if shown.has_next:
        lines.append("'why-not --next' continues to the next attempt there.")
    return lines


def _unit_place(attempt: Attempt) -> str:
    location = place_words(attempt.location)
    function = f" in @{attempt.function}" if attempt.function else ""
    return f"{attempt.op or 'no operation'}{location}{function}"


def _place(attempt: Attempt) -> str:
    location = place_words(attempt.location)
    return f"#{attempt.ordinal} {operation(attempt.id, attempt.op)}{location}"


def _attempt_line(attempt: Attempt) -> str:
    function = f" in @{attempt.function.removeprefix('@')}" if attempt.function else ""
    reasons = "; ".join(outcome_lines(attempt.outcome, ""))
    result = result_words(attempt.outcome, attempt.change_count)
    return f"  {_place(attempt)}{function}: {result}{f': {reasons}' if reasons else ''}"


def _group_lines(groups: Iterable[Group]) -> list[str]:
    rows = [
        (f"{each.count:,} x", _group_words(each), f"first {_place(each.first)}") for each in groups
    ]
    counts = max((len(count) for count, _, _ in rows), default=0)
    words = max((len(word) for _, word, _ in rows), default=0)
    return [f"  {count:>{counts}}  {word:<{words}}  {place}" for count, word, place in rows]


def _group_words(group: Group) -> str:
    result = "succeeded, but changed nothing" if group.result == "unchanged" else group.result
    if group.result == "failed" and not group.reason:
        if group.first.outcome.unheard:
            return "failed; the agent cannot hear why"
        return "failed, and the pattern gave no reason"
    return f'{result}: "{group.reason}"' if group.reason else result


# --- a failure compared with successes -----------------------------------------------


def _contrast_lines(contrast: Contrast) -> list[str]:
    failures = f"{counted(contrast.failures, 'failure')} without a reason"
    if contrast.nearest is None:
        return [
            f"There is nothing to compare {failures} with: no attempt of {contrast.name} has "
            "succeeded up to here. Name another run with --against."
        ]
    lines = [
        f"{_place(contrast.failure)}, compared with "
        f"{counted(contrast.successes, 'success')} and {failures}:"
    ]
    for finding in contrast.findings:
        here = "" if finding.here is None else f"; here: {finding.here}"
        lines.append(
            f"  {finding.statement}: in {_share(finding.successes, contrast.successes)} "
            f"{plural('success', contrast.successes)} and "
            f"{_share(finding.failures, contrast.failures)} "
            f"{plural('failure', contrast.failures)}{here}"
        )
        lines += [f"    or {each}" for each in finding.equivalent]
        if finding.more:
            lines.append(f"    or {finding.more:,} more that hold in the same attempts")
    run = f" in {contrast.run}" if contrast.run else ""
    lines.append(f"The nearest success is {_place(contrast.nearest)}{run}; there")
    for difference in contrast.differences:
        here = "" if difference.here is None else f" (here: {difference.here})"
        lines.append(f"  {difference.statement}{here}")
    return lines


def _return_lines(found: FailureReturn | None) -> list[str]:
    if found is None:
        return []
    head = f"{_place(found.attempt)} returned from {found.function}"
    if found.line is not None:
        place = f"{found.line.file}:{found.line.line}"
        text = [] if found.line.text is None else [f"  {found.line.text}"]
        return [f"{head}; its last condition is at {place}", *text]
    after = f", after a call of {found.call}" if found.call else ""
    where = f"; its last branch is at {found.branches[0]}" if found.branches else ""
    return [f"{head}{where}{after}"]


def _share(part: int, whole: int) -> str:
    return f"all {whole:,}" if part == whole > 1 else f"{part:,} of {whole:,}"


# --- the history of an operation ----------------------------------------------------


def history_text(context: RenderContext, history: History) -> str:
    # The first line names the operation.
    rows = [
        (
            f"#{each.ordinal}",
            re.sub(rf"^@{each.id} \S+ (was )?", "", each.message or each.kind),
            _who(each),
        )
        for each in history.events
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    lines = [operation(history.id, history.op)]
    for ordinal, what, who in rows:
        head = f"  {ordinal:<{widths[0]}}  {what:<{widths[1]}}  "
        width = None if context.width is None else context.width - len(head)
        for row in [who] if width is None else wrapped(who, width):
            lines.append(f"{head}{row}".rstrip())
            head = " " * len(head)
    if history.made_from:
        lines.append(f"  It replaced {_ids(history.made_from)}.")
    if history.became:
        lines.append(f"  It became {_ids(history.became)}.")
    return "\n".join(lines)


def _who(event: Event) -> str:
    who = f"by {event.tag} ({event.name or 'nameless'})" if event.ordinal else f"by {event.name}"
    who += f" in {event.pass_name}" if event.pass_name else ""
    return who + (" (a guess)" if event.guess else "")


def _ids(ids: Iterable[int]) -> str:
    return ", ".join(f"@{id}" for id in ids)


def _attempts_object(shown: AttemptsShown) -> object:
    attempts = shown.attempts.attempts
    return {
        "name": shown.attempts.name,
        "attempts": [
            {
                **ref_fields(each),
                "id": each.id,
                "outcome": msgspec.to_builtins(each.outcome),
                "changes": each.change_count,
            }
            for each in attempts
        ],
        "elsewhere": [
            {"op": each.first.op, "location": each.first.location, "count": each.count}
            for each in shown.elsewhere
        ],
        "contrast": None
        if shown.contrast is None
        else {
            **msgspec.to_builtins(shown.contrast),
            "failure": shown.contrast.failure.ordinal,
            "nearest": None if shown.contrast.nearest is None else shown.contrast.nearest.ordinal,
        },
        "return": None
        if shown.returned is None
        else {
            **msgspec.to_builtins(shown.returned),
            "attempt": shown.returned.attempt.ordinal,
        },
        "groups": [
            {
                "result": each.result,
                "reason": each.reason,
                "count": each.count,
                "first": each.first.ordinal,
            }
            for each in shown.attempts.grouped()
        ],
    }


# --- cycles ----------------------------------------------------------------------


class CycleShown(msgspec.Struct):
    cycle: Cycle | None


def cycle_text(context: RenderContext, shown: CycleShown) -> str:
    cycle = shown.cycle
    if cycle is None:
        return "No cycle was found: the latest actions do not repeat."
    length = counted(len(cycle.round), "action")
    repeats = f"{'more than ' if cycle.more else ''}{times(cycle.times)}"
    lines = [f"A cycle of {length} was repeated {repeats} so far; one round:"]
    lines += [f"  {_applied_words(each)}" for each in cycle.round]
    lines = fitted("\n".join(lines), context.width).split("\n")
    for each in cycle.diffs:
        if not each.is_empty:
            lines += ["", *unified_lines(context.ir_view, each, 3)]
    return "\n".join(lines)


def _applied_words(applied: Applied) -> str:
    place = place_words(applied.location)
    name = f"{applied.tag} ({applied.name or 'nameless'})"
    return f"#{applied.ordinal} {name} on {operation(applied.id, applied.op)}{place}"


def _cycle_object(shown: CycleShown) -> object:
    if shown.cycle is None:
        return None
    return {
        "times": shown.cycle.times,
        "more": shown.cycle.more,
        "round": msgspec.to_builtins(shown.cycle.round),
        "diffs": [diff_object(each, 3) for each in shown.cycle.diffs],
    }


renders(AttemptsShown, attempts_text, _attempts_object)
renders(History, history_text)
renders(CycleShown, cycle_text, _cycle_object, fits=True)
