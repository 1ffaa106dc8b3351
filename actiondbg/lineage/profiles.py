"""Run-time profiles of any format: times of code, whatever program measured them."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from actiondbg.errors import ActiondbgError

_PLACE = re.compile(r"^(.*?\S):(\d{1,9})(?::\d+)?$")


class ProfileFrame(NamedTuple):
    """A place in the code.

    Args:
        function: the symbol of the function, or the name of the dispatch; empty if unknown.
        file: the file of its debug info; empty without.
        line: the line in it; 0 if the debug info has none.
    """

    function: str = ""
    file: str = ""
    line: int = 0


class ProfileEntry(NamedTuple):
    """The time spent at one place.

    Args:
        time: in the unit of the profile.
        frames: the place, then those from which it was called; at least one.
        occurrences: how often it was measured: samples, calls or workgroups.
    """

    time: float
    frames: tuple[ProfileFrame, ...]
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
    entries: tuple[ProfileEntry, ...]

    @property
    def time(self) -> float:
        """The time of all entries."""
        return math.fsum(entry.time for entry in self.entries)


def place(text: str) -> ProfileFrame:
    """Return the frame of a text such as ``in.mlir:12``, ``in.mlir:12:3`` or a function."""
    found = _PLACE.match(text)
    return ProfileFrame(file=found[1], line=int(found[2])) if found else ProfileFrame(text)


def summed(entries: Iterable[ProfileEntry]) -> tuple[ProfileEntry, ...]:
    """Return entries with those of the same place joined, in the order of the first of each."""
    times: dict[tuple[ProfileFrame, ...], tuple[float, int]] = {}
    for entry in entries:
        time, count = times.get(entry.frames, (0.0, 0))
        times[entry.frames] = time + entry.time, count + entry.occurrences
    return tuple(ProfileEntry(time, frames, count) for frames, (time, count) in times.items())


# --- the output of perf script ---

# A sample is a line with an address, '7f03 name+0x1f (program)', or with call chains several of
# them and then an empty line. What comes before the address, such as the command, the time, the
# period and the event, depends on the fields that the user chose; -F +srcline adds a line
# '  file:line' after each address.


# The period, then the name of the event, such as cpu-clock:u or cycles:P.
_EVENT = re.compile(r"(?:^|\s)(?:(\d{1,18})\s+)?([A-Za-z][\w./=-]*(?::[A-Za-z]+)?):(?=\s|$)")
# A number before the address is a period without its event.
_ADDRESS = re.compile(r"^\s*(?:\d+\s+(?=[0-9a-f]+\s+[^\s(]))?[0-9a-f]{2,16}\s+(\S.*)$")
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_PROGRAM = re.compile(r"\s+\([^()]*\)$")
_LINE = re.compile(r"^\s+(\S.*?):(\d{1,9})(?:\s+\(.*\))?$")
_NANOSECONDS = ("cpu-clock", "task-clock")  # events whose period is a time
_HEAD = 50  # lines that show whether a file is such an output


class _Sample(NamedTuple):
    frames: list[ProfileFrame]
    period: int
    event: str


def is_perf_script(text: str) -> bool:
    """Whether the beginning of a file looks like the output of perf script."""
    head = text[:10_000].splitlines()[:_HEAD]
    return any(_frame_of(_after_event(line)[0]) is not None for line in head)


def read_perf_script(text: str) -> Profile:
    """Read the output of ``perf script``; without periods each sample counts 1.

    If several events were sampled, the first one is used.
    """
    lines = [line for line in text.strip("\n").splitlines() if not line.startswith("#")]
    samples = list(_chains(lines) if "" in lines else _single(lines))
    event = next((sample.event for sample in samples if sample.event), "")
    used = [sample for sample in samples if sample.event == event]
    name = event.partition(":")[0]
    is_weighted = bool(name) and all(sample.period for sample in used)
    unit = "samples" if not is_weighted else "ns" if name in _NANOSECONDS else name
    entries = (
        ProfileEntry(float(sample.period) if is_weighted else 1.0, tuple(sample.frames))
        for sample in used
    )
    return Profile("perf script", unit, summed(entries))


def _chains(lines: Iterable[str]) -> Iterator[_Sample]:
    """Iterate over samples with call chains, which end with an empty line."""
    block: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            block.append(line)
            continue
        # The event precedes the first address, mostly on a line of its own.
        rest, period, event = _after_event(block[0]) if block else ("", 0, "")
        frames = list(_frames([rest, *block[1:]]))
        if frames:
            yield _Sample(frames, period, event)
        block = []


def _single(lines: Iterable[str]) -> Iterator[_Sample]:
    """Iterate over samples of one address each."""
    kept: _Sample | None = None
    for line in lines:
        rest, period, event = _after_event(line)
        frame = _frame_of(rest)
        if frame is not None:
            if kept is not None:
                yield kept
            kept = _Sample([frame], period, event)
        elif kept is not None:
            kept = kept._replace(frames=[_with_line(kept.frames[0], line)])
    if kept is not None:
        yield kept


def _frames(lines: Iterable[str]) -> Iterator[ProfileFrame]:
    kept: ProfileFrame | None = None
    for line in lines:
        frame = _frame_of(line)
        if frame is None:
            kept = None if kept is None else _with_line(kept, line)
            continue
        if kept is not None:
            yield kept
        kept = frame
    if kept is not None:
        yield kept


def _with_line(frame: ProfileFrame, line: str) -> ProfileFrame:
    found = _LINE.match(line)
    return ProfileFrame(frame.function, found[1], int(found[2])) if found else frame


def _after_event(line: str) -> tuple[str, int, str]:
    """Return what follows the event of a line, the period and the event; without one, the line."""
    found = _EVENT.search(line)
    if found is None:
        return line, 0, ""
    return line[found.end() :], int(found[1] or 0), found[2]


def _frame_of(text: str) -> ProfileFrame | None:
    found = _ADDRESS.match(text)
    if found is None:
        return None
    name = _OFFSET.sub("", _PROGRAM.sub("", found[1]).strip())
    return ProfileFrame("" if name == "[unknown]" else name)


# --- CSV: Tracy's export, and counts of dispatches ---

# Tracy's tracy-csvexport writes one row for each zone (name, src_file, src_line, total_ns, counts),
# or with -u one for each time that it was entered (exec_time_ns). 'actiondbg kernels count --csv'
# writes one row for each call (dispatch, duration_ns) or function (total_ns, calls); other counters
# of dispatches use names of their own choice.


# By the column of the time, in the order of preference: a total before a mean.
_UNITS = {
    "total_ns": "ns",
    "duration_ns": "ns",
    "exec_time_ns": "ns",
    "time_ns": "ns",
    "ns": "ns",
    "total_us": "us",
    "duration_us": "us",
    "time_us": "us",
    "us": "us",
    "total_ms": "ms",
    "time_ms": "ms",
    "ms": "ms",
    "seconds": "s",
    "total_s": "s",
    "time_s": "s",
    "s": "s",
    "cycles": "cycles",
    "time": "s",
    "total": "s",
}
_NAMES = ("dispatch", "function", "kernel", "entry_point", "symbol", "name")
_COUNTS = ("counts", "count", "calls", "workgroups", "invocations")
_SEPARATORS = (",", ";", "\t", "|")
_DIGITS = 18  # of the largest count
_TRACY = ("src_file", "src_line")


class _Columns(NamedTuple):
    """The positions of columns; -1 for one that is absent."""

    name: int
    time: int
    occurrences: int
    file: int
    line: int


def is_table(text: str) -> bool:
    """Whether the first line of a file names a column of times, or one of names."""
    header = _header(_lines(text))
    return any(one in header for one in (*_UNITS, *_NAMES))


def read_table(text: str, name: str) -> Profile:
    """Read a CSV with a header.

    Args:
        text: the CSV; its columns are separated by commas, semicolons, tabs or bars.
        name: the file, for messages.

    Raises:
        ActiondbgError: it lacks a column, or a time is not a number.
    """
    lines = _lines(text)
    header = _header(lines)
    rows = csv.reader(lines[1:], delimiter=_separator(lines))
    unit, columns = _columns(header, name)
    is_tracy = set(_TRACY) <= set(header)
    try:
        entries = summed(_entries(rows, columns, name))
    except csv.Error as error:
        raise ActiondbgError(f"{name!r} is not valid CSV ({error}): write it anew.") from error
    return Profile("Tracy's CSV" if is_tracy else "CSV", unit, entries)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _separator(lines: Sequence[str]) -> str:
    return max(_SEPARATORS, key=lines[0].count) if lines else ","


def _header(lines: Sequence[str]) -> list[str]:
    """Return the names of the columns."""
    if not lines or len(lines[0]) > csv.field_size_limit():
        return []
    rows = csv.reader(lines[:1], delimiter=_separator(lines))
    return [one.strip().lower() for one in next(rows, list[str]())]


def _columns(header: Sequence[str], name: str) -> tuple[str, _Columns]:
    """Return the unit and the columns."""

    def of(names: Sequence[str]) -> int:
        return next((header.index(one) for one in names if one in header), -1)

    time, label = of(tuple(_UNITS)), of(_NAMES)
    if time < 0 or label < 0:
        missing = "a time" if time < 0 else "a name"
        known = ", ".join(_UNITS if time < 0 else _NAMES)
        raise ActiondbgError(
            f"{name!r} has no column of {missing} (it has {', '.join(header) or 'none'}): "
            f"name one {known}."
        )
    columns = _Columns(label, time, of(_COUNTS), of(_TRACY[:1]), of(_TRACY[1:]))
    return _UNITS[header[time]], columns


def _entries(rows: Iterator[list[str]], columns: _Columns, name: str) -> Iterator[ProfileEntry]:
    for number, row in enumerate(rows, 2):

        def cell(column: int, row: list[str] = row) -> str:
            return row[column].strip() if 0 <= column < len(row) else ""

        try:
            time = float(cell(columns.time))
        except ValueError:
            time = math.nan
        if not math.isfinite(time) or time < 0:
            raise ActiondbgError(
                f"Row {number} of {name!r} has the time {cell(columns.time)!r}: give a number "
                "from 0."
            )
        line, count = cell(columns.line), cell(columns.occurrences)
        frame = ProfileFrame(cell(columns.name), cell(columns.file), _whole(line, 0))
        yield ProfileEntry(time, (frame,), _whole(count, 1))


def _whole(text: str, otherwise: int) -> int:
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else otherwise


# --- files, whose format is found by their content ---


_PERF_DATA = (b"PERFILE2", b"PERFFILE")
_COUNTED = re.compile(r"^\s*(\d{1,18}(?:\.\d{1,18})?)\s+(\S.*?)(?: \(discriminator \d+\))?$")
_UNKNOWN = ("??:0", "??:?", "??")
_SHOWN = 40  # characters of a value in a message
_KEYS = {"time", "function", "file", "line", "count"}


def read_profile(path: Path) -> Profile:
    """Read a profile of any format; ``-`` is the standard input.

    Raises:
        ActiondbgError: the file cannot be read, or is no profile.
    """
    name = str(path)
    try:
        content = sys.stdin.buffer.read() if name == "-" else path.read_bytes()
    except OSError as error:
        raise ActiondbgError(
            f"{name!r} cannot be read ({error.strerror}): name a profile."
        ) from error
    if content.startswith(_PERF_DATA):
        raise ActiondbgError(
            f"{name!r} is the data of perf, not its text: give the output of "
            f"'perf script -i {name} -F event,period,ip,sym,srcline'."
        )
    text = content.decode(errors="replace")
    profile = _read(text, name)
    if not profile.entries or not profile.time:
        raise ActiondbgError(f"{name!r} has no time in it: is it the profile of a whole run?")
    return profile


def _read(text: str, name: str) -> Profile:
    if text.lstrip()[:1] in ("{", "["):
        return read_json(text, name)
    if is_counted(text):
        return read_counted(text)
    if is_perf_script(text):
        return read_perf_script(text)
    if is_table(text):
        return read_table(text, name)
    raise ActiondbgError(
        f"{name!r} has no known format of profiles: give the output of 'perf script', Tracy's "
        "CSV export, a CSV of dispatches, counted lines, or a JSON object of functions or "
        "FILE:LINE to times."
    )


def is_counted(text: str) -> bool:
    """Whether each of the first lines of a file is a number and a place."""
    head = [line for line in text[:10_000].splitlines()[:-1] if line.strip()]
    return bool(head) and all(_COUNTED.match(line) for line in head)


def read_counted(text: str) -> Profile:
    """Read counted places; each number is one of samples."""
    entries: list[ProfileEntry] = []
    for line in text.splitlines():
        if found := _COUNTED.match(line):
            where = found[2].removesuffix(":?")
            frame = ProfileFrame() if found[2] in _UNKNOWN else place(where)
            entries.append(ProfileEntry(float(found[1]), (frame,), int(float(found[1]))))
    return Profile("counted lines", "samples", summed(entries))


def read_json(text: str, name: str) -> Profile:
    """Read a profile as JSON.

    Args:
        text: the JSON.
        name: the file, for messages.

    Raises:
        ActiondbgError: it is not such a profile.
    """
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ActiondbgError(f"{name!r} is not valid JSON ({error}): write it anew.") from error
    unit = "s"
    if isinstance(value, dict) and "times" in value:
        whole = cast("dict[str, object]", value)
        unit, value = str(whole.get("unit", unit)), whole["times"]
    if isinstance(value, dict):
        entries = _of_object(cast("dict[str, object]", value), name)
    elif isinstance(value, list):
        entries = _of_list(cast("list[object]", value), name)
    else:
        raise ActiondbgError(
            f"{name!r} is not a profile: give a JSON object of functions or FILE:LINE to times, or "
            "a list of objects with 'time', and 'function' or 'file' and 'line'."
        )
    return Profile("JSON", unit, summed(entries))


def _of_object(times: dict[str, object], name: str) -> Iterator[ProfileEntry]:
    for text, time in times.items():
        yield ProfileEntry(_time(time, text, name), (place(text),))


def _of_list(rows: list[object], name: str) -> Iterator[ProfileEntry]:
    for number, row in enumerate(rows, 1):
        what = f"entry {number}"
        if not isinstance(row, dict):
            raise ActiondbgError(f"{what} of {name!r} is not an object: give it a 'time'.")
        fields = cast("dict[str, object]", row)
        function, file, line = fields.get("function"), fields.get("file"), fields.get("line")
        if fields.keys() - _KEYS or not (function or file):
            raise ActiondbgError(
                f"{what} of {name!r} has the keys {', '.join(fields) or 'none'}: give it 'time', "
                "and 'function' or 'file' and 'line'."
            )
        frame = ProfileFrame(
            str(function or ""), str(file or ""), line if isinstance(line, int) else 0
        )
        count = fields.get("count")
        yield ProfileEntry(
            _time(fields.get("time"), what, name),
            (frame,),
            count if isinstance(count, int) else 1,
        )


def _time(value: object, what: str, name: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):
            time = float(value)
            if math.isfinite(time) and time >= 0:
                return time
    shown = str(value)[:_SHOWN]
    raise ActiondbgError(f"The time of {what} in {name!r} is {shown}: give a number from 0.")
