"""Elision of large constants in printed IR, as MLIR's printer leaves out their elements."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import partial
from math import prod

# The elements of an attribute with its type, or the bytes of a resource.
_CONSTANT = re.compile(
    r'\bdense<(?P<elements>"0x[0-9A-F]*"|\[[^>]*\])>(?= : \w+<(?P<shape>(?:\[?\d+\]?x)*))'
    r'|(?<=: )(?P<bytes>"0x[0-9A-F]+")'
)


def without_elements(text: str, most: int) -> str:
    """Leave out the elements of constants of more than ``most``."""
    return _CONSTANT.sub(partial(_short, most=most, checksum=False), text)


def elided(before: Sequence[str], after: Sequence[str], most: int) -> tuple[list[str], list[str]]:
    """Leave out the elements of constants of more than ``most`` in the lines of two texts.

    Where that would make two lines equal that differ, a checksum tells them apart.
    """
    old, new = set(before), set(after)
    return _elided(before, new, new - old, most), _elided(after, old, old - new, most)


def _elided(lines: Sequence[str], others: set[str], changed: set[str], most: int) -> list[str]:
    short = partial(without_elements, most=most)
    same = set(map(short, changed))
    exact = partial(_CONSTANT.sub, partial(_short, most=most, checksum=True))
    return [
        exact(line) if line not in others and short(line) in same else short(line) for line in lines
    ]


def _short(match: re.Match[str], most: int, checksum: bool) -> str:
    """Return the text in the place of a constant."""
    is_bytes = match["bytes"] is not None
    text = match["bytes"] or match["elements"]
    count = len(text) // 2 - 2 if is_bytes else prod(map(int, re.findall(r"\d+", match["shape"])))
    if count <= most:
        return match[0]
    mark = f"__elided__ #{zlib.crc32(text.encode()):08x}" if checksum else "__elided__"
    return f'"{mark}"' if is_bytes else f"dense_resource<{mark}>"
