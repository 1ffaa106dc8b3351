"""Comparisons of alternatives, and passes and patterns that could change the IR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from actiondbg.commands.render.diff import unified_line
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import aligned, fitted
from actiondbg.support.counts import counted
from actiondbg.support.interrupts import signal_name

if TYPE_CHECKING:
    from actiondbg.ir.diff import Diff
    from actiondbg.whatif.alternatives_comparison import AlternativesComparison, Row
    from actiondbg.whatif.applicable import ApplicablePattern, TriedPass

_CONTEXT = 3  # unchanged lines around a change
_MOST_OPERATIONS = 4  # names in a row
_TIME_WIDTH = 9  # the columns of tables of quick runs and of slow ones are alike
_KINDS = ("inserted", "erased", "replaced", "modified", "moved")


class AlternativesShown(msgspec.Struct):
    """A comparison.

    Attributes:
        all: whether all operations are shown whose numbers differ.
        notes: sentences below the table.
        diffs: of the alternatives, if they are wanted; instead of a diff the sentence why there is
            none.
    """

    comparison: AlternativesComparison
    all: bool
    notes: list[str]
    diffs: list[Diff | str]


class ApplicableShown(msgspec.Struct):
    """The passes that were tried; ``all`` of them, or those that would change the IR."""

    tried: list[TriedPass]
    all: bool


class PatternsShown(msgspec.Struct):
    patterns: list[ApplicablePattern]


# --- comparisons --------------------------------------------------------------------


def alternatives_text(comparison: AlternativesComparison, every: bool, notes: Sequence[str]) -> str:
    """Return the table of a comparison, and the notes; ``every``: all operations that differ."""
    judged = ["verdict"] if comparison.judged else []
    titles = [
        "",
        "actions",
        "applied",
        f"{'time':>{_TIME_WIDTH}}",
        "end",
        *judged,
        "operations",
        "alternative",
    ]
    base = comparison.rows[0]
    cells = [
        [str(number), *_cells(row, comparison.judged), *_counts(row, base), row.alternative]
        for number, row in enumerate(comparison.rows)
    ]
    lines = aligned([titles, *cells])
    names = comparison.differing()
    for number, row in enumerate(comparison.rows[1:], 1):
        if text := _differences(row, base, names, every):
            lines.append(f"Operations of {number}: {text}")
    for number, row in enumerate(comparison.rows):
        if row.reason is not None and row.verdict != "good":
            lines.append(f"Verdict on {number}: {row.reason}")
        if row.message is not None and row.status != 0:
            lines.append(f"End of {number}: {row.message}")
    return "\n".join([*lines, *(f"Note: {note}" for note in notes)])


def _cells(row: Row, judged: bool) -> list[str]:
    verdict = [row.verdict or ""] if judged else []
    return [_number(row.actions), _number(row.applied), _time(row.seconds), _end(row), *verdict]


def _end(row: Row) -> str:
    if row.end == "timeout":
        return "too late"
    if row.status is None:
        return "at the pass"
    if row.status < 0:
        return signal_name(-row.status)
    return f"status {row.status}"


def _counts(row: Row, base: Row) -> list[str]:
    if row.operations is None:
        return ["?"]
    total = sum(row.operations.values())
    if row is base or base.operations is None:
        return [f"{total:,}"]
    difference = total - sum(base.operations.values())
    return [f"{total:,} ({difference:+,})" if difference else f"{total:,}"]


def _differences(row: Row, base: Row, names: list[str], every: bool) -> str:
    """Return how many operations of each name there are more or less than in the run as it is."""
    if row.operations is None or base.operations is None:
        return ""
    changes = {name: row.operations.get(name, 0) - base.operations.get(name, 0) for name in names}
    found = sorted((name for name in names if changes[name]), key=lambda name: -abs(changes[name]))
    shown = found if every else found[:_MOST_OPERATIONS]
    text = ", ".join(f"{name} {changes[name]:+,}" for name in shown)
    more = len(found) - len(shown)
    return f"{text}, and {counted(more, 'more name')}: --all lists them" if more else text


def _number(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def _time(seconds: float) -> str:
    text = f"{seconds:,.1f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"
    return f"{text:>{_TIME_WIDTH}}"


def alternatives_lines(
    shown: AlternativesShown, paint: Callable[[str], str] = str, width: int | None = None
) -> list[str]:
    """Return a comparison with its diffs as text; ``paint`` colours a line of a diff."""
    text = alternatives_text(shown.comparison, shown.all, shown.notes)
    lines = fitted(text, width).splitlines()
    for number, diff in enumerate(shown.diffs, 1):
        if isinstance(diff, str):
            lines.append(diff)
            continue
        if diff.is_empty:
            lines.append(f"Alternative {number}, {diff.title}, has the same final IR.")
            continue
        head = ("--- as it is", f"+++ alternative {number}, {diff.title}")
        lines += (paint(line) for line in (*head, *diff.unified()))
    return lines


def _alternatives_text(context: RenderContext, shown: AlternativesShown) -> str:
    return "\n".join(
        alternatives_lines(shown, partial(unified_line, context.ir_view), context.width)
    )


def alternatives_object(shown: AlternativesShown) -> dict[str, object]:
    found = shown.comparison.as_json()
    if shown.diffs:
        found["diffs"] = [None if isinstance(diff, str) else diff.unified() for diff in shown.diffs]
    return {**found, "notes": shown.notes}


# --- what could change ----------------------------------------------------------------


def _applicable_text(_: RenderContext, shown: ApplicableShown) -> str:
    changing = [one for one in shown.tried if one.result == "changed"]
    lines: list[str] = []
    if changing:
        kinds = [kind for kind in _KINDS if any(one.counts.get(kind) for one in changing)]
        rows = [
            [f"{one.changes:,}", *(f"{one.counts.get(kind, 0):,}" for kind in kinds), one.pipeline]
            for one in changing
        ]
        lines = aligned([["changes", *kinds, "pass"], *rows])
    counts = Counter(one.result for one in shown.tried)
    words = {
        "changed": "would change the IR",
        "unchanged": "would not",
        "failed": "fail on it",
        "crashed": "crash",
        "timeout": "take too long",
        "impossible": "cannot run on it",
    }
    parts = [f"{counts[key]:,} {text}" for key, text in words.items() if counts[key]]
    rest = len(shown.tried) - len(changing)
    more = "; --all lists the others" if rest and not shown.all else ""
    lines.append(f"Of {counted(len(shown.tried), 'pass')}, {', '.join(parts)}{more}.")
    if shown.all:
        for one in (each for each in shown.tried if each.result != "changed"):
            lines.append(f"  {one.name}: {one.result}{f': {one.reason}' if one.reason else ''}")
    return "\n".join(lines)


def _patterns_text(_: RenderContext, shown: PatternsShown) -> str:
    if not shown.patterns:
        return "No pattern will succeed in this pass."
    titles = ["applied", "attempts", "changes", "pattern"]
    rows = [
        [f"{one.succeeded:,}", f"{one.attempts:,}", f"{one.changes:,}", one.name]
        for one in shown.patterns
    ]
    return "\n".join(aligned([titles, *rows]))


renders(AlternativesShown, _alternatives_text, alternatives_object, fits=True)
renders(ApplicableShown, _applicable_text)
renders(PatternsShown, _patterns_text)
