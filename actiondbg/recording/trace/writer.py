"""The writer of traces, from a complete or a growing recording."""

from __future__ import annotations

import contextlib
import gzip
import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from actiondbg.recording.capture.recorder import RecordedRun, RecordingProcess
from actiondbg.recording.errors import RecordingError, lacks
from actiondbg.recording.format.arrow import pa
from actiondbg.recording.format.file import RecordingFile, count_actions, read_file
from actiondbg.recording.recording import Recording, divide, part_of
from actiondbg.recording.trace.formats.chrome import ChromeTrace
from actiondbg.recording.trace.formats.folded import FoldedTrace
from actiondbg.recording.trace.formats.perfetto import PerfettoTrace
from actiondbg.recording.trace.formats.tracy import TracyTrace
from actiondbg.recording.trace.options import GZIP, ZSTD, Format, SliceSelection
from actiondbg.recording.trace.slices import SliceMaker, Slices, TracedProgram
from actiondbg.support.atomic_write import open_whole
from actiondbg.support.interrupts import HeldInterrupts

Progress = Callable[[int, int], None]  # takes the number of chunks written and their total

PART = 1 << 19  # actions per part
_GROWTH = 1 << 20  # bytes of growth before the next part is written
_SECONDS = 0.05  # between two checks of the recording's size
_SHARE = 16  # and at least this fraction of the size: each part costs time for all before it
_GZIP_LEVEL = 1  # several times as fast as the default, for slightly larger files


@dataclass(frozen=True)
class Written:
    """The number of actions in a recording, and of the slices and threads in its trace.

    ``cut`` is a sentence on why the recording may be incomplete; or None.
    """

    actions: int
    slices: int
    threads: int
    cut: str | None


class Writer(Protocol):
    """Writes a trace in a format."""

    def head(self) -> bytes:
        """Return the beginning of the file."""
        ...

    def batch(
        self, slices: Slices, recording: Recording
    ) -> Iterator[tuple[bytes | memoryview, int]]:
        """Yield the content for some slices in pieces, each with its number of slices.

        A slice that ends late may come in a later batch than those inside it.
        """
        ...

    def tail(self, note: str) -> bytes:
        """Return the end of the file, with a note on the run, or ""."""
        ...


_WRITERS: dict[Format, Callable[[TracedProgram], Writer]] = {
    "chrome": ChromeTrace,
    "perfetto": PerfettoTrace,
    "tracy": TracyTrace,
    "folded": FoldedTrace,
}


class _Nothing(Exception):
    """The tool ended without a recording."""

    def __init__(self, done: RecordedRun) -> None:
        self.done = done


class _SeveralThreads(Exception):
    """The followed recording has actions of several threads."""


