"""The lines of the file to which the locations of a stage point."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from actiondbg.ir.tokens import CHARACTERS, unescaped
from actiondbg.lineage.locations.source_range import Location
from actiondbg.lineage.stage import Operation, Stage

_PLACE = re.compile(rf'"({CHARACTERS})":(\d+):\d+')
_ENOUGH = 0.9  # the part of the operations whose names have to be on their lines


class SourceLines(NamedTuple):
    """A text with the lines of operations in it.

    Args:
        name: the file, or the name of the stage.
        lines: its lines.
        of: by index of an operation, its line, from 1.
    """

    name: str
    lines: list[str]
    of: dict[int, int]


@lru_cache(maxsize=65536)
def places(location: Location) -> tuple[tuple[str, int], ...]:
    """Return the files and lines that a location names, without duplicates; 0 is no line."""
    found = ((unescaped(file), int(line)) for file, line in _PLACE.findall(location.text))
    return tuple(dict.fromkeys(place for place in found if place[1]))


def source_lines(stage: Stage) -> SourceLines:
    """Return the file of the input if the locations of all operations point to it, else its IR.

    A file that was changed since is not shown: the names of operations have to be on their lines.
    """
    own = SourceLines(stage.name, stage.text_lines, dict(enumerate(stage.lines)))
    # A file need not have the module, and the custom form leaves bodies out, which then begin on
    # the line of the operation before them.
    shown = [
        index
        for index in range(len(stage))
        if (not index or stage.lines[index] != stage.lines[index - 1])
        and not stage.names[index].endswith("module")
    ]
    found = {index: places(location) for index, location in enumerate(stage.locations)}
    files = {file for of_one in found.values() for file, _ in of_one}
    if len(files) != 1:
        return own
    file = Path(files.pop())
    try:
        text = file.read_text(errors="replace").split("\n")
    except OSError:
        return own
    lines = {index: of_one[0][1] for index, of_one in found.items() if len(of_one) == 1}
    right = sum(
        index in lines
        and lines[index] <= len(text)
        and _short_name(stage[index]) in text[lines[index] - 1]
        for index in shown
    )
    return SourceLines(str(file), text, lines) if shown and right >= _ENOUGH * len(shown) else own


def _short_name(operation: Operation) -> str:
    return operation.name.rpartition(".")[2]
