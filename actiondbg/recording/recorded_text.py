"""Recorded IR under names that values keep from stop to stop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from actiondbg.ir.diff import Diff, make_diff
from actiondbg.ir.printed_values import PrintedValues
from actiondbg.ir.tree.outline import last_line
from actiondbg.ir.value_names import NamedKey, ValueNames, read_names
from actiondbg.protocol import Line
from actiondbg.recording.tables.snapshots import IRText, Snapshot

_INDENT = 2  # columns


class RecordedText:
    """A text of a recording, and the values in it.

    A text without a list of its values keeps the names in it. Of the session's names, a value gets
    one when it is first shown; without ``names``, a value has the name of MLIR's printer.

    Args:
        event: at which the text was recorded, from 1.
    """

    def __init__(self, recorded: IRText, names: ValueNames | None, event: int = 0) -> None:
        self.recorded = recorded
        self.event = event
        self._names = names

    @cached_property
    def values(self) -> PrintedValues:
        """The values; those of functions that were never shown get names."""
        named = read_names(self.recorded.values)
        if self._names is not None:
            self._names.learn_all(named)
        return PrintedValues(self.recorded.text, named)

    @cached_property
    def text(self) -> str:
        """The text under the session's names."""
        return self.recorded.text if self._names is None else self.values.renamed(self._names)

    def as_printed(self) -> RecordedText:
        """Return the text under the names of MLIR's printer."""
        return RecordedText(self.recorded, None)

    def pairs(self) -> list[tuple[str, str]]:
        """Return the (NAME, KEY) of each value, under the names in ``text``."""
        inside = self.values.named.inside
        if self._names is None:
            return [(each.name, each.key) for each in inside]
        return [(self._names.known(each.key) or each.name, each.key) for each in inside]

    def with_name(self, name: str) -> list[NamedKey]:
        """Return the values with a name in the functions of the text, also those not in it now."""
        names, scopes = self._names, {each.scope for each in self.values.named.around}
        if names is None:
            return [each for each in self.values.named.inside if each.name == name]
        return [NamedKey(name, key, one) for one in scopes for key in names.keys(name, one)]

    # --- lines ---

    def line_of(self, operation: int) -> int | None:
        """Return the line, from 0, on which an operation begins; None if it has no results."""
        return self.values.line_of(f"{operation}.0")

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self.values.starts) - self.recorded.text.endswith("\n")

    def lines(self, first: int, last: int) -> list[Line]:
        """Return lines under the session's names; those of operations with results have ids.

        They are numbered from 0; ``last`` is the line behind them.
        """
        return [self._line(at) for at in range(max(first, 0), min(last, self.height))]

    def _line(self, at: int) -> Line:
        text, key = self.values.line(at, self._names), self.values.defined(at)
        bare = text.strip()
        return Line(
            kind="operation",
            id=None if key is None else int(key.partition(".")[0]),
            part=0,
            depth=(len(text) - len(text.lstrip())) // _INDENT,
            text=bare,
        )

    def end_of(self, first: int) -> int:
        """Return the line behind an operation, which begins on a line, from 0."""
        return last_line(self.values.line, self.height, first) + 1

    def part(self, first: int, end: int) -> str:
        """Return lines under the session's names, without the indentation of the first."""
        lines = [self.values.line(at, self._names) for at in range(first, end)]
        indent = len(lines[0]) - len(lines[0].lstrip())
        return "".join(f"{line[indent:]}\n" for line in lines)


class RecordedOperation(NamedTuple):
    """An operation in a recorded text.

    Attributes:
        around: the text.
        first: the line on which it begins, from 0; None if it is the whole text.
    """

    around: RecordedText
    first: int | None = None

    def text(self, skip_regions: bool = False) -> str:
        """Return the operation as it is printed alone, with dots for regions that are skipped."""
        if skip_regions:
            first = self.first or 0
            return without_regions(self.around.part(first, first + 1))
        if self.first is None:
            return self.around.text
        return self.around.part(self.first, self.around.end_of(self.first))

    def as_printed(self) -> RecordedOperation:
        """Return the operation under the names of MLIR's printer."""
        return self._replace(around=self.around.as_printed())


def without_regions(text: str) -> str:
    """Return the first line of an operation, with dots for its regions."""
    line = text.lstrip("\n").partition("\n")[0]
    return f"{line}...}}" if line.endswith("{") else line


def compare(found: Sequence[Snapshot], names: ValueNames, is_of_functions: bool) -> Diff:
    """Compare the IR before and after an action.

    Args:
        found: the recorded IR around the action.
        names: of the session.
        is_of_functions: whether it is of whole functions, not a line for each operation.
    """
    sides = [
        [RecordedText(text, names) for text in texts if text is not None]
        for texts in zip(*(one.texts for one in found), strict=True)
    ]
    before, after = ("".join(_line(one.text) for one in side) for side in sides or ([], []))
    if not is_of_functions:
        return Diff(before, after)  # values in the lines of operations have the same names
    pairs = [[pair for one in side for pair in one.pairs()] for side in sides or ([], [])]
    return make_diff(before, after, *pairs)


def _line(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
