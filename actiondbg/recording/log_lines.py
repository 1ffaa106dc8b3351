"""The lines of the text log: one for each action, written many at a time.

A line begins with fields of a fixed width, so that those of an action that is not over yet can be
written over when it is. Every different text is made once, and lines are joined of few parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from actiondbg.recording.arrow import Array, Bools, Ints, pa
from actiondbg.recording.layout import FOLDS, OUTCOMES
from actiondbg.recording.log_fields import Fields, Paint, no_paint

compute: Any = import_module("pyarrow.compute")

_FAILED = OUTCOMES.index("failed")
_INDENT = "  "  # for each action around
_MOST_KEYS = 1 << 22  # that are marked in a table; more are sorted
_FOLD_NOTES = [
    ": folded in place" if fold == "in-place" else f": folded to {fold}" for fold in FOLDS
]
_ODD_NOTE = ": though it changed the IR"


class Coded(NamedTuple):
    """Texts: for each its place among ``words``, from 0; -1 for none."""

    codes: Ints
    words: Array


@dataclass(frozen=True)
class Actions:
    """Some actions, in order; the arrays have one item for each.

    Args:
        ordinals: from 1.
        threads: their numbers.
        depths: how many actions are around each.
        outcomes: places in ``layout.OUTCOMES``.
        durations: in ns; anything for an unfinished one.
        tags: words.
        names: words; an empty one is no name.
        operations: what ``operation_texts`` wrote.
        reasons: why each failed.
        folds: places in ``layout.FOLDS`` plus 1; 0 for none.
        changed: whether each changed the IR.
    """

    ordinals: Ints
    threads: Ints
    depths: Ints
    outcomes: Ints
    durations: Ints
    tags: Coded
    names: Coded
    operations: Coded
    reasons: Coded
    folds: Ints
    changed: Bools


class LineWriter:
    """Writes lines, of which every one ends with a newline.

    Args:
        paint: colours a text by its role, "name" or an outcome; it adds as many bytes to each
            outcome as to each other.
    """

    def __init__(self, paint: Paint = no_paint) -> None:
        self.fields = Fields(paint)
        before, _, after = paint("name", "\0").partition("\0")
        self._name_around = f" ({before}", f"{after})"

    def lines(self, actions: Actions) -> Array:
        """Return a string for each action, none of them null."""
        return _joined(
            self.fields.array(
                actions.ordinals, actions.threads, actions.outcomes, actions.durations
            ),
            self._subjects(actions),
            _taken(actions.operations),
            notes(actions),
            "\n",
        )

    def _subjects(self, actions: Actions) -> Array:
        """Write the indentation, the tag and the name."""
        tags, names, depths = actions.tags, actions.names, actions.depths
        counts = len(tags.words), len(names.words)
        keys = (depths.astype(np.int64) * counts[0] + tags.codes) * counts[1] + names.codes
        different, places = distinct(keys)
        rest, name = np.divmod(different, counts[1])
        depth, tag = np.divmod(rest, counts[0])
        indents = pa.array([f" {_INDENT * n}" for n in range(int(depth.max(initial=0)) + 1)])
        texts = _joined(
            indents.take(pa.array(depth)),
            one_line(tags.words).take(pa.array(tag)),
            _around(names.words, *self._name_around).take(pa.array(name)),
        )
        return texts.take(pa.array(places))


def notes(actions: Actions) -> Array:
    """Write what stands at the end of lines: why it failed, or to what it folded; null if not."""
    words = pa.array([*_FOLD_NOTES, _ODD_NOTE])
    reasons = _around(actions.reasons.words, ": ")
    codes = actions.folds.astype(np.int64) - 1
    odd = (actions.outcomes == _FAILED) & actions.changed & (codes < 0)
    codes[odd] = len(words) - 1
    explained = actions.reasons.codes >= 0
    codes[explained] = actions.reasons.codes[explained] + len(words)
    return _taken(Coded(codes, pa.concat_arrays([words, reasons])))


def operation_texts(columns: Mapping[str, Array]) -> Array:
    """Write ``on @5 arith.addi in @f at in.mlir:3:4``, or as much of it as is known.

    Args:
        columns: of operations: operation, op, function, file, line and col. Words may be
            dictionaries; null is what is not known.
    """
    place = _joined(":", columns["line"].cast(pa.string()), ":", columns["col"].cast(pa.string()))
    return _joined(
        " on @",
        columns["operation"].cast(pa.string()),
        _word_pieces(columns["op"], " "),
        _word_pieces(columns["function"], " in @"),
        _word_pieces(columns["file"], " at "),
        compute.if_else(compute.is_valid(columns["line"]), place, None),
    )


def distinct(keys: Ints) -> tuple[Ints, Ints]:
    """Return the different numbers, sorted, and the place of each number among them."""
    size = int(keys.max(initial=-1)) + 1
    if size > _MOST_KEYS:
        return np.unique(keys, return_inverse=True)
    seen = np.zeros(size, np.bool_)
    seen[keys] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[keys]


def one_line(words: Array) -> Array:
    """Return words of which none has a line break in it."""
    return compute.replace_substring_regex(words, r"\s*[\r\n]\s*", " ")


def _around(words: Array, before: str, after: str = "") -> Array:
    """Put something around each word; an empty one becomes null."""
    written = compute.binary_join_element_wise(before, one_line(words), after, "")
    return compute.if_else(compute.equal(words, ""), None, written)


def _word_pieces(words: Array, before: str) -> Array:
    return _around(words.dictionary, before).take(words.indices)


def _taken(texts: Coded) -> Array:
    absent = texts.codes < 0
    return texts.words.take(pa.array(texts.codes, mask=absent if absent.any() else None))


def _joined(*parts: Any) -> Array:
    """Join texts row by row; null is the empty text."""
    return compute.binary_join_element_wise(
        *parts, "", null_handling="replace", null_replacement=""
    )
