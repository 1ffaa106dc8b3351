"""The text of what actions did: statistics, attempts, lives of operations, diffs, cycles."""

from __future__ import annotations

import re
import shlex
import shutil
from collections import Counter
from typing import TYPE_CHECKING

from actiondbg.commands.render import results
from actiondbg.commands.render.stop import outcome_lines, result_words
from actiondbg.commands.render.units import operation
from actiondbg.protocol import Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actiondbg.analysis.cycles import Applied
    from actiondbg.commands.interpreter.console import Front
    from actiondbg.ir.diff import Diff, Row
    from actiondbg.session.past import Attempt, Event, Group

_COLUMNS = ("attempts", "succeeded", "unchanged", "failed", "skipped", "changes")
_WIDTHS = tuple(max(len(column), 9) for column in _COLUMNS)
_TIME_WIDTH = 12
_WIDTH = 160  # columns of a side-by-side diff that goes into a file
_OFF = "\x1b[39m"
_COLORS = {"-": "\x1b[31m", "+": "\x1b[32m", "!": "\x1b[33m", "@": "\x1b[36m"}


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


# --- statistics ------------------------------------------------------------------


def statistics_text(_: Front, shown: results.StatisticsShown) -> str:
    if not shown.rows:
        named = f" named {shown.glob}" if shown.glob else ""
        return f"No {shown.kind}{named} is over so far."
    titles = (f"{title:>{width}}" for title, width in zip(_COLUMNS, _WIDTHS, strict=True))
    lines = [f"{' '.join(titles)} {'time':>{_TIME_WIDTH}}  name"]
    lines += [_statistic_line(row, row.name or "(nameless)") for row in shown.rows]
    noun = "name" if len(shown.rows) == 1 else "names"
    return "\n".join([*lines, _statistic_line(shown.total, f"in all, of {len(shown.rows)} {noun}")])


def _statistic_line(row: Statistic, name: str) -> str:
    cells = (
        f"{getattr(row, column):>{width}}" for column, width in zip(_COLUMNS, _WIDTHS, strict=True)
    )
    return f"{' '.join(cells)} {row.seconds * 1000:>{_TIME_WIDTH - 3}.3f} ms  {name}"


# --- attempts --------------------------------------------------------------------


def attempts_text(_: Front, shown: results.AttemptsShown) -> str:
    found = shown.attempts
    if not found.attempts:
        return f"There was no attempt of {found.name}."
    counts = Counter[str]()
    for group in found.grouped():
        counts[group.result] += group.count
    words = {
        "succeeded": "succeeded",
        "unchanged": "succeeded but changed nothing",
        "failed": "failed",
        "skipped": "skipped",
    }
    parts = [f"{counts[key]} {word}" for key, word in words.items() if counts[key]]
    head = f"{_plural(len(found.attempts), 'attempt')} of {found.name}: {', '.join(parts)}"
    if shown.each:
        return "\n".join([head, *(_attempt_line(each) for each in found.attempts)])
    return "\n".join([head, *_group_lines(found.grouped())])


def _place(attempt: Attempt) -> str:
    location = f" at {attempt.location}" if attempt.location else ""
    return f"#{attempt.ordinal} {operation(attempt.id, attempt.op)}{location}"


def _attempt_line(attempt: Attempt) -> str:
    function = f" in @{attempt.function.removeprefix('@')}" if attempt.function else ""
    reasons = "; ".join(outcome_lines(attempt.outcome, ""))
    result = result_words(attempt.outcome, attempt.change_count)
    return f"  {_place(attempt)}{function}: {result}{f': {reasons}' if reasons else ''}"


def _group_lines(groups: Iterable[Group]) -> list[str]:
    rows = [
        (f"{each.count} x", _group_words(each), f"first {_place(each.first)}") for each in groups
    ]
    counts = max((len(count) for count, _, _ in rows), default=0)
    words = max((len(word) for _, word, _ in rows), default=0)
    return [f"  {count:>{counts}}  {word:<{words}}  {place}" for count, word, place in rows]


def _group_words(group: Group) -> str:
    result = "succeeded, but changed nothing" if group.result == "unchanged" else group.result
    return f'{result}: "{group.reason}"' if group.reason else result


# --- the life of an operation -------------------------------------------------------


def history_text(_: Front, shown: results.HistoryShown) -> str:
    history = shown.history
    rows = [(f"#{each.ordinal}", _event_words(each), _who(each)) for each in history.events]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    lines = [operation(history.id, history.op)]
    lines += [f"  {o:<{widths[0]}}  {what:<{widths[1]}}  {who}".rstrip() for o, what, who in rows]
    if history.made_from:
        lines.append(f"  It replaced {_ids(history.made_from)}.")
    if history.became:
        lines.append(f"  It became {_ids(history.became)}.")
    return "\n".join(lines)


