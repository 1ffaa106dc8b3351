"""The names in the source text of a module: its operations and functions.

The text is searched, not parsed: names are for messages and completion, and the file may be large,
or of a dialect that only the tool can parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_MAX_BYTES = 4 << 20  # of a file; the rest is not searched

_COMMENT = re.compile(rb"//[^\n]*")
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*"')
_GENERIC = re.compile(rb'"([A-Za-z_][\w$-]*(?:\.[\w$-]+)+)"\s*[(<]')
# What comes before a name is checked after its beginning: a search for a letter or a text is fast.
_OPERATION = re.compile(rb"[a-z_](?<![\w.$!#@%^:\"-].)[\w$]*+(?:\.[\w$]+)++(?![\w.$]|\s*=)")
_FUNCTION = re.compile(rb"func(?<!\wfunc)(?:tion)?\s[^@\n(]*@(?:\"([^\"\n]+)\"|([\w$.-]+))")
_SYMBOL = re.compile(rb'sym_name(?<!\wsym_name)\s*=\s*"([^"\n]+)"')


class SourceNames(NamedTuple):
    """The names in source text.

    Attributes:
        operations: names with a dialect, such as arith.addi.
        functions: symbols of functions.
    """

    operations: frozenset[str]
    functions: frozenset[str]


def source_names(files: Iterable[Path]) -> SourceNames:
    """Return the names in files; one that cannot be read has none."""
    operations: set[bytes] = set()
    functions: set[bytes] = set()
    for file in files:
        text = _COMMENT.sub(b"", _text(file))
        functions.update(quoted or plain for quoted, plain in _FUNCTION.findall(text))
        functions.update(_SYMBOL.findall(text))
        operations.update(_GENERIC.findall(text))
        operations.update(_OPERATION.findall(_STRING.sub(b'""', text)))
    return SourceNames(_decoded(operations), _decoded(functions))


def _text(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_MAX_BYTES)
    except OSError:
        return b""


def _decoded(names: Iterable[bytes]) -> frozenset[str]:
    return frozenset(name.decode(errors="replace") for name in names)
