"""The counted calls of a program, as columns: the files that the preloaded library writes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from actiondbg.kernels.errors import KernelError
from actiondbg.statistics.buckets import Flags, Floats, Integers, all_measured
from actiondbg.statistics.events import USER_ONLY
from actiondbg.support.globs import glob_matches

# struct Header of agent/calls/ThreadLog.c.
_HEADER = struct.Struct("<8s4I2I2Q2I16s")
_MAGIC, _VERSION = b"ADBCALL\0", 1
_NAMES, _NOTES, _CALLS = ".names", ".notes", ".calls"


class CountsUnreadable(KernelError):
    """A folder has no counts, or its files are damaged."""


class Function(NamedTuple):
    """A function that a program loaded.

    Args:
        library: the executable library of IREE, or the file of a kernel.
    """

    library: str
    name: str
    counted: bool


class Thread(NamedTuple):
    """A thread with counted calls."""

    process: int
    number: int
    name: str


@dataclass(frozen=True)
class Calls:
    """Counted calls; arrays have one item per call.

    Args:
        functions: the functions that the program loaded, each once.
        function: an index into ``functions``.
        thread: an index into ``threads``.
        cpu: the number of the CPU at the end of the call.
        start: nanoseconds since the first call of the process.
        duration: nanoseconds.
        events: counts by event name; NaN where an event was not counted.
        notes: sentences about what was not counted.
    """

    functions: list[Function]
    threads: list[Thread]
    function: Integers
    thread: Integers
    cpu: Integers
    start: Floats
    duration: Floats
    events: dict[str, Floats]
    notes: list[str]

    @property
    def size(self) -> int:
        return len(self.function)

    @property
    def counted(self) -> Flags:
        """Whether all events were counted, for each call."""
        return all_measured(self.events.values(), self.size)

    def only(self, flags: Flags) -> Calls:
        """Return the calls whose flag is set."""
        return replace(
            self,
            function=self.function[flags],
            thread=self.thread[flags],
            cpu=self.cpu[flags],
            start=self.start[flags],
            duration=self.duration[flags],
            events={name: values[flags] for name, values in self.events.items()},
        )

    def named(self, glob: str) -> Calls:
        """Return the calls of the functions whose name matches a glob."""
        matching = [glob_matches(glob, function.name) for function in self.functions]
        return self.only(np.array(matching, dtype=np.bool_)[self.function])

    def from_time(self, milliseconds: float) -> Calls:
        """Return the calls that began some milliseconds after the first one of their process."""
        if not milliseconds:
            return self
        late = self.start >= milliseconds * 1e6
        early = int(np.sum(~late))
        notes = [f"Calls within --skip-start, left out: {early:,}."] if early else []
        return replace(self.only(late), notes=[*self.notes, *notes])


class _Log(NamedTuple):
    """The calls of a thread, with the functions of its process."""

    thread: Thread
    records: np.ndarray[tuple[int], np.dtype[np.void]]
    events: list[str]
    functions: list[int]


def has_counts(folder: Path) -> bool:
    return folder.is_dir() and any(folder.glob(f"*{_NAMES}"))


def read_calls(folder: Path) -> Calls:
    """Read the counts of all processes.

    Raises:
        CountsUnreadable: a file is not one of the library.
    """
    functions: dict[Function, int] = {}
    events: dict[str, None] = {}
    logs: list[_Log] = []
    notes: dict[str, None] = {}
    for path in sorted(folder.glob(f"*{_NAMES}")):
        names, own = _read_names(path, functions)
        events.update(dict.fromkeys(names))
        process = path.name.removesuffix(_NAMES)
        noted = path.with_suffix(_NOTES)
        if noted.exists():
            notes.update(dict.fromkeys(noted.read_text(errors="replace").splitlines()))
        for calls in sorted(folder.glob(f"{process}-*{_CALLS}")):
            logs += _read_log(calls, names, own, list(functions), notes)
    return _joined(list(functions), logs, list(events), list(notes))


def _read_names(path: Path, functions: dict[Function, int]) -> tuple[list[str], list[int]]:
    """Read the events and functions of a process.

    Returns:
        The names of the events, and for each number of the process the index of its function.
    """
    events: list[str] = []
    own: list[int] = []
    for line in path.read_text(errors="replace").splitlines():
        first, *fields = line.split("\t")
        if first == "events":
            events = fields
        elif len(fields) == 3 and first.isdecimal():
            counted, library, name = fields
            index = functions.setdefault(Function(library, name, counted == "1"), len(functions))
            own += [0] * (int(first) + 1 - len(own))
            own[int(first)] = index
    return events, own


def _read_log(
    path: Path,
    names: Sequence[str],
    own: list[int],
    functions: Sequence[Function],
    notes: dict[str, None],
) -> Iterator[_Log]:
    with path.open("rb") as file:
        content = file.read(_HEADER.size)
    if len(content) < _HEADER.size or not content[0]:
        return  # killed while the file was created
    magic, version, header, size, events, mask, users, count, lost, running, number, name = (
        _HEADER.unpack_from(content)
    )
    if magic != _MAGIC or version != _VERSION or size != 24 + 8 * events:
        raise CountsUnreadable(
            f"{str(path)!r} was not written by this version of actiondbg: count again."
        )
    text = name.split(b"\0")[0].decode(errors="replace")
    thread = Thread(int(path.name.split("-")[0]), number, text)
    if lost:
        notes[f"Calls of thread {number} that were not kept, for lack of space: {lost:,}."] = None
    if running:
        last: Function = functions[own[int(running) - 1]]
        notes[f"The program ended within a call of {last.name}, in thread {number}."] = None
    count = max(min(count, (path.stat().st_size - header) // size), 0)
    kind = np.dtype(
        [
            ("start", "<u8"),
            ("duration", "<u8"),
            ("function", "<u4"),
            ("cpu", "<u4"),
            ("events", "<u8", (events,)),
        ]
    )
    opened = [
        event + (USER_ONLY if users >> bit & 1 and not event.endswith(USER_ONLY) else "")
        for bit, event in enumerate(names)
        if mask >> bit & 1
    ]
    if count:
        records = np.memmap(path, kind, "r", header, (count,))
        yield _Log(thread, records, opened, own)


def _joined(
    functions: list[Function], logs: Sequence[_Log], events: list[str], notes: list[str]
) -> Calls:
    counted = dict.fromkeys(name for log in logs for name in log.events)
    events = [name for name in events if name in counted or name + USER_ONLY not in counted]
    columns = list(dict.fromkeys((*events, *counted)))
    first: dict[int, int] = {}
    for log in logs:
        process = log.thread.process
        begin = int(log.records["start"].min())
        first[process] = min(begin, first.get(process, begin))
    return Calls(
        functions,
        [log.thread for log in logs],
        _integers([np.asarray(log.functions)[log.records["function"]] for log in logs]),
        _integers([np.full(len(log.records), index) for index, log in enumerate(logs)]),
        _integers([log.records["cpu"] for log in logs]),
        _floats([log.records["start"] - np.uint64(first[log.thread.process]) for log in logs]),
        _floats([log.records["duration"] for log in logs]),
        {name: _floats([_event_of(log, name) for log in logs]) for name in columns},
        notes,
    )


def _event_of(log: _Log, name: str) -> Floats:
    if name not in log.events:
        return np.full(len(log.records), np.nan)
    return log.records["events"][:, log.events.index(name)].astype(np.float64)


def _integers(parts: Sequence[np.ndarray[tuple[int], np.dtype[np.generic]]]) -> Integers:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)


def _floats(parts: Sequence[np.ndarray[tuple[int], np.dtype[np.generic]]]) -> Floats:
    return np.concatenate([np.zeros(0, dtype=np.float64), *parts]).astype(np.float64)
