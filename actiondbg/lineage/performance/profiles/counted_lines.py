"""Counted places, as ``addr2line ... | sort | uniq -c`` writes them: ``  495 in.mlir:140``."""

from __future__ import annotations

import re

from actiondbg.lineage.performance.profiles.profile import Entry, Frame, Profile, place, summed

_COUNTED = re.compile(r"^\s*(\d{1,18}(?:\.\d{1,18})?)\s+(\S.*?)(?: \(discriminator \d+\))?$")
_UNKNOWN = ("??:0", "??:?", "??")


def is_counted(text: str) -> bool:
    """Whether each of the first lines of a file is a number and a place."""
    head = [line for line in text[:10_000].splitlines()[:-1] if line.strip()]
    return bool(head) and all(_COUNTED.match(line) for line in head)


def read_counted(text: str) -> Profile:
    """Read counted places; each number is one of samples."""
    entries: list[Entry] = []
    for line in text.splitlines():
        if found := _COUNTED.match(line):
            where = found[2].removesuffix(":?")
            frame = Frame() if found[2] in _UNKNOWN else place(where)
            entries.append(Entry(float(found[1]), (frame,), int(float(found[1]))))
    return Profile("counted lines", "samples", summed(entries))
