"""The text of results of kernels, and of two reports compared, for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import msgspec

from actiondbg.commands.render.tables import aligned
from actiondbg.kernels.results.columns import SHARES, TABLE, text_rows, word_columns
from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.report_comparison import RULE, Change, Difference, ReportComparison
from actiondbg.kernels.results.words import (
    TITLE,
    further_facts,
    milliseconds,
    model_weights,
    original_facts,
    summary_of,
)
from actiondbg.support.counts import shortened

_RULE = "-" * 64  # the format of a block is that of the dispatch profiler
_NAME_WIDTH = 14
_INDENT = " " * (_NAME_WIDTH + 2)
_MOST_BLOCKS = 10
_COMPARED_LEFT = (0, 1)  # columns with text: the name, and the verdicts


def report_lines(
    entries: Sequence[Entry], *, full: bool = False, width: int | None = 80
) -> list[str]:
    """Return a report: a block for each dispatch, or for many a table and blocks of the wrong.

    A full one has all blocks; tables of a file or a pipe, whose width is None, are not cut.
    """
    blocks = list(entries)
    lines: list[str] = []
    if len(entries) > _MOST_BLOCKS and not full:
        lines += [*table_lines(entries, width), ""]
        blocks = [entry for entry in entries if entry.is_wrong][:_MOST_BLOCKS]
    for entry in blocks:
        lines += block_lines(entry, width or 80)
    if blocks:
        lines.append(_RULE)
    lines += weight_lines(entries, width)
    return [*lines, summary_of(entries)]


def weight_lines(entries: Sequence[Entry], width: int | None = 80) -> list[str]:
    """Return the operations of a model by their share of its time; none of other entries."""
    weights = model_weights(entries)
    if not weights.weights:
        return []
    lines = aligned(text_rows(SHARES, weights.weights), word_columns(SHARES))
    table = [shortened(line, width and max(width, 80)) for line in lines]
    return [f"{TITLE}:", *table, weights.summary, ""]


def block_lines(entry: Entry, width: int = 80) -> list[str]:
    """Return the block of a dispatch: what the dispatch profiler prints, then what it lacks."""
    lines = [_RULE]
    room = max(width, 80) - len(_INDENT)
    for name, text in {**original_facts(entry), **further_facts(entry)}.items():
        # One that is too wide is wrapped at words.
        words = " ".join(text.split())
        wrapped = textwrap.wrap(words, room, break_long_words=False, break_on_hyphens=False)
        first, *rest = wrapped or [""]
        lines += [f"{name:<{_NAME_WIDTH}}: {first}", *(f"{_INDENT}{line}" for line in rest)]
        if name == "Wrong":
            details = [*entry.verification.first, *entry.verification.map.splitlines()]
            lines += [f"{_INDENT}{line}" for line in details]
    return lines


def table_lines(entries: Sequence[Entry], width: int | None = 80) -> list[str]:
    """Return a table with a line for each dispatch, below its operation, as wide as a terminal.

    The blocks of the wrong ones say why they are.
    """
    head, *rows = text_rows(TABLE, entries)
    head[0] = ""
    for entry, cells in zip(entries, rows, strict=True):
        cells[0] = f"  {entry.configuration}"
        if entry.is_wrong and not entry.verification.wrong:
            cells[-1] = f"culprit {entry.culprit}" if entry.culprit else ""
    lines = aligned([head, *rows], word_columns(TABLE))
    table = [lines[0]]
    operation = ""
    for entry, line in zip(entries, lines[1:], strict=True):
        if entry.operation != operation:
            operation = entry.operation
            table.append(operation)
        table.append(shortened(line, width and max(width, 80)))
    return table


def report_object(entries: Sequence[Entry]) -> dict[str, object]:
    """Return a report as JSON: the fields of each entry, and its rate."""
    kernels = [{**msgspec.to_builtins(each), "gflops": each.gflops} for each in entries]
    weights = [
        {
            "operation": each.entry.operation,
            "dispatch": each.entry.dispatch,
            "count": each.count,
            "seconds": each.seconds,
            "share": each.share,
        }
        for each in model_weights(entries).weights
    ]
    return {"kernels": kernels, **({"shares": weights} if weights else {})}


def report_comparison_lines(comparison: ReportComparison) -> list[str]:
    """Return what changed between two reports, the worst first."""
    lines: list[str] = []
    for change in Change:
        found = comparison.of(change)
        if not found or change is Change.SAME:
            continue
        lines.append(f"{change.value.capitalize()}: {len(found):,}")
        lines += [
            f"  {line}" for line in aligned([_change_cells(each) for each in found], _COMPARED_LEFT)
        ]
        lines.append("")
    same = len(comparison.of(Change.SAME))
    lines.append(f"{same:,} of {len(comparison.differences):,} dispatches are the same.")
    return [*lines, RULE.format(threshold=comparison.threshold)]


def _change_cells(difference: Difference) -> tuple[str, ...]:
    """Return a dispatch of a comparison, its verdicts, its times and their ratio."""
    entries = [each for each in (difference.old, difference.new) if each is not None]
    verdicts = dict.fromkeys(each.verification.verdict for each in entries)
    times = [
        "" if each is None or each.least is None else f"{milliseconds(each.least)} ms"
        for each in (difference.old, difference.new)
    ]
    return (
        difference.name,
        " -> ".join(filter(None, verdicts)),
        *times,
        "" if difference.ratio is None else f"{difference.ratio:.2f} times",
    )


def report_comparison_object(comparison: ReportComparison) -> dict[str, object]:
    """Return a comparison as JSON: the changes of each dispatch, and the ratio of its times."""
    differences = [
        {
            "dispatch": each.name,
            "changes": [change.value for change in each.changes],
            "old_ms": None if each.old is None else _milliseconds(each.old.least),
            "new_ms": None if each.new is None else _milliseconds(each.new.least),
            "ratio": each.ratio,
        }
        for each in comparison.differences
    ]
    return {"threshold": comparison.threshold, "differences": differences}


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
