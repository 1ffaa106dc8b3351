"""Chrome's JSON as Tracy's importer takes it.

Source: ``import/src/import-chrome.cpp`` of Tracy and the constructor of ``Worker`` that it calls.
It reads an array of events, or an object with one in ``traceEvents``, and of each event:

- ``ph``: X is a begin and an end; B, b, E, e, i, I and C are read too, and of M ``thread_name``;
- ``pid`` and ``tid``: natural numbers of 32 bits;
- ``ts`` and ``dur``: us, times 1000 and then cut, not rounded: 1.001 would be 1000 ns. So a half
  ns is added to each here, which the cut takes away;
- ``args``: become the zone's text, a line each;
- ``loc`` beside them: ``FILE:LINE``, or only a file. It is in no standard, and makes the zone's
  source location.

Begins and ends are sorted by their times; those of one time stay in the order of the file. An end
ends the innermost zone of its thread. That is right as no two times of a thread are the same.

A zone's source location is an index of 16 bits: of more than 32,767 different names, files and
lines the later ones are taken for others. So when there are many, the following zones have no
lines any more, and when there are more still, no files (their texts have both).
"""

from __future__ import annotations

import numpy as np

from actiondbg.recording.trace.byte_columns import Column, Lookup, joined
from actiondbg.recording.trace.formats.chrome import ChromeTrace, json_texts
from actiondbg.recording.trace.program import TracedProgram
from actiondbg.recording.trace.slices import Slices
from actiondbg.recording.trace.text_columns import NONE, TextColumn

_HALF_NS = "5"
MOST_LINES = 20_000  # source locations with lines, files and names
MOST_FILES = 30_000  # those with files and names as well; the rest is for names alone


class TracyTrace(ChromeTrace):
    """Writes a trace as ``tracy-import-chrome`` takes it.

    Args:
        program: whose trace it is.
    """

    def __init__(self, program: TracedProgram) -> None:
        super().__init__(program, beyond_ns=_HALF_NS)
        self._locations: set[tuple[str, str]] = set()  # that zones have: name and place

    def _more(self, slices: Slices) -> Column | None:
        """Return the finest locations of which there are not too many."""
        places = slices.places
        known = places.codes != NONE
        files = TextColumn(places.codes.copy(), places.files.values)
        files.codes[known] = places.files.codes[places.codes[known]]
        for texts, most in ((places.texts(columns=False), MOST_LINES), (files, MOST_FILES)):
            texts = texts.distinct()
            if self._take(slices.names, texts, most):
                return Lookup(texts.codes, joined(b',"loc":', json_texts(texts.values)))
        return None

    def _take(self, names: TextColumn, places: TextColumn, most: int) -> bool:
        """Use the locations that some zones would have, unless there were more then."""
        width = len(places.values) + 1  # one more: none
        pairs = np.unique(names.codes * width + places.codes + 1)
        if len(pairs) > most:
            return False
        named, placed = names.values.to_pylist(), ["", *places.values.to_pylist()]
        pairs = {(named[pair // width], placed[pair % width]) for pair in pairs.tolist()}
        if len(self._locations | pairs) > most:
            return False
        self._locations |= pairs
        return True
