"""The tokens of MLIR's text: parts of regular expressions, the text of strings, and symbols.

The readers of IR are made of them. A string ends on its line, as its escapes are bytes of UTF-8.

Source: mlir/lib/AsmParser/Lexer.cpp.
"""

from __future__ import annotations

import re

# Groups are atomic, not possessive: before Python 3.11.5 possessive groups match wrongly. Two keep
# nothing for a way back, as they may be many megabytes: characters and blanks, which are tested.
CHARACTERS = r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'  # of a string
STRING = rf'"{CHARACTERS}"'
COMMENT = r"//[^\n]*+"
BLANKS = rf"\s*+(?:{COMMENT}\s*+)*+"  # with comments
ID = r"(?>(?:[.-]*+[\w$]++)+)"  # what follows a sigil; a dot or a dash at the end is not of it
VALUE = rf"%{ID}"  # without the #1 of a use and the :2 of a definition
RESULT = rf"{VALUE}(?::\d+)?"
RESULTS = rf"{RESULT}(?>(?:\s*,\s*{RESULT})*)\s*=(?!=)\s*"
SYMBOL = rf"@(?:{ID}|{STRING})"
SYMBOL_PATH = rf"{SYMBOL}(?>(?:::{SYMBOL})*)"
OPERATION = r"[A-Za-z_][\w$]*(?:\.[\w$]+)*"  # its name

_SPECIAL = re.compile(rb'[^\x20-\x7e]|"')
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"t": b"\t"}
_PART_OF_PATH = re.compile(rf'@(?:"({CHARACTERS})"|({ID}))')


def escaped(text: str) -> str:
    """Return what MLIR prints between the quotes of a string."""
    data = text.encode(errors="surrogateescape").replace(b"\\", b"\\\\")
    return _SPECIAL.sub(lambda one: b"\\%02X" % one[0][0], data).decode("ascii")


def unescaped(text: str) -> str:
    """Return the string whose text stands between quotes."""
    if "\\" not in text:
        return text
    data = _ESCAPE.sub(_byte, text.encode(errors="replace"))
    return data.decode(errors="replace")


def symbol_name(path: str) -> str:
    """Return a symbol without its sign and quotes: ``kernels::f`` for ``@kernels::@"f"``."""
    if '"' not in path:
        return path.replace("@", "")
    parts = _PART_OF_PATH.findall(path)
    return "::".join(plain or unescaped(quoted) for quoted, plain in parts)


def _byte(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 16)]) if len(code) == 2 else _LETTERS.get(code, code)
