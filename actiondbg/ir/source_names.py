"""The names in the source text of a module: its operations and functions.

The text is searched, not parsed: names are for messages and completion, and the file may be large,
or of a dialect that only the tool can parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from actiondbg.ir.tokens import COMMENT, STRING

_MAX_BYTES = 4 << 20  # of a file; the rest is not searched

_COMMENT = re.compile(COMMENT.encode())
_STRING = re.compile(STRING.encode())
_GENERIC = re.compile(rb'"([A-Za-z_][\w$-]*(?:\.[\w$-]+)+)"\s*[(<]')
# What comes before a name is checked after its beginning: a search for a letter or a text is fast.
_OPERATION = re.compile(rb"[a-z_](?<![\w.$!#@%^:\"-].)[\w$]*+(?>(?:\.[\w$]+)+)(?![\w.$]|\s*=)")
_FUNCTION = re.compile(rb"func(?<!\wfunc)(?:tion)?\s[^@\n(]*@(?:\"([^\"\n]+)\"|([\w$.-]+))")
_SYMBOL = re.compile(rb'sym_name(?<!\wsym_name)\s*=\s*"([^"\n]+)"')
_PYTHON_FUNCTION = re.compile(rb"^[ \t]*def[ \t]+(\w+)", re.MULTILINE)


class SourceNames:
    """The names in the text of files, searched at their first use.

    Args:
        files: one that cannot be read has no names.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        paths = list(files)
        self._texts = [_text(file) for file in paths]
        self._of = dict(zip(paths, self._texts, strict=True))
        self._programs = [
            text for file, text in zip(paths, self._texts, strict=True) if file.suffix == ".py"
        ]

    def may_have(self, name: str) -> bool:
        """Whether a name is anywhere in the text, even as a part of another."""
        return any(name.encode(errors="replace") in text for text in self._texts)

    def line_count(self, file: Path) -> int | None:
        """Return the number of lines of a file; None if it is unknown, as of bytecode."""
        text = self._of.get(file)
        if not text or b"\0" in text:
            return None
        if len(text) == _MAX_BYTES:
            return _line_count(file)
        return text.count(b"\n") + (not text.endswith(b"\n"))

    @cached_property
    def operations(self) -> frozenset[str]:
        """Names with a dialect, such as arith.addi."""
        found: set[bytes] = set()
        for text in self._code:
            found.update(_GENERIC.findall(text))
            found.update(_OPERATION.findall(_STRING.sub(b'""', text)))
        return _decoded(found)

    @cached_property
    def functions(self) -> frozenset[str]:
        """Symbols of functions."""
        found: set[bytes] = set()
        for text in self._code:
            found.update(quoted or plain for quoted, plain in _FUNCTION.findall(text))
            found.update(_SYMBOL.findall(text))
        for text in self._programs:
            found.update(_PYTHON_FUNCTION.findall(text))
        return _decoded(found)

    @cached_property
    def _code(self) -> list[bytes]:
        # In a Python program, // divides, and names with a dot are no operations.
        return [_COMMENT.sub(b"", text) for text in self._texts if text not in self._programs]


def _line_count(file: Path) -> int | None:
    """Return the number of lines of a large file; None if it cannot be read."""
    count, last = 0, b""
    try:
        with file.open("rb") as stream:
            while part := stream.read(_MAX_BYTES):
                count, last = count + part.count(b"\n"), part
    except OSError:
        return None
    return count + (not last.endswith(b"\n"))


def _text(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_MAX_BYTES)
    except OSError:
        return b""


def _decoded(names: Iterable[bytes]) -> frozenset[str]:
    return frozenset(name.decode(errors="replace") for name in names)
