"""The counted calls of a program, and their cost: totals, statistics, and files of CSV."""

from __future__ import annotations

import csv
import io
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.errors import KernelError
from actiondbg.statistics.events import USER_ONLY
from actiondbg.statistics.quantities import (
    DURATION,
    Flags,
    Floats,
    Integers,
    Quantity,
    QuantityRelation,
    all_measured,
    quantity_of,
    relations_of,
    sums_by_group,
)
from actiondbg.support.atomic_write import open_whole
from actiondbg.support.globs import glob_matches

# struct Header of agent/calls/ThreadLog.c.
_HEADER = struct.Struct("<8s4I2I2Q2I16s")
_MAGIC, _VERSION = b"ADBCALL\0", 1
_NAMES, _NOTES, _CALLS = ".names", ".notes", ".calls"
_MOST_NAMES = 20
# 'actiondbg cost' reads both files by the names of their columns.
COLUMNS = ("dispatch", "library", "thread", "cpu", "node", "start_ns", "duration_ns")
_TOTALS = ("dispatch", "library", "calls", "total_ns")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


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


class NothingCounted(ActiondbgError):
    """No call was counted."""


@dataclass(frozen=True)
class FunctionTotal:
    """The cost of a function.

    Args:
        calls: the number of calls: one for each workgroup of a dispatch.
        duration: nanoseconds.
        events: the counts by event name, over the calls that counted it.
        means: the counts for each of these calls; None if there are none.
    """

    function: Function
    calls: int
    duration: float
    events: dict[str, float]
    means: dict[str, float | None]

    def as_json(self) -> dict[str, object]:
        return {
            "library": self.function.library,
            "name": self.function.name,
            "calls": self.calls,
            "duration_ns": self.duration,
            "events": {
                name: {"total": total, "per_call": self.means[name]}
                for name, total in self.events.items()
            },
        }


@dataclass(frozen=True)
class ThreadTotal:
    """The calls of a thread.

    Args:
        duration: nanoseconds.
        cpus: the number of calls on each CPU.
    """

    thread: Thread
    calls: int
    duration: float
    cpus: dict[int, int]

    def as_json(self) -> dict[str, object]:
        cpus = {str(cpu): calls for cpu, calls in self.cpus.items()}
        return {
            **self.thread._asdict(),
            "calls": self.calls,
            "duration_ns": self.duration,
            "cpus": cpus,
        }


@dataclass(frozen=True)
class CallStatistics:
    """The statistics of calls.

    Args:
        thread: the thread of the calls; None for all.
        quantities: the duration and the events.
        relations: the dependence between each two of them.
    """

    thread: Thread | None
    quantities: list[Quantity]
    relations: list[QuantityRelation]

    @property
    def calls(self) -> int:
        return len(self.quantities[0].values)

    def as_json(self) -> dict[str, object]:
        return {
            "thread": self.thread._asdict() if self.thread else None,
            "calls": self.calls,
            "quantities": {one.name: one.as_json() for one in self.quantities},
            "relations": [
                {
                    "first": each.first.name,
                    "second": each.second.name,
                    "pearson": each.pearson,
                    "spearman": each.spearman,
                    "first_given_second": each.first_given_second.tolist(),
                    "second_given_first": each.second_given_first.tolist(),
                }
                for each in self.relations
            ],
        }


@dataclass(frozen=True)
class CallCost:
    """The cost of the calls of a program.

    Args:
        functions: the total of each function, the costliest first.
        threads: the total of each thread.
        statistics: of all calls or of each thread; empty if they are of several functions.
    """

    calls: Calls
    functions: list[FunctionTotal]
    threads: list[ThreadTotal]
    statistics: list[CallStatistics]

    def as_json(self) -> dict[str, object]:
        return {
            "calls": self.calls.size,
            "events": list(self.calls.events),
            "functions": [total.as_json() for total in self.functions],
            "threads": [total.as_json() for total in self.threads],
            "statistics": [one.as_json() for one in self.statistics],
            "notes": self.calls.notes,
        }


@dataclass(frozen=True)
class CallSelection:
    """The calls to measure, and how.

    Args:
        name: a glob of function names; None for all.
        skip_start: leave out calls that began earlier, in milliseconds.
        buckets: the number of quantile buckets.
        by_thread: statistics of each thread instead of all calls.
    """

    name: str | None = None
    skip_start: float = 0.0
    buckets: int = 16
    by_thread: bool = False


def cost_of(calls: Calls, selection: CallSelection) -> CallCost:
    """Return the cost of the selected calls.

    Raises:
        NothingCounted: there is no such call.
    """
    selected = calls if selection.name is None else calls.named(selection.name)
    if not selected.size:
        raise NothingCounted(" ".join([_why_nothing(calls, selection.name), *calls.notes]))
    late = selected.from_time(selection.skip_start)
    if not late.size:
        raise NothingCounted(
            f"All {selected.size:,} calls began in the first {selection.skip_start:g} ms: give a "
            "smaller --skip-start."
        )
    functions = function_totals(late)
    threads = _thread_totals(late)
    statistics: list[CallStatistics] = []
    if selection.by_thread:
        used = np.unique(late.thread)
        statistics = [_statistics(late, selection.buckets, int(thread)) for thread in used]
    elif len(functions) == 1 or selection.name is not None:
        statistics = [_statistics(late, selection.buckets, None)]
    return CallCost(late, functions, threads, statistics)


