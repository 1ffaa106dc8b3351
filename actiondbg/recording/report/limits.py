"""Limits of the content of a page; the page lists the parts left out."""

from __future__ import annotations

import msgspec

SIZE = 5.0  # MB: the default size of a page


class Limits(msgspec.Struct, frozen=True):
    """The most rows of each kind; the defaults are those of a page of 5 MB.

    Attributes:
        actions: actions in the timeline, the list of the slowest, and the search.
        changing: actions whose changes are listed.
        changes: listed changes of one action.
        diffs: actions whose diff is shown.
        diff_rows: rows of one diff.
        diff_bytes: bytes of all diffs together.
        compared: characters of IR to compare for diffs: a million takes about 0.3 s.
        groups: rows of the table of passes, patterns and folds.
        places: functions, and source lines.
        reasons: reasons of failure.
        suspects: rows of each table of rewrites that may not converge.
        buckets: time buckets of all threads together.
    """

    actions: int = 30_000
    changing: int = 2_000
    changes: int = 30
    diffs: int = 400
    diff_rows: int = 150
    diff_bytes: int = 2_000_000
    compared: int = 16_000_000
    groups: int = 2_000
    places: int = 3_000
    reasons: int = 500
    suspects: int = 50
    buckets: int = 6_000

    def scaled(self, factor: float) -> Limits:
        """Return the limits multiplied by a factor."""
        fields = msgspec.structs.asdict(self)
        return Limits(**{name: max(1, int(most * factor)) for name, most in fields.items()})