def write_trace(
    path: str | os.PathLike[str],
    output: str,
    kind: Format,
    selection: SliceSelection | None = None,
    *,
    partial: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Write a recording as a trace.

    Args:
        path: the recording.
        output: the path of the trace, compressed if it ends with .gz or .zst.
        kind: the format.
        selection: the actions that become slices; None for all, failed attempts folded.
        partial: read a damaged recording up to the damage.
        progress: receives the number of chunks written and their total.

    Raises:
        RecordingError: the recording cannot be read.
        OSError: the trace cannot be written.
    """
    file = read_file(path, partial)
    with open_trace(output) as out:
        trace = TraceFile(out, kind, selection or SliceSelection())
        if trace.takes_parts(file):
            for last in divide(file.chunks, PART):
                trace.add_part(file, last)
                if progress is not None:
                    progress(last, len(file.chunks))
        return trace.finish(file)


def trace_run(
    running: RecordingProcess, output: str, kind: Format, selection: SliceSelection
) -> tuple[RecordedRun, Written | None]:
    """Write the trace of a tool while it runs; see ``write_trace``.

    Returns:
        The ended run, and the content of the trace; None without a recording.

    Raises:
        OSError: the trace cannot be written.
    """
    assert running.path is not None
    try:
        if can_restart(output):
            return _follow(running, running.path, output, kind, selection)
    except _SeveralThreads:
        pass
    except OSError:
        running.wait()  # a failure to write the trace does not stop the tool
        raise
    done = running.wait()
    if done.path is None:
        return done, None
    return done, write_trace(done.path, output, kind, selection, partial=True)


def _follow(
    running: RecordingProcess, path: Path, output: str, kind: Format, selection: SliceSelection
) -> tuple[RecordedRun, Written | None]:
    """Write the trace while the tool runs; raises _SeveralThreads if that is impossible."""
    try:
        with open_trace(output) as out:
            trace = TraceFile(out, kind, selection)
            read = 0  # bytes
            while (done := running.poll(_SECONDS)) is None:
                try:
                    with HeldInterrupts():  # an interrupt in the middle would break the trace
                        read = _add_growth(trace, path, read)
                except KeyboardInterrupt:
                    running.interrupt()
            if done.path is None:
                raise _Nothing(done)
            file = read_file(path, partial=True)
            if read and not trace.takes_parts(file):
                raise _SeveralThreads
            return done, trace.finish(file)
    except _Nothing as nothing:
        return nothing.done, None


def _add_growth(trace: TraceFile, path: Path, read: int) -> int:
    """Write the next part of a recording that has grown enough since ``read`` bytes of it.

    Returns:
        The size of the recording up to which it is written now, in bytes.

    Raises:
        _SeveralThreads: the trace cannot be written before the end of the run.
    """
    size = os.stat(path).st_size
    if size - read < max(_GROWTH, size // _SHARE):
        return read
    try:
        file = read_file(path, partial=True)
    except RecordingError:
        return read  # the header is not written yet
    if not trace.takes_parts(file):
        raise _SeveralThreads
    trace.add_part(file, len(file.chunks))
    return size


class TraceFile:
    """A trace that is written part by part."""

    def __init__(self, out: Output, kind: Format, selection: SliceSelection) -> None:
        if kind == "folded" and selection.failed == "fold":
            # Equal stacks are added up anyway, and each attempt counts for its own pattern.
            selection = selection._replace(failed="keep")
        self._out = out
        self._make = _WRITERS[kind]
        self._selection = selection
        self._maker = SliceMaker(selection)
        self._writer: Writer | None = None
        self._chunks = 0  # already written
        self._slices = 0
        self._threads: set[int] = set()

    def takes_parts(self, file: RecordingFile) -> bool:
        """Whether a recording can be written part by part.

        With several threads, ordinals and parents are only known when all actions are.
        """
        is_of_one = all(each.thread == 0 or not count_actions([each]) for each in file.chunks)
        return self._selection.where is None and is_of_one

    def add_part(self, file: RecordingFile, last: int) -> None:
        """Write the finished slices of the chunks since the last part, up to ``last``."""
        self._add(file, self._part(file, last), last=False)
        self._chunks = last

    def finish(self, file: RecordingFile) -> Written:
        """Write the last part and the end."""
        whole = Recording(file)
        self._add(file, self._part(file, len(file.chunks)) if self._chunks else whole, last=True)
        self._out.write(self._the_writer(file).tail(_note(whole)))
        return Written(whole.count, self._slices, len(self._threads), whole.cut)

    def _part(self, file: RecordingFile, last: int) -> Recording:
        if not self._chunks:
            return part_of(file, 0, last, (), 0)
        return part_of(file, self._chunks, last, self._maker.kept, self._maker.undecided)

    def _add(self, file: RecordingFile, part: Recording, *, last: bool) -> None:
        writer = self._the_writer(file)
        slices = self._maker.make(part, last=last)
        for content, count in writer.batch(slices, part):
            self._out.write(content)
            self._slices += count
        self._threads |= {span.thread for span in slices.spans}

    def _the_writer(self, file: RecordingFile) -> Writer:
        if self._writer is None:
            if file.header.imported:
                raise RecordingError(lacks(file.path, file.header.imported, "times"))
            self._writer = self._make(TracedProgram(file.header))
            self._out.write(self._writer.head())
        return self._writer


def _note(recording: Recording) -> str:
    ending = recording.ending
    crash = f"The tool crashed with signal {ending.signal}." if ending.ended == "crash" else ""
    return recording.cut or crash


class Output(Protocol):
    """An open file, or a compressor in front of it."""

    def write(self, content: bytes | memoryview, /) -> object:
        """Write some bytes."""
        ...


def can_restart(path: str) -> bool:
    """Whether a path is a regular file or free, so that a partial output can be discarded."""
    return os.path.isfile(path) or not os.path.exists(path)


@contextlib.contextmanager
def open_trace(path: str) -> Generator[Output]:
    """Open a file for a trace, compressed if its name ends with .gz or .zst.

    A regular file is replaced when everything is written; on an error it stays as it was. Other
    files, such as /dev/stdout, are written directly.

    Raises:
        OSError: the file cannot be written.
    """
    with open_whole(path) as file:
        if path.lower().endswith(GZIP):
            # Without name and time, so that a recording always gives the same bytes.
            with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as out:
                yield out
        elif path.lower().endswith(ZSTD):
            with pa.CompressedOutputStream(file, "zstd") as out:
                yield out
        else:
            yield file
