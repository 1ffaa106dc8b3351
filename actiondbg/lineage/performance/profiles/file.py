"""The file of a profile, whose format is found by its content."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

from actiondbg.errors import ActiondbgError
from actiondbg.lineage.performance.profiles.perf_script import is_perf_script, read_perf_script
from actiondbg.lineage.performance.profiles.profile import Entry, Frame, Profile, place, summed
from actiondbg.lineage.performance.profiles.table import is_table, read_table

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
    entries: list[Entry] = []
    for line in text.splitlines():
        if found := _COUNTED.match(line):
            where = found[2].removesuffix(":?")
            frame = Frame() if found[2] in _UNKNOWN else place(where)
            entries.append(Entry(float(found[1]), (frame,), int(float(found[1]))))
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


def _of_object(times: dict[str, object], name: str) -> Iterator[Entry]:
    for text, time in times.items():
        yield Entry(_time(time, text, name), (place(text),))


def _of_list(rows: list[object], name: str) -> Iterator[Entry]:
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
        frame = Frame(str(function or ""), str(file or ""), line if isinstance(line, int) else 0)
        count = fields.get("count")
        yield Entry(
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
