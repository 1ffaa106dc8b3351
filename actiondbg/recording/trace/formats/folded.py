"""Collapsed stacks: a line for each distinct stack of names, with the sum of its self times in ns.

Source: ``stackcollapse-*.pl`` and ``flamegraph.pl`` of FlameGraph; inferno and Speedscope read the
same. Frames are separated by semicolons, and the number follows the last blank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from actiondbg.recording.recording import Recording
from actiondbg.recording.trace.byte_columns import Numbers
from actiondbg.recording.trace.slices import Slices, TracedProgram


class FoldedTrace:
    """Writes collapsed stacks, of which the outermost frame is the thread."""

    def __init__(self, program: TracedProgram) -> None:
        self._program = program
        self._names: dict[str, int] = {}
        # By thread: begins, ends, durations and the numbers of names, in the order in which they
        # are written.
        self._columns: defaultdict[int, list[tuple[Numbers, ...]]] = defaultdict(list)

    def head(self) -> bytes:
        return b""

    def batch(self, slices: Slices, recording: Recording) -> Iterator[tuple[bytes, int]]:
        """Keep the slices: the one around others may come in a later batch."""
        words = (str(each).replace(";", ":") for each in slices.names.values.to_pylist())
        numbers = np.array([self._names.setdefault(each, len(self._names)) for each in words])
        for span in slices.spans:
            rows = slice(span.first, span.last)
            names = numbers[slices.names.codes[rows]]
            times = slices.start[rows], slices.end[rows], slices.durations[rows]
            self._columns[span.thread].append((*times, names))
            yield b"", span.last - span.first

    def tail(self, note: str) -> bytes:
        names = list(self._names)
        lines = [
            f"{stack} {own}\n"
            for thread, parts in sorted(self._columns.items())
            for stack, own in _stacks(self._program.thread_name(thread), parts, names)
        ]
        return "".join(lines).encode(errors="replace")


def _stacks(
    thread: str, parts: list[tuple[Numbers, ...]], names: list[str]
) -> Iterator[tuple[str, int]]:
    """Yield the distinct stacks of a thread, each after the stack around it, with its self time."""
    begins, ends, durations, codes = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(begins)
    stacks = [thread]  # by their numbers
    own = [0]
    known: dict[tuple[int, int], int] = {}  # by the number of the stack around and the name
    around: list[tuple[int, int]] = []  # the ends and the stacks of the slices around
    columns = (column[order].tolist() for column in (begins, ends, durations, codes))
    for begin, end, duration, code in zip(*columns, strict=True):
        while around and around[-1][0] <= begin:
            around.pop()
        parent = around[-1][1] if around else 0
        stack = known.setdefault((parent, code), len(stacks))
        if stack == len(stacks):
            stacks.append(f"{stacks[parent]};{names[code]}")
            own.append(0)
        own[stack] += duration
        own[parent] -= duration if parent else 0
        around.append((end, stack))
    yield from ((stack, time) for stack, time in zip(stacks, own, strict=True) if time > 0)
