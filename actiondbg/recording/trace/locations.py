"""Where the operations of slices are from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actiondbg.recording.format.arrow import pa
from actiondbg.recording.trace.byte_columns import Pieces, decimal, joined
from actiondbg.recording.trace.rows import Rows
from actiondbg.recording.trace.selection import Chosen
from actiondbg.recording.trace.texts import NONE, Numbers, Texts


@dataclass(frozen=True)
class Places:
    """The first place of the location of each slice's operation.

    Args:
        codes: for each slice the index of its place, or NONE.
        files: of the places, each of which is there once.
        lines: of the places.
        columns: of the places.
    """

    codes: Numbers
    files: Texts
    lines: Numbers
    columns: Numbers

    def texts(self, *, columns: bool = True) -> Texts:
        """Return them as ``FILE:LINE:COL``, or as ``FILE:LINE``."""
        files = self.files.values.take(self.files.codes)
        parts: list[Pieces | bytes] = [files, b":", decimal(self.lines)]
        if columns:
            parts += [b":", decimal(self.columns)]
        return Texts(self.codes, joined(*parts).cast(pa.large_string()))


def find_places(rows: Rows, chosen: Chosen) -> Places:
    """Return where the operations of slices are from."""
    files = rows.texts("file", chosen.rows)
    lines, columns = (rows.numbers(name)[chosen.rows] for name in ("line", "col"))
    known = files.codes != NONE
    pairs = _paired(_paired(files.codes[known], lines[known]), columns[known])
    distinct, codes = np.unique(pairs, return_inverse=True)
    example = np.empty(len(distinct), np.int64)
    example[codes] = np.flatnonzero(known)
    of_all = np.full(len(known), NONE)
    of_all[known] = codes
    return Places(
        of_all, Texts(files.codes[example], files.values), lines[example], columns[example]
    )


def _paired(codes: Numbers, numbers: Numbers) -> Numbers:
    """Return a number for each pair, few as they are: so that a third can be put to them."""
    width = int(numbers.max(initial=NONE)) - NONE + 1
    _, paired = np.unique(codes * width + numbers - NONE, return_inverse=True)
    return paired
