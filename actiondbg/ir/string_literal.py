"""The text of MLIR's strings, whose escapes are bytes of UTF-8."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r'[\x00-\x1f"\\\x7f]')
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"t": b"\t"}


def escaped(text: str) -> str:
    """Return what stands between the quotes of a string."""
    return _SPECIAL.sub(lambda one: f"\\{ord(one[0]):02X}", text)


def unescaped(text: str) -> str:
    """Return the string whose text stands between quotes."""
    if "\\" not in text:
        return text
    data = _ESCAPE.sub(_byte, text.encode(errors="replace"))
    return data.decode(errors="replace")


def _byte(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 16)]) if len(code) == 2 else _LETTERS.get(code, code)
