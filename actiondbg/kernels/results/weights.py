"""What the kernels of a model weigh: how often the model has each, times its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.words import milliseconds
from actiondbg.support.counts import counted

HEAD = ("share", "total ms", "count", "ms", "operation", "configuration")
TEXT = (4, 5)  # columns of words
TITLE = "Shares of the model"
_COUNT = "count"


@dataclass(frozen=True)
class Weight:
    """An operation of a model.

    Attributes:
        entry: its fastest kernel that is not wrong.
        count: how often the model has it.
        share: of all operations' time, in per cent.
    """

    entry: Entry
    count: int
    share: float = 0.0

    @property
    def seconds(self) -> float:
        return self.count * (self.entry.least or 0.0)

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a table with the columns of HEAD."""
        return (
            f"{self.share:.1f} %",
            milliseconds(self.seconds),
            f"{self.count:,}",
            milliseconds(self.entry.least or 0.0),
            self.entry.operation,
            self.entry.configuration,
        )


@dataclass(frozen=True)
class ModelWeights:
    """The operations of a model by their weight.

    Attributes:
        weights: the heaviest first; empty if the entries are not of a model, or have no times.
        missing: how many operations have no such kernel with a time.
    """

    weights: tuple[Weight, ...]
    missing: int

    @property
    def summary(self) -> str:
        total = sum(each.seconds for each in self.weights)
        text = (
            f"The fastest kernel of each operation that is not wrong, as often as the model has "
            f"it: {milliseconds(total)} ms in all, calls included."
        )
        if not self.missing:
            return text
        return f"{text} {counted(self.missing, 'operation')} without a time is left out."


def model_weights(entries: Sequence[Entry]) -> ModelWeights:
    """Return the operations of a model by their weight, each with its fastest kernel."""
    best: dict[str, Entry | None] = {}
    for entry in entries:
        if not entry.arguments.get(_COUNT, "").isdecimal():
            continue
        old = best.setdefault(entry.operation, None)
        is_usable = entry.least is not None and not entry.is_wrong and not entry.is_above_peak
        if is_usable and (old is None or (entry.least or 0.0) < (old.least or 0.0)):
            best[entry.operation] = entry
    found = [
        Weight(each, int(each.arguments[_COUNT])) for each in best.values() if each is not None
    ]
    total = sum(each.seconds for each in found)
    weights = [replace(each, share=100 * each.seconds / total) if total else each for each in found]
    weights.sort(key=lambda each: each.seconds, reverse=True)
    return ModelWeights(tuple(weights), len(best) - len(found) if found else 0)
