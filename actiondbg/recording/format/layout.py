"""numpy layouts and codes of the items of sections; structs.py has the rest of the format."""

from __future__ import annotations

from typing import Any

import numpy as np

from actiondbg.protocol import RESULTS
from actiondbg.recording.format.structs import SectionKind


def _layout(**fields: str) -> np.dtype[Any]:
    return np.dtype([(name, f"<{form}") for name, form in fields.items()])


LAYOUTS: dict[int, np.dtype[Any]] = {
    SectionKind.LOCATIONS: _layout(id="u4", file="u4", line="u4", col="u4", text="u4"),
    SectionKind.ACTIONS: _layout(
        start="u4", duration="u4", operation="u4", name="u4", depth="u2", outcome="u1", flags="u1"
    ),
    SectionKind.PATCHES: _layout(row="u4", outcome="u1", flags="u1", pad="u2", duration="u8"),
    SectionKind.REASONS: _layout(row="u4", reason="u4"),
    SectionKind.CONTEXTS: _layout(row="u4", context="u4"),
    SectionKind.FINDINGS: _layout(row="u4", operation="u4", rule="u4", text="u4"),
    SectionKind.IR: _layout(row="u4", operation="u4", before="u8", after="u8"),
    SectionKind.STAGES: _layout(thread="u4", row="u4", kind="u4", generic="u4", text="u8"),
}


# The fields of a packed item, and how many of them (the first) are differences to the item before.
PACKED: dict[int, tuple[tuple[str, ...], int]] = {
    SectionKind.OPERATIONS: (("row", "operation", "location", "function", "name"), 4),
    SectionKind.CHANGES: (("row", "operation", "code", "by", "by_result"), 2),
    SectionKind.LINKS: (("row", "operation", "kind", "source"), 2),
    SectionKind.STAGE_OPERATIONS: (("operation", "parent", "line", "location", "name"), 4),
}


def layout_of(kind: int, events: int) -> np.dtype[Any]:
    """Return the layout of an item, in a recording with a number of counted events."""
    if kind == SectionKind.SAMPLES:
        return np.dtype([("row", "<u4"), ("pad", "<u4"), ("values", "<u8", (events,))])
    return LAYOUTS[kind]


LINK_KINDS = ("cloned", "replaced", "replaced by argument", "uses", "body", "before", "heir")
CHECKED_RULES = (
    "changed-but-failed",
    "success-without-change",
    "not-notified",
    "invalid-ir",
    "lost-location",
)
OUTCOMES = ("unfinished", *RESULTS)
UNFINISHED = 0
FOLDS = ("in-place", "constants", "values", "constants and values")
CHANGE_KINDS = ("inserted", "erased", "replaced", "modified", "moved")
CHANGED, ROLLED_BACK, UNKNOWN_CHANGE = 1, 2, 4  # flags of an action
FOLD_SHIFT, FOLD_MASK = 4, 7
CHANGE_KIND_MASK, BLOCK, GUESS = 7, 8, 16  # in the code of a change
