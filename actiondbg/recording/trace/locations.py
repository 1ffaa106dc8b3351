"""Source locations of slices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actiondbg.recording.format.arrow import pa
from actiondbg.recording.trace.byte_columns import Pieces, decimal, joined
from actiondbg.recording.trace.rows import TraceRows
from actiondbg.recording.trace.selection import ChosenSlices
from actiondbg.recording.trace.text_columns import NONE, Numbers, TextColumn


@dataclass(frozen=True)
class SliceLocations:
    """The first place in the location of each slice's operation.

    Args:
        codes: for each slice the index of its place, or NONE.
        files: the file of each distinct place.
        lines: the line of each distinct place.
        columns: the column of each distinct place.
    """

    codes: Numbers
    files: TextColumn
    lines: Numbers
    columns: Numbers

    def texts(self, *, columns: bool = True) -> TextColumn:
        """Format the places as ``FILE:LINE:COL``, or as ``FILE:LINE``."""
        files = self.files.values.take(self.files.codes)
        parts: list[Pieces | bytes] = [files, b":", decimal(self.lines)]
        if columns:
            parts += [b":", decimal(self.columns)]
        return TextColumn(self.codes, joined(*parts).cast(pa.large_string()))


def find_locations(rows: TraceRows, chosen: ChosenSlices) -> SliceLocations:
    """Return the source locations of slices."""
    files = rows.texts("file", chosen.rows)
    lines, columns = (rows.numbers(name)[chosen.rows] for name in ("line", "col"))
    known = files.codes != NONE
    pairs = _paired(_paired(files.codes[known], lines[known]), columns[known])
    distinct, codes = np.unique(pairs, return_inverse=True)
    example = np.empty(len(distinct), np.int64)
    example[codes] = np.flatnonzero(known)
    of_all = np.full(len(known), NONE)
    of_all[known] = codes
    return SliceLocations(
        of_all, TextColumn(files.codes[example], files.values), lines[example], columns[example]
    )


def _paired(codes: Numbers, numbers: Numbers) -> Numbers:
    """Return a small number for each distinct pair, so that a third column can be paired."""
    width = int(numbers.max(initial=NONE)) - NONE + 1
    _, paired = np.unique(codes * width + numbers - NONE, return_inverse=True)
    return paired
