"""The text of a comparison of two reports of kernels."""

from __future__ import annotations

from actiondbg.commands.render.tables import aligned
from actiondbg.kernels.results.comparison import RULE, Change, Comparison
from actiondbg.kernels.results.words import change_cells

_LEFT = (0, 1)  # columns with text: the name, and the verdicts


def comparison_lines(comparison: Comparison) -> list[str]:
    """Return what changed between two reports, the worst first."""
    lines: list[str] = []
    for change in Change:
        found = comparison.of(change)
        if not found or change is Change.SAME:
            continue
        lines.append(f"{change.value.capitalize()}: {len(found):,}")
        lines += [f"  {line}" for line in aligned([change_cells(each) for each in found], _LEFT)]
        lines.append("")
    same = len(comparison.of(Change.SAME))
    lines.append(f"{same:,} of {len(comparison.differences):,} dispatches are the same.")
    return [*lines, RULE.format(threshold=comparison.threshold)]


def comparison_object(comparison: Comparison) -> dict[str, object]:
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
