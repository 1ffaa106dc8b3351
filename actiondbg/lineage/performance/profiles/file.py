"""The file of a profile, whose format is found by its content."""

from __future__ import annotations

import sys
from pathlib import Path

from actiondbg.errors import ActiondbgError
from actiondbg.lineage.performance.profiles.counted_lines import is_counted, read_counted
from actiondbg.lineage.performance.profiles.json_times import read_json
from actiondbg.lineage.performance.profiles.perf_script import is_perf_script, read_perf_script
from actiondbg.lineage.performance.profiles.profile import Profile
from actiondbg.lineage.performance.profiles.table import is_table, read_table

_PERF_DATA = (b"PERFILE2", b"PERFFILE")


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
