"""Chrome's JSON in the dialect of Tracy's importer.

Source: ``import/src/import-chrome.cpp`` of Tracy and the constructor of ``Worker`` that it calls.
It reads an array of events, or an object with an array in ``traceEvents``, and these members:

- ``ph``: X is a begin and an end; B, b, E, e, i, I and C are supported, and ``thread_name`` of M;
- ``pid`` and ``tid``: unsigned numbers of 32 bits;
- ``ts`` and ``dur``: us, multiplied by 1000 and truncated: 1.001 would become 1000 ns. So each
  gets half a ns here, which the truncation removes;
- ``args``: become the zone's text, one a line;
- ``loc``: ``FILE:LINE`` or a file, a member outside of any standard; the zone's source location.

Begins and ends are sorted by time, stably. An end ends the innermost zone of its thread, which is
correct because all times of a thread are distinct.

A zone's source location is an index of 16 bits: beyond 32,767 distinct names, files and lines the
importer confuses them. So when there are many, the following zones have no lines, and when there
are still more, no files (their texts have both).
"""

from __future__ import annotations

import numpy as np

from actiondbg.recording.trace.byte_columns import NONE, ByteColumn, Lookup, TextColumn, joined
from actiondbg.recording.trace.formats.chrome import ChromeTrace, json_texts
from actiondbg.recording.trace.slices import Slices, TracedProgram

_HALF_NS = "5"
MOST_LINES = 20_000  # source locations with lines, files and names
MOST_FILES = 30_000  # with files and names; the rest is for names alone


class TracyTrace(ChromeTrace):
    """Writes a trace for ``tracy-import-chrome``."""

    def __init__(self, program: TracedProgram) -> None:
        super().__init__(program, beyond_ns=_HALF_NS)
        self._locations: set[tuple[str, str]] = set()  # name and place, already used

    def _more(self, slices: Slices) -> ByteColumn | None:
        """Return the most precise locations that are not too many."""
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
        """Add the locations of some zones, unless the total would exceed the limit."""
        width = len(places.values) + 1  # plus one for none
        pairs = np.unique(names.codes * width + places.codes + 1)
        if len(pairs) > most:
            return False
        named, placed = names.values.to_pylist(), ["", *places.values.to_pylist()]
        pairs = {(named[pair // width], placed[pair % width]) for pair in pairs.tolist()}
        if len(self._locations | pairs) > most:
            return False
        self._locations |= pairs
        return True
