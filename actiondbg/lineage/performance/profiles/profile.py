"""A run-time profile: times of code, whatever program measured them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

_PLACE = re.compile(r"^(.*?\S):(\d{1,9})(?::\d+)?$")


class Frame(NamedTuple):
    """A place in the code.

    Args:
        function: the symbol of the function, or the name of the dispatch; empty if unknown.
        file: the file of its debug info; empty without.
        line: the line in it; 0 if the debug info has none.
    """

    function: str = ""
    file: str = ""
    line: int = 0


class Entry(NamedTuple):
    """The time spent at one place.

    Args:
        time: in the unit of the profile.
        frames: the place, then those from which it was called; at least one.
        occurrences: how often it was measured: samples, calls or workgroups.
    """

    time: float
    frames: tuple[Frame, ...]
    occurrences: int = 1


@dataclass(frozen=True)
class Profile:
    """The entries of a profile.

    Args:
        format: what wrote it, such as ``perf script``.
        unit: of the times: ``s``, ``ns``, ..., or ``samples``.
        entries: one for each place, in the order of the file.
    """

    format: str
    unit: str
    entries: tuple[Entry, ...]

    @property
    def time(self) -> float:
        """The time of all entries."""
        return math.fsum(entry.time for entry in self.entries)


def place(text: str) -> Frame:
    """Return the frame of a text such as ``in.mlir:12``, ``in.mlir:12:3`` or a function."""
    found = _PLACE.match(text)
    return Frame(file=found[1], line=int(found[2])) if found else Frame(text)


def summed(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return entries with those of the same place joined, in the order of the first of each."""
    times: dict[tuple[Frame, ...], tuple[float, int]] = {}
    for entry in entries:
        time, count = times.get(entry.frames, (0.0, 0))
        times[entry.frames] = time + entry.time, count + entry.occurrences
    return tuple(Entry(time, frames, count) for frames, (time, count) in times.items())
