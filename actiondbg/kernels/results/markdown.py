"""Reports as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.weights import HEAD, TEXT, TITLE, model_weights
from actiondbg.kernels.results.words import (
    TABLE_HEAD,
    further_facts,
    original_facts,
    summary_of,
    table_cells,
)


def to_markdown(entries: Sequence[Entry]) -> str:
    """Return a report: a table of all dispatches, then each wrong one in full."""
    lines = ["# Kernels", "", summary_of(entries), ""]
    if entries:
        lines += _table(entries)
    lines += _shares(entries)
    wrong = [entry for entry in entries if entry.is_wrong]
    if wrong:
        lines += ["", "## Wrong"]
    for entry in wrong:
        lines += _in_full(entry)
    return "\n".join(lines) + "\n"


def _table(entries: Sequence[Entry]) -> list[str]:
    numbers = ("ms", "call ms", "GFLOP/s", "% of peak")
    rule = ["---:" if name in numbers else "---" for name in TABLE_HEAD]
    return [_line(TABLE_HEAD), _line(rule), *(_line(table_cells(each)) for each in entries)]


def _shares(entries: Sequence[Entry]) -> list[str]:
    weights = model_weights(entries)
    if not weights.weights:
        return []
    rule = ["---" if at in TEXT else "---:" for at in range(len(HEAD))]
    rows = [_line(each.cells) for each in weights.weights]
    return ["", f"## {TITLE}", "", weights.summary, "", _line(HEAD), _line(rule), *rows]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _in_full(entry: Entry) -> list[str]:
    shown = [*original_facts(entry)[1:], *further_facts(entry)]
    facts = [f"- {fact.name}: {_escaped(fact.text)}" for fact in shown if fact.text]
    lines = ["", f"### {entry.dispatch}", "", *facts]
    details = [*entry.verification.first, *entry.verification.map.splitlines()]
    return [*lines, "", "```text", *details, "```"] if details else lines


def _escaped(text: str) -> str:
    """Escape what Markdown would take for a border, emphasis or HTML."""
    one_line = " ".join(text.split("\n"))
    for mark in "\\|*<_`":
        one_line = one_line.replace(mark, f"\\{mark}")
    return one_line
