"""Ranges of sizes on a command line."""

from __future__ import annotations

import re

from actiondbg.errors import UsageError

_SIZE = re.compile(r"[0-9]+\Z")


def parse_range(text: str) -> list[int]:
    """Return the sizes of ``64``, of a list ``64,128``, or of a range ``start:end:step``.

    The end of a range is not in it, as in Python; a list may have ranges.

    Raises:
        UsageError: the text is something else, or there is no size in it.
    """
    sizes: list[int] = []
    for part in text.split(","):
        bounds = part.strip().split(":")
        if len(bounds) > 3 or not all(map(_SIZE.match, bounds)):
            raise UsageError(
                f"'{part}' is not a size: write a number, numbers with commas, or start:end:step."
            )
        numbers = [int(each) for each in bounds]
        if len(numbers) == 1:
            sizes += numbers
            continue
        if len(numbers) == 3 and numbers[2] == 0:
            raise UsageError(f"The step of '{part}' is 0.")
        sizes += range(*numbers)
    if not sizes:
        raise UsageError(f"There is no size in '{text}': the end of a range is not in it.")
    return list(dict.fromkeys(sizes))
