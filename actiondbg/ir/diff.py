"""Diffs of printed IR that are stable under renumbering: each value has one name in both texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from itertools import product
from typing import Literal

import msgspec

from actiondbg.ir.aliases import with_aliases_of
from actiondbg.ir.elision import elided
from actiondbg.ir.resolved_text import NAMES, ResolvedText, certain_keys
from actiondbg.protocol import ActionRef
from actiondbg.support.alignment import Alignment

Names = Mapping[str, str] | Sequence[tuple[str, str]]  # NAME -> KEY, or (NAME, KEY) in order
_Kind = Literal[" ", "-", "+", "!"]
_Pair = tuple[str | None, str | None]

_NUMBERED = re.compile(r"(%(?:arg)?)(\d+)")
_WORD = re.compile(r"[\w$.%#@!^-]+")

_WINDOW = 40  # lines of a replaced block that are matched with one another
_ALIKE = 0.5  # the least share of common words of a changed line


class Row(msgspec.Struct, frozen=True):
    """A row of a side-by-side view."""

    left: str | None  # text before, or None where this side has none
    # Text after, likewise. Both are None between two hunks.
    right: str | None
    kind: _Kind  # " " unchanged, "-" only before, "+" only after, "!" changed


class Diff(msgspec.Struct, frozen=True):
    """Printed IR before and after an action.

    Attributes:
        before: the text before.
        after: the text after, with the names of ``before`` for the values that are in both.
        ordinal: the action's number, from 1; 0 without an action.
        title: a description of the action.
    """

    before: str
    after: str
    ordinal: int = 0
    title: str = ""

    def of_action(self, action: ActionRef) -> Diff:
        """Return the diff with the ordinal and the title of an action."""
        words = (f"#{action.ordinal}", action.tag, action.name)
        title = " ".join(word for word in words if word)
        return msgspec.structs.replace(self, ordinal=action.ordinal, title=title)

    @property
    def is_empty(self) -> bool:
        """Whether no line differs."""
        return self.before == self.after or _lines(self.before) == _lines(self.after)

    def unified(self, context: int = 3) -> list[str]:
        """Return the hunks of a unified diff, without file names and line ends.

        Args:
            context: unchanged lines around a change.
        """
        before, after = _lines(self.before), _lines(self.after)
        result: list[str] = []
        for hunk in Alignment(before, after).get_grouped_opcodes(context):
            first, last = hunk[0], hunk[-1]
            result.append(f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@")
            for tag, i1, i2, j1, j2 in hunk:
                result += ((" " if tag == "equal" else "-") + line for line in before[i1:i2])
                result += ("+" + line for line in after[j1:j2] if tag != "equal")
        return result

    def elided(self, most: int) -> Diff:
        """Return the diff without the elements of constants of more elements than ``most``."""
        before, after = elided(_lines(self.before), _lines(self.after), most)
        texts = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
        return msgspec.structs.replace(self, **dict(zip(("before", "after"), texts, strict=True)))

    def side_by_side(self, width: int, context: int = 3) -> list[Row]:
        """Return the hunks as rows.

        Args:
            width: columns in total: three between the sides, half of the rest for each. Longer
                lines are wrapped and never truncated, as a change may be at their ends.
            context: unchanged lines around a change.
        """
        before, after = _lines(self.before), _lines(self.after)
        columns = max((width - 3) // 2, 10)
        result: list[Row] = []
        for hunk in Alignment(before, after).get_grouped_opcodes(context):
            if result:
                result.append(Row(None, None, " "))
            for tag, i1, i2, j1, j2 in hunk:
                pair = zip if tag == "equal" else pair_lines
                for left, right in pair(before[i1:i2], after[j1:j2]):
                    kind = "+" if left is None else "-" if right is None else "!"
                    result += _rows(left, right, " " if tag == "equal" else kind, columns)
        return result


def make_diff(before: str, after: str, before_names: Names, after_names: Names) -> Diff:
    """Compare two prints, after renaming the values of the second to their names in the first.

    Values with equal keys are the same. A value that is only in ``after`` keeps its name unless
    ``before`` uses it; then it gets the next free one of its kind (``%7``, ``%arg4``, ``%c0_1``).
    Values visible to each other get different names, which preserves the meaning of ``after``.
    Aliases of attributes and types are renamed likewise, by their definitions.
    If the value of a name is uncertain, a line that differs only in names determines it; otherwise
    the name is kept. Names in strings and comments are kept, and so are the labels of blocks.

    Args:
        before: MLIR as printed, in the custom or the generic form.
        after: MLIR as printed, of the same process.
        before_names: (NAME, KEY) of every value in ``before``, NAME with its % and without #, in
            the order of a pre-order walk: an operation's results, then its blocks; the arguments of
            all of them first, or of each with its operations. Values that are not printed, as those
            inside of a linalg.matmul, may be listed. A map will do if no name is defined twice.
        after_names: the same of ``after``. If either is empty though its text has names, all values
            are uncertain.
    """
    old, new = (
        list(names.items() if isinstance(names, Mapping) else names)
        for names in (before_names, after_names)
    )
    if before == after and old == new:
        return Diff(before, after)
    after = with_aliases_of(before, after)
    used = {name for name, _ in old}.union(NAMES.findall(before))
    are_listed = (old or not used) and (new or "%" not in after)
    text = ResolvedText(after, {name for name, _ in new} if are_listed else None)
    keys = certain_keys(text, new) if are_listed else {}
    names = {key: name for name, key in reversed(old)}
    certain = {value: names[key] for value, key in keys.items() if key in names}
    likely = _same_by_lines(before, text) if len(keys) < len(text.regions) else {}
    outside = {value: text.names[value] for value in text.outside if value not in keys}
    wishes, added = [outside, certain, likely], keys.keys() - certain.keys()
    return Diff(before, text.renamed(_Renaming(text, used).choose(wishes, added)))


class _Renaming:
    """Chooses names for ``text``; ``used`` are the names of the text before."""

    def __init__(self, text: ResolvedText, used: Collection[str]) -> None:
        self._text, self._used = text, used
        self._chosen: dict[int, str] = {}
        # Names given, each with its region; and with that and all regions around it.
        self._here, self._within = set[tuple[int, str]](), set[tuple[int, str]]()
        self._counters: dict[str, int] = {}

    def choose(self, wishes: Sequence[Mapping[int, str]], added: Set[int]) -> dict[int, str]:
        """Return a name for each value: its first wish, or its own name for an added value."""
        names, around, regions = self._text.names, self._text.around, self._text.regions
        # The innermost first: a value that was moved out of a region takes a new name, rather than
        # all those of that name that stay in other regions.
        for wish in (*wishes, {value: names[value] for value in regions}):
            open_ = wish.keys() - self._chosen.keys() - added
            for value in sorted(open_, key=lambda value: (-len(around[regions[value]]), value)):
                self._give(value, wish[value])
        for value in sorted(added):
            taken = names[value] in self._used
            self._give(value, self._free(names[value]) if taken else names[value])
        return self._chosen

    def _give(self, value: int, name: str) -> None:
        region = self._text.regions[value]
        around = self._text.around[region]
        if (region, name) in self._within or any((each, name) in self._here for each in around):
            name = self._free(name)
        self._here.add((region, name))
        self._within.update((each, name) for each in around)
        self._chosen[value] = name

    def _free(self, name: str) -> str:
        """Return the next name of the same kind that no value has or had."""
        numbered = _NUMBERED.fullmatch(name)
        stem = numbered[1] if numbered else re.sub(r"_\d+$", "", name) + "_"
        count = max(self._counters.get(stem, 0), int(numbered[2]) if numbered else 0)
        while (name := f"{stem}{count}") in self._used or (0, name) in self._within:
            count += 1
        self._counters[stem] = count
        return name


def _same_by_lines(before: str, new: ResolvedText) -> dict[int, str]:
    """Return the names in ``before`` of values that a line defines which differs in names only."""
    old, lines = _lines(before), _lines(new.text)
    bare = ([NAMES.sub("%", line) for line in side] for side in (old, lines))
    same: dict[int, str] = {}
    for tag, i1, i2, j1, j2 in Alignment(*bare).get_opcodes():
        same |= zip(range(j1, j2), old[i1:i2], strict=True) if tag == "equal" else ()
    starts = [0, *(match.end() for match in re.finditer("\n", new.text))]
    result: dict[int, str] = {}
    for value in filter(new.is_definition, new.regions):
        line = bisect_right(starts, new.starts[value]) - 1
        if line in same:
            place = len(NAMES.findall(new.text, starts[line], new.starts[value]))
            result[value] = NAMES.findall(same[line])[place]
    return result


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _range(start: int, stop: int) -> str:
    return str(stop) if stop - start == 1 else f"{start + (stop > start)},{stop - start}"


def _rows(left: str | None, right: str | None, kind: _Kind, columns: int) -> Iterator[Row]:
    for at in range(0, max(len(left or ""), len(right or ""), 1), columns):
        cells = (
            None if line is None or 0 < at >= len(line) else line[at : at + columns]
            for line in (left, right)
        )
        yield Row(next(cells), next(cells), kind)


def pair_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[_Pair]:
    """Yield the lines of a replaced block, those that are alike in pairs."""
    for start in range(0, max(len(before), len(after)), _WINDOW):
        left, right = before[start : start + _WINDOW], after[start : start + _WINDOW]
        best = _best_pairs(left, right)
        i = j = 0
        while i < len(left) or j < len(right):
            removed = i < len(left) and best[i][j] == best[i + 1][j]
            added = not removed and j < len(right) and best[i][j] == best[i][j + 1]
            yield None if added else left[i], None if removed else right[j]
            i, j = i + (not added), j + (not removed)


def _best_pairs(before: Sequence[str], after: Sequence[str]) -> list[list[float]]:
    """Return how alike the lines from any one before and any one after on are, at best."""
    words = [[Counter(_WORD.findall(line)) for line in side] for side in (before, after)]
    best = [[0.0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i, j in product(reversed(range(len(before))), reversed(range(len(after)))):
        left, right = words[0][i], words[1][j]
        alike = 2 * (left & right).total() / ((left.total() + right.total()) or 1)
        pair = alike + best[i + 1][j + 1] if alike >= _ALIKE else 0.0
        best[i][j] = max(pair, best[i + 1][j], best[i][j + 1])
    return best
