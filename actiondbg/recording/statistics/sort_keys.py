"""The sort keys of totals. Imports no third-party package."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from actiondbg.errors import UsageError

PLAIN_KEYS = ("calls", "name")
PER_CALL = "/call"


def check_key(key: str, events: Sequence[str]) -> None:
    """Check a sort key.

    Args:
        key: one of ``PLAIN_KEYS``, ``duration`` or an event; the last two also with ``/call``.
        events: the counted events.

    Raises:
        UsageError: the key is unknown.
    """
    sums = ("duration", *events)
    known = [*PLAIN_KEYS, *sums, *(one + PER_CALL for one in sums)]
    if key in known:
        return
    close = difflib.get_close_matches(key, known, 1)
    hint = f"did you mean {close[0]!r}? The keys are" if close else "the keys are"
    raise UsageError(
        f"There is no sort key {key!r}: {hint} {', '.join((*PLAIN_KEYS, *sums))}, and those from "
        f"duration on with the suffix {PER_CALL!r}."
    )
