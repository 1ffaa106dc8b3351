"""The lines of the text log: one per action, formatted many at a time.

A line begins with fields of fixed width, so that those of an unfinished action can be overwritten
when it ends. Every distinct text is formatted once; a line joins a few texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from actiondbg.recording.format.arrow import Array, Bools, Ints, pa
from actiondbg.recording.format.layout import FOLDS, OUTCOMES
from actiondbg.recording.format.structs import Space
from actiondbg.recording.log.fields import Fields, Paint
from actiondbg.recording.log.text import Coded, joined, number_parts, one_line, piece

# The text before each word that describes an operation.
BEFORE: dict[int, str] = {Space.OPERATION: " ", Space.FUNCTION: " in @", Space.FILE: " at "}

_FAILED = OUTCOMES.index("failed")
_INDENT = "  "  # per enclosing action
_FOLD_NOTES = [
    ": folded in place" if fold == "in-place" else f": folded to {fold}" for fold in FOLDS
]
_ODD_NOTE = ": though it changed the IR"
_NOTES: Array = pa.array([f"{note}\n" for note in ("", *_FOLD_NOTES, _ODD_NOTE)])


@dataclass(frozen=True)
class LogActions:
    """Actions in order; the arrays have one item per action.

    Args:
        ordinals: from 1.
        threads: thread numbers.
        depths: the number of enclosing actions.
        outcomes: indices in ``layout.OUTCOMES``.
        durations: in ns; ignored for unfinished actions.
        subjects: from ``subject``.
        operations: from ``operation_texts``.
        reasons: from ``reason_note``.
        folds: indices in ``layout.FOLDS`` plus 1; 0 for none.
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


def formatted(fields: Fields, actions: LogActions) -> Array:
    """Return one line per action, each with its newline, never null."""
    deepest = int(actions.depths.max(initial=0))
    indents = pa.array([f" {_INDENT * n}" for n in range(deepest + 1)])
    return joined(
        [
            *fields.parts(actions.ordinals, actions.threads, actions.outcomes, actions.durations),
            Coded(actions.depths, indents),
            actions.subjects,
            actions.operations,
            notes(actions),
        ]
    )


def subject(tag: str, name: str, paint: Paint) -> str:
    """Format the tag and the name, if there is one."""
    return one_line(tag) + (f" ({paint('name', one_line(name))})" if name else "")


def reason_note(reason: str) -> str:
    """Format the end of a line with the reason of a failure."""
    return piece(": ", reason) + "\n"


def operation_texts(numbers: Ints, words: Sequence[Coded], lines: Ints, columns: Ints) -> Array:
    """Format ``on @5 arith.addi in @f at in.mlir:3:4``, without missing parts.

    Args:
        numbers: operation ids.
        words: operation names, symbols of the enclosing functions, and files, each after its text
            of ``BEFORE``.
        lines: lines of the locations; negative for none.
        columns: columns of the locations; negative for none.
    """
    places = (*number_parts(":", lines), *number_parts(":", columns))
    return joined([*number_parts(" on @", numbers), *words, *places])


def notes(actions: LogActions) -> Coded:
    """Format the ends of the lines: the reason of a failure, or the result of a fold."""
    codes = actions.folds.astype(np.int32)
    odd = (actions.outcomes == _FAILED) & actions.changed & (codes == 0)
    codes[odd] = len(_NOTES) - 1
    explained = actions.reasons.codes >= 0
    codes[explained] = actions.reasons.codes[explained] + len(_NOTES)
    return Coded(codes, pa.concat_arrays([_NOTES, actions.reasons.words]))
