"""The comparison of two reports: what became faster, slower, wrong or right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from actiondbg.kernels.results.entry import Entry

RULE = (
    "Slower or faster: the least times differ by more than {threshold:g} %, and the larger one "
    "exceeds the median of the other report; if context switches disturbed either, its largest "
    "time."
)


class Change(Enum):
    """What became of a dispatch, in the order of a report."""

    WRONG = "wrong"
    SLOWER = "slower"
    UNVERIFIED = "no longer verified"
    GONE = "gone"
    STILL_WRONG = "still wrong"
    FIXED = "fixed"
    FASTER = "faster"
    NEW = "new"
    SAME = "same"


_REGRESSIONS = (Change.WRONG, Change.SLOWER)


@dataclass(frozen=True)
class Difference:
    """A dispatch in two reports.

    Attributes:
        changes: what became of it, at least one.
        old: its entry in the first report, or None.
        new: its entry in the second report, or None.
    """

    name: str
    changes: tuple[Change, ...]
    old: Entry | None
    new: Entry | None

    @property
    def ratio(self) -> float | None:
        """The new least time by the old one, or None if one is missing."""
        old = self.old.least if self.old is not None else None
        new = self.new.least if self.new is not None else None
        return new / old if old and new is not None else None


@dataclass(frozen=True)
class ReportComparison:
    """The differences of two reports.

    Attributes:
        differences: one a dispatch, in the order of the second report; those that are gone last.
        threshold: the least change of a time that counts, in per cent.
    """

    differences: tuple[Difference, ...]
    threshold: float

    def of(self, change: Change) -> list[Difference]:
        """Return the dispatches with a change; those whose time changed most first."""
        found = [each for each in self.differences if change in each.changes]
        if change in (Change.SLOWER, Change.FASTER):
            found.sort(key=lambda each: each.ratio or 1, reverse=change is Change.SLOWER)
        return found

    @property
    def timed(self) -> list[str]:
        """The names of the dispatches that have times in both reports."""
        return [each.name for each in self.differences if each.ratio is not None]

    @property
    def is_worse(self) -> bool:
        """Whether a dispatch became slower or wrong, or a new one is wrong."""
        return any(self.of(change) for change in _REGRESSIONS)


def compare(old: Sequence[Entry], new: Sequence[Entry], threshold: float = 5.0) -> ReportComparison:
    """Compare two reports.

    Args:
        old: the first report; of several entries of a dispatch, the last counts.
        new: the second report.
        threshold: the least change of a time that counts, in per cent.
    """
    before = {entry.dispatch: entry for entry in old}
    after = {entry.dispatch: entry for entry in new}
    differences = [
        Difference(name, _changes(before.get(name), entry, threshold), before.get(name), entry)
        for name, entry in after.items()
    ]
    differences += [
        Difference(name, (Change.GONE,), entry, None)
        for name, entry in before.items()
        if name not in after
    ]
    return ReportComparison(tuple(differences), threshold)


def _changes(old: Entry | None, new: Entry, threshold: float) -> tuple[Change, ...]:
    if old is None:
        return (Change.NEW, Change.WRONG) if new.is_wrong else (Change.NEW,)
    changes = [change for change in (_verdict(old, new), _time(old, new, threshold)) if change]
    return tuple(changes) or (Change.SAME,)


def _verdict(old: Entry, new: Entry) -> Change | None:
    was_right = old.verification.verdict == "SUCCESS"
    is_right = new.verification.verdict == "SUCCESS"
    if new.is_wrong:
        return Change.STILL_WRONG if old.is_wrong else Change.WRONG
    if old.is_wrong and is_right:
        return Change.FIXED
    return Change.UNVERIFIED if was_right and not is_right else None


def _time(old: Entry, new: Entry, threshold: float) -> Change | None:
    """Return how the time changed beyond the noise of the repetitions.

    That of a kernel whose result is wrong does not count: a slow or fast wrong result is no news.
    """
    if old.least is None or new.least is None or new.is_wrong:
        return None
    factor = 1 + threshold / 100
    is_disturbed = old.is_disturbed or new.is_disturbed
    if new.least > old.least * factor and new.least > _noise(old, is_disturbed):
        return Change.SLOWER
    if old.least > new.least * factor and old.least > _noise(new, is_disturbed):
        return Change.FASTER
    return None


def _noise(entry: Entry, is_disturbed: bool) -> float:
    """Return a time up to which a least time may be that of the same code.

    Noise only adds to a time: the repetitions from the least to the median show how much it usually
    is, and the largest may be any. But a least time may itself be disturbed.
    """
    return max(entry.seconds) if is_disturbed else median(entry.seconds)
