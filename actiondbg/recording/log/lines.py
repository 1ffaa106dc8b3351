"""The lines of the text log: one for each action, written many at a time.

A line begins with fields of a fixed width, so that those of an action that is not over yet can be
written over when it is. Every different text is made once, and lines are joined of few parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actiondbg.recording.format.arrow import Array, Bools, Ints, pa
from actiondbg.recording.format.layout import FOLDS, OUTCOMES
from actiondbg.recording.format.structs import Space
from actiondbg.recording.log.fields import Fields, Paint, no_paint
from actiondbg.recording.log.text import Coded, joined, number_parts, one_line, piece

# What stands before words that tell of an operation.
BEFORE: dict[int, str] = {Space.OPERATION: " ", Space.FUNCTION: " in @", Space.FILE: " at "}

_FAILED = OUTCOMES.index("failed")
_INDENT = "  "  # for each action around
_FOLD_NOTES = [
    ": folded in place" if fold == "in-place" else f": folded to {fold}" for fold in FOLDS
]
_ODD_NOTE = ": though it changed the IR"
_NOTES: Array = pa.array([f"{note}\n" for note in ("", *_FOLD_NOTES, _ODD_NOTE)])


@dataclass(frozen=True)
class LogActions:
    """Some actions, in order; the arrays have one item for each.

    Args:
        ordinals: from 1.
        threads: their numbers.
        depths: how many actions are around each.
        outcomes: places in ``layout.OUTCOMES``.
        durations: in ns; anything for an unfinished one.
        subjects: what ``subject`` wrote of each.
        operations: what ``operation_texts`` wrote.
        reasons: what ``reason_note`` wrote.
        folds: places in ``layout.FOLDS`` plus 1; 0 for none.
        changed: whether each changed the IR.
    """

    ordinals: Ints
    threads: Ints
    depths: Ints
    outcomes: Ints
    durations: Ints
    subjects: Coded
    operations: Coded
    reasons: Coded
    folds: Ints
    changed: Bools


@dataclass(frozen=True)
class LogOperations:
    """Some operations; the arrays have one item for each.

    Args:
        numbers: of the operations.
        names: with ``BEFORE`` before each, as in ``functions`` and ``files``.
        functions: the symbols around them.
        files: where they come from.
        lines: in these; negative if not known.
        columns: in these.
    """

    numbers: Ints
    names: Coded
    functions: Coded
    files: Coded
    lines: Ints
    columns: Ints


class LineWriter:
    """Writes lines, of which every one ends with a newline.

    Args:
        paint: colours a text by its role, "name" or an outcome; it adds as many bytes to each
            outcome as to each other.
    """

    def __init__(self, paint: Paint = no_paint) -> None:
        self.fields = Fields(paint)

    def lines(self, actions: LogActions) -> Array:
        """Return a string for each action, none of them null."""
        deepest = int(actions.depths.max(initial=0))
        indents = pa.array([f" {_INDENT * n}" for n in range(deepest + 1)])
        return joined(
            [
                *self.fields.parts(
                    actions.ordinals, actions.threads, actions.outcomes, actions.durations
                ),
                Coded(actions.depths, indents),
                actions.subjects,
                actions.operations,
                _notes(actions),
            ]
        )


def subject(tag: str, name: str, paint: Paint) -> str:
    """Write the tag and the name, if there is one."""
    return one_line(tag) + (f" ({paint('name', one_line(name))})" if name else "")


def reason_note(reason: str) -> str:
    """Write at the end of a line why an action failed."""
    return piece(": ", reason) + "\n"


def operation_texts(operations: LogOperations) -> Array:
    """Write ``on @5 arith.addi in @f at in.mlir:3:4``, or as much of it as is known."""
    return joined(
        [
            *number_parts(" on @", operations.numbers),
            operations.names,
            operations.functions,
            operations.files,
            *number_parts(":", operations.lines),
            *number_parts(":", operations.columns),
        ]
    )


def _notes(actions: LogActions) -> Coded:
    """Write the ends of the lines: why it failed, or to what it folded."""
    codes = actions.folds.astype(np.int32)
    odd = (actions.outcomes == _FAILED) & actions.changed & (codes == 0)
    codes[odd] = len(_NOTES) - 1
    explained = actions.reasons.codes >= 0
    codes[explained] = actions.reasons.codes[explained] + len(_NOTES)
    return Coded(codes, pa.concat_arrays([_NOTES, actions.reasons.words]))
