"""What totals can be sorted by."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from actiondbg.errors import UsageError

PER_CALL = "/call"


def check_key(key: str, events: Sequence[str]) -> None:
    """Refuse what totals cannot be sorted by.

    Args:
        key: ``name``, ``calls``, ``duration`` or an event; the last two also with ``/call``.
        events: those that were counted.

    Raises:
        UsageError: it is none of them.
    """
    sums = ("duration", *events)
    known = ["name", "calls", *sums, *(one + PER_CALL for one in sums)]
    if key in known:
        return
    close = difflib.get_close_matches(key, known, 1)
    hint = f"did you mean {close[0]!r}? There are" if close else "there are"
    raise UsageError(
        f"The totals have no {key!r} to sort by: {hint} name, calls, {', '.join(sums)}, and with "
        f"{PER_CALL!r} behind those from duration on."
    )