def nodes_of_cpus(folder: Path = Path("/sys/devices/system/node")) -> dict[int, int]:
    nodes: dict[int, int] = {}
    for path in folder.glob("node[0-9]*/cpulist"):
        node = int(path.parent.name.removeprefix("node"))
        for part in path.read_text().strip().split(","):
            first, _, last = part.partition("-")
            if first:
                nodes.update(dict.fromkeys(range(int(first), int(last or first) + 1), node))
    return nodes


def _why_nothing(calls: Calls, name: str | None) -> str:
    names = list(dict.fromkeys(function.name for function in calls.functions))
    if not names:
        return (
            "No function was counted: the program loaded no module of IREE and no kernel of a "
            "shared library, or it is linked statically."
        )
    some = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
    if name is not None and not any(function.counted for function in calls.functions):
        return f"No function matches {name!r}: the program has {some}."
    return f"No function was called: the program loaded {some}."


def function_totals(calls: Calls) -> list[FunctionTotal]:
    """Return the cost of each function, the costliest first."""
    used, group = np.unique(calls.function, return_inverse=True)

    def by_function(values: Floats) -> list[float]:
        return [float(each) for each in sums_by_group(values, group, len(used))]

    number = np.bincount(group, minlength=len(used))
    duration = by_function(calls.duration)
    sums = {name: by_function(np.nan_to_num(one)) for name, one in calls.events.items()}
    counted = {
        name: by_function((~np.isnan(one)).astype(np.float64)) for name, one in calls.events.items()
    }
    totals = [
        FunctionTotal(
            calls.functions[int(function)],
            int(number[i]),
            duration[i],
            {name: values[i] for name, values in sums.items()},
            {
                name: values[i] / counted[name][i] if counted[name][i] else None
                for name, values in sums.items()
            },
        )
        for i, function in enumerate(used)
    ]
    return sorted(totals, key=lambda total: -total.duration)


def _thread_totals(calls: Calls) -> list[ThreadTotal]:
    totals: list[ThreadTotal] = []
    for index in np.unique(calls.thread):
        own = calls.only(calls.thread == index)
        cpus, number = np.unique(own.cpu, return_counts=True)
        totals.append(
            ThreadTotal(
                calls.threads[int(index)],
                own.size,
                float(np.sum(own.duration)),
                {int(cpu): int(count) for cpu, count in zip(cpus, number, strict=True)},
            )
        )
    return totals


def _statistics(calls: Calls, buckets: int, thread: int | None) -> CallStatistics:
    """Return the statistics of the calls of a thread, or of all, that counted all events."""
    if thread is not None:
        calls = calls.only(calls.thread == thread)
    counted = calls.only(calls.counted)
    # Threads whose counters could not be opened have durations only.
    whole = counted if counted.size else calls
    events = whole.events if counted.size else {}
    quantities = [
        quantity_of(DURATION, whole.duration, buckets),
        *(quantity_of(name, values, buckets) for name, values in events.items()),
    ]
    return CallStatistics(
        None if thread is None else calls.threads[thread], quantities, relations_of(quantities)
    )


def write_csv_files(calls: Calls, folder: Path) -> list[Path]:
    """Write one row per call, and one per function; missing counts are empty.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    nodes = nodes_of_cpus()
    paths: list[Path] = []
    for thread in np.unique(calls.thread):
        path = folder / _file_name(calls.threads[int(thread)])
        # Numbers of processes and threads occur again.
        serials = range(2, len(paths) + 3)
        others = (path.with_stem(f"{path.stem}-{serial}") for serial in serials)
        path = next(each for each in (path, *others) if each not in paths)
        paths.append(path)
        _write_thread(calls, int(thread), path, nodes)
    return [*paths, _write_functions(calls, folder / "functions.csv")]


def _write_thread(calls: Calls, index: int, path: Path, nodes: dict[int, int]) -> Path:
    thread = calls.threads[index]
    own = calls.only(calls.thread == index)
    columns = [
        np.array([function.name for function in calls.functions])[own.function].tolist(),
        np.array([function.library for function in calls.functions])[own.function].tolist(),
        [thread.name] * own.size,
        own.cpu.tolist(),
        [nodes.get(int(cpu), 0) for cpu in own.cpu],
        _whole(own.start),
        _whole(own.duration),
        *(_whole(values) for values in own.events.values()),
    ]
    return _write(path, [*COLUMNS, *own.events], zip(*columns, strict=True))


def _write_functions(calls: Calls, path: Path) -> Path:
    rows = [
        (
            *(total.function.name, total.function.library, total.calls, int(total.duration)),
            *(int(count) for count in total.events.values()),
        )
        for total in function_totals(calls)
    ]
    return _write(path, [*_TOTALS, *calls.events], rows)


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with open_whole(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows(rows)
        text.detach()  # flushes
    return path


def _file_name(thread: Thread) -> str:
    name = _UNSAFE.sub("_", thread.name) or "thread"
    return f"calls-{thread.process}-{thread.number}-{name}.csv"


def _whole(values: Floats) -> list[int | str]:
    return ["" if np.isnan(value) else int(value) for value in values]
