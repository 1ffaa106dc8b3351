"""A profile as JSON: an object of functions or lines, or a list of objects.

``{"matmul_1": 0.5, "in.mlir:12": 0.25}`` is enough; ``{"unit": "ms", "times": {...}}`` gives the
unit. In a list, an object has ``time``, ``function`` or ``file`` and ``line``, and perhaps
``count``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from typing import cast

from actiondbg.errors import ActiondbgError
from actiondbg.lineage.performance.profiles.profile import Entry, Frame, Profile, place, summed

_SHOWN = 40  # characters of a value in a message
_KEYS = {"time", "function", "file", "line", "count"}


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
