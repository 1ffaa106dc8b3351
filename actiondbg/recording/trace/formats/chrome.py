"""Chrome's trace event format as JSON: complete events, which nest by their times.

Source: "Trace Event Format" of the Chromium project: the object format, phases X and M. The trace
is balanced even after a crash of the tool, because each event holds its own duration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from actiondbg.recording.format.arrow import Array, pa
from actiondbg.recording.recording import Recording
from actiondbg.recording.trace.byte_columns import (
    ByteColumn,
    Lookup,
    Numbers,
    Pieces,
    column_of,
    content_of,
    decimal,
    joined,
    merge,
    pc,
)
from actiondbg.recording.trace.slices import Slices, Span, TracedProgram
from actiondbg.support.decoders import json_bytes

_BLOCK = 1 << 15  # slices
_US = 1000  # ns
_SPECIAL = r'["\\\x00-\x1f]'  # characters that must be escaped


def json_texts(texts: Array) -> Pieces:
    """Encode many texts as JSON."""
    plain = joined(b'"', texts, b'"')
    special = pc.match_substring_regex(texts, _SPECIAL)
    places = np.flatnonzero(np.asarray(special))
    if not len(places):
        return plain
    escaped = [json_bytes(text) for text in texts.take(pa.array(places)).to_pylist()]
    order = np.arange(len(texts))
    order[places] = len(texts) + np.arange(len(places))
    values = pa.concat_arrays([plain, pa.array(escaped, type=pa.large_binary())])
    return values.take(pa.array(order))


class _Encoder:
    def texts(self, name: str, texts: Array) -> Pieces:
        return joined(b",%s:" % json_bytes(name), json_texts(texts))

    def truth(self, name: str) -> bytes:
        return b",%s:true" % json_bytes(name)

    def numbers(self, name: str, numbers: Numbers) -> Pieces:
        return joined(b",%s:" % json_bytes(name), decimal(numbers))


class ChromeTrace:
    """Writes a trace as Chrome's JSON.

    Args:
        program: the traced program.
        beyond_ns: further decimals after the three of a time in us.
    """

    def __init__(self, program: TracedProgram, beyond_ns: str = "") -> None:
        self._program = program
        self._threads: set[int] = set()  # already described
        decimals = [b".%03d%s" % (ns, beyond_ns.encode()) for ns in range(_US)]
        self._decimals = pa.array(decimals, type=pa.large_binary())

    def head(self) -> bytes:
        program = self._program
        main, labels = program.thread_id(0), " ".join(program.header.argv)
        metadata = [
            _metadata(program.pid, main, "process_name", {"name": program.name}),
            _metadata(program.pid, main, "process_labels", {"labels": labels}),
        ]
        return b'{"displayTimeUnit":"ns","traceEvents":[\n' + b",\n".join(map(json_bytes, metadata))

    def batch(
        self, slices: Slices, recording: Recording
    ) -> Iterator[tuple[bytes | memoryview, int]]:
        batch = _Batch(slices, self._more(slices))
        for span in slices.spans:
            yield b"".join(self._description(span.thread)), 0
            for first in range(span.first, span.last, _BLOCK):
                rows = slice(first, min(first + _BLOCK, span.last))
                events = self._events(batch, span, rows)
                yield content_of(events), rows.stop - rows.start

    def tail(self, note: str) -> bytes:
        program = self._program
        other = {
            "command": list(program.header.argv),
            "llvm": program.header.llvm,
            "started_unix_ns": program.header.started,
            **({"note": note} if note else {}),
        }
        return b'\n],"otherData":%s}\n' % json_bytes(other)

    def _more(self, slices: Slices) -> ByteColumn | None:
        """Return further members of events, each after a comma."""
        return None

    def _description(self, thread: int) -> Iterator[bytes]:
        if thread in self._threads:
            return
        self._threads.add(thread)
        program = self._program
        pid, number = program.pid, program.thread_id(thread)
        for kind, args in (
            ("thread_name", {"name": program.thread_name(thread)}),
            ("thread_sort_index", {"sort_index": thread}),
        ):
            yield b",\n" + json_bytes(_metadata(pid, number, kind, args))

    def _events(self, batch: _Batch, span: Span, rows: slice) -> Pieces:
        slices = batch.slices
        thread = self._program.thread_id(span.thread)
        start, end = slices.start[rows], slices.end[rows]
        return joined(
            b',\n{"ph":"X","pid":%d,"tid":%d,"ts":' % (self._program.pid, thread),
            *self._us(start),
            b',"dur":',
            *self._us(end - start),
            *(column.block(rows) for column in batch.titles),
            b',"args":{"ordinal":',
            decimal(slices.ordinals[rows]),
            *(column.block(rows) for column in batch.arguments),
            b"}}",
        )

    def _us(self, ns: Numbers) -> tuple[Pieces, Pieces]:
        whole, rest = np.divmod(ns, _US)
        return decimal(whole), self._decimals.take(pa.array(rest))


class _Batch:
    """The encoded columns of some slices."""

    def __init__(self, slices: Slices, more: ByteColumn | None) -> None:
        self.slices = slices
        names = joined(b',"name":', json_texts(slices.names.values))
        categories = joined(b',"cat":', json_texts(slices.categories.values))
        titles = [Lookup(slices.names.codes, names), Lookup(slices.categories.codes, categories)]
        self.titles = merge([*titles, *([] if more is None else [more])])
        self.arguments = merge([column_of(each, _Encoder()) for each in slices.arguments])


def _metadata(pid: int, thread: int, kind: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "pid": pid, "tid": thread, "name": kind, "args": args}
