"""Operations of a stage as users name them: a value, a symbol, a source line, or a name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from fnmatch import translate

from actiondbg.errors import UsageError
from actiondbg.ir.tokens import RESULT, VALUE, symbol_name
from actiondbg.lineage.locations.location_index import LocationIndex
from actiondbg.lineage.locations.source_files import same_file
from actiondbg.lineage.locations.source_range import SourceRange
from actiondbg.lineage.stage import Operation, Stage

_PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+)(?::(?P<column>\d+))?")
_VALUE = re.compile(rf"{VALUE}(?:#\d+)?")


def select(stage: Stage, text: str, index: LocationIndex) -> list[Operation]:
    """Return the operations of a stage that a text names, in the order of the stage.

    Args:
        stage: the operations.
        text: a value ``%x``, also an argument of a block, for the operation around
            the block; a symbol ``@f``; a place ``FILE:LINE`` or ``FILE:LINE:COLUMN`` of a source;
            or the name of operations, such as ``linalg.matmul`` or ``linalg.*``.
        index: of the locations of the stage.

    Raises:
        UsageError: it names no operation.
    """
    if text.startswith("%"):
        found = _of_value(stage, text)
    elif text.startswith("@"):
        found = _of_symbol(stage, text)
    elif place := _PLACE.fullmatch(text):
        found = _at_place(stage, place, index)
    else:
        found = _of_name(stage, text)
    if not found:
        raise UsageError(_unknown(stage, text, index))
    return found


def _of_value(stage: Stage, text: str) -> list[Operation]:
    if not _VALUE.fullmatch(text):
        raise UsageError(f"Invalid value {text!r}: write a name such as %3 or %arg0.")
    value = text.partition("#")[0]
    found = stage.with_result(value)
    if found:
        return found
    # Neither a first result: another one, or an argument. The text is searched once.
    name = re.escape(value)
    defines = re.compile(
        rf"(?m)^[ \t]*(?:{RESULT},\s*)+{name}(?::\d+)?\s*[,=]|{name}\s*(?::(?!:)|=(?!=))"
    )
    owners = dict[int, None]()
    for match in defines.finditer(stage.text):
        line = stage.text.count("\n", 0, match.end()) + 1
        owner = bisect_right(stage.lines, line) - 1
        if owner >= 0:
            owners[_around(stage, owner, line)] = None
    return [stage[owner] for owner in owners]


def _around(stage: Stage, index: int, line: int) -> int:
    """Return the innermost operation around a line: a label stands in no operation before it."""
    while stage.last_lines[index] < line and stage.parents[index] >= 0:
        index = stage.parents[index]
    return index


def _of_symbol(stage: Stage, text: str) -> list[Operation]:
    """Return the operations that a symbol names: as MLIR writes it, or without its quotes."""
    for path in dict.fromkeys((symbol_name(text), text.replace("@", ""))):
        *outer, last = path.split("::")
        inside = outer[::-1]
        found = [
            operation
            for operation in stage.with_symbol(last)
            if [one.symbol for one in operation.around if one.symbol][: len(outer)] == inside
        ]
        if found:
            return found
    return []


def _at_place(stage: Stage, place: re.Match[str], index: LocationIndex) -> list[Operation]:
    file, line, column = place["file"], int(place["line"]), int(place["column"] or 0)
    asked = SourceRange(file, line, column, line, column)
    found = index.overlapping([asked])
    # The lines of the dump itself, if its operations have locations in other files.
    if not found and same_file(stage.name, file):
        return stage.on_line(line)
    return [stage[one] for one in sorted(found)]


def _of_name(stage: Stage, text: str) -> list[Operation]:
    if not set(text) & set("*?["):
        return stage.named(text)
    matches = re.compile(translate(text)).match
    wanted = {name for name in set(stage.names) if matches(name)}
    return [stage[at] for at, name in enumerate(stage.names) if name in wanted]


def _unknown(stage: Stage, text: str, index: LocationIndex) -> str:
    start = f"No operation of {stage.title}"
    if text.startswith("%"):
        return f"{start} defines {text}."
    if text.startswith("@"):
        return f"{start} defines the symbol {text}."
    if _PLACE.fullmatch(text):
        files = _some(index.files)
        return f"{start} is at {text}: its locations are in {files}."
    near = sorted({name for name in stage.names if _last(name) == _last(text)})
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"{start} is named {text!r}: write %value, @symbol, FILE:LINE or a name.{hint}"


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _some(files: Sequence[str]) -> str:
    return ", ".join(repr(file) for file in files[:3]) or "no file"