def _event_words(event: Event) -> str:
    """Return what happened, without the operation, which stands above."""
    return re.sub(rf"^@{event.id} \S+ (was )?", "", event.message or event.kind)


def _who(event: Event) -> str:
    who = f"by {event.tag} ({event.name or 'nameless'})" if event.ordinal else f"by {event.name}"
    return who + (" (a guess)" if event.guess else "")


def _ids(ids: Iterable[int]) -> str:
    return ", ".join(f"@{id}" for id in ids)


# --- diffs -----------------------------------------------------------------------


def diff_text(front: Front, shown: results.DiffShown) -> str:
    if shown.diff.is_empty:
        return f"{_title(shown.diff)} made no difference."
    if shown.side_by_side:
        return _side_by_side(front, shown.diff)
    return "\n".join(unified_lines(front, shown.diff, shown.context))


def _title(diff: Diff) -> str:
    return diff.title or f"#{diff.ordinal}"


def unified_lines(front: Front, diff: Diff, context: int) -> list[str]:
    """Return a unified diff; what is not changed is coloured as IR."""
    head = (f"--- before {_title(diff)}", "+++ after")
    return [*(_paint(front, line) for line in (*head, *diff.unified(context)))]


def _paint(front: Front, line: str) -> str:
    if line[:1] == " ":
        return " " + front.paint(line[1:])
    return _in_color(front, line[:1], line)


def _in_color(front: Front, kind: str, text: str) -> str:
    on = _COLORS.get(kind) if front.colored else None
    return f"{on}{text}{_OFF}" if on else text


def _side_by_side(front: Front, diff: Diff) -> str:
    terminal = front.out.isatty() and not front.redirected
    width = shutil.get_terminal_size().columns if terminal else _WIDTH
    rows = diff.side_by_side(width)
    side = max((len(row.left or "") for row in rows), default=0)
    head = f"{f'before {_title(diff)}':<{side}} | after"
    return "\n".join([head, *(_row_text(front, row, side) for row in rows)])


def _row_text(front: Front, row: Row, side: int) -> str:
    if row.left is None and row.right is None:
        return "..."
    left, right = row.left or "", row.right or ""
    blanks = " " * (side - len(left))
    if row.kind == " ":
        return f"{front.paint(left)}{blanks}   {front.paint(right)}".rstrip()
    sign = {"-": "<", "+": ">", "!": "|"}[row.kind]
    left = _in_color(front, "-", left) if left else ""
    right = _in_color(front, "+", right) if right else ""
    return f"{left}{blanks} {sign} {right}".rstrip()


# --- cycles ----------------------------------------------------------------------


def cycle_text(front: Front, shown: results.CycleShown) -> str:
    cycle = shown.cycle
    if cycle is None:
        return "No actions undo each other: the newest of them do not repeat."
    length = _plural(len(cycle.round), "action")
    lines = [f"The same {length} repeat, {cycle.times} times so far; one round of them:"]
    lines += [f"  {_applied_words(each)}" for each in cycle.round]
    for each in cycle.diffs:
        if not each.is_empty:
            lines += ["", *unified_lines(front, each, 3)]
    return "\n".join(lines)


def _applied_words(applied: Applied) -> str:
    place = f" at {applied.location}" if applied.location else ""
    name = f"{applied.tag} ({applied.name or 'nameless'})"
    return f"#{applied.ordinal} {name} on {operation(applied.id, applied.op)}{place}"


# --- the rest ----------------------------------------------------------------------


def count_text(_: Front, counted: results.Counted) -> str:
    where = "the cursor's function" if counted.function else "the module"
    return f"{counted.count} {counted.glob} in {where}"


def displays_text(_: Front, shown: results.Displays) -> str:
    if not shown.displays:
        return "There are no displays."
    return "\n".join(f"{each.id}: {each.command}" for each in shown.displays)


def display_text(_: Front, added: results.Display) -> str:
    return f"Display {added.id}: {added.command}"


def displayed_text(_: Front, __: results.Displayed) -> str:
    return ""  # it was shown when it was run


def reproduced_text(_: Front, made: results.Reproduced) -> str:
    if made.error is not None:
        return f"No reproducer was written to {made.path}: {made.error}"
    return f"A reproducer was written to {made.path}; it is run by:\n  {shlex.join(made.command)}"


def bisected_text(front: Front, shown: results.Bisected) -> str:
    from actiondbg.commands.render.bisection import bisection_text

    return bisection_text(shown.result, lambda line: _paint(front, line))
