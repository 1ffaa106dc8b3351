"""The items of sections as numpy arrays, and their codes; structs.py declares the fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from actiondbg.protocol import RESULTS
from actiondbg.recording.format.structs import STRUCTS, SectionKind

LAYOUTS: dict[int, np.dtype[Any]] = {
    kind: np.dtype([(name, f"<{form}") for name, form in (f.split(":") for f in fields.split())])
    for kind, fields in STRUCTS.items()
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
CHANGED, ROLLED_BACK, UNKNOWN_CHANGE, UNHEARD = 1, 2, 4, 8  # flags of an action
FOLD_SHIFT, FOLD_MASK = 4, 7
CHANGE_KIND_MASK, BLOCK, GUESS = 7, 8, 16  # in the code of a change
