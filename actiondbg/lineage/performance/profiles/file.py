"""The file of a profile, whose format is found by its content."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from actiondbg.errors import ActiondbgError
from actiondbg.lineage.performance.profiles.json_times import read_json
from actiondbg.lineage.performance.profiles.perf_script import is_perf_script, read_perf_script
from actiondbg.lineage.performance.profiles.profile import Entry, Frame, Profile, place, summed
from actiondbg.lineage.performance.profiles.table import is_table, read_table

_PERF_DATA = (b"PERFILE2", b"PERFFILE")
_COUNTED = re.compile(r"^\s*(\d{1,18}(?:\.\d{1,18})?)\s+(\S.*?)(?: \(discriminator \d+\))?$")
_UNKNOWN = ("??:0", "??:?", "??")


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
