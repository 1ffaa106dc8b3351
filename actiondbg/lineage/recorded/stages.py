"""The stages of a recorded run."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence, Set
from itertools import chain

import numpy as np

from actiondbg.ir.tokens import STRING, SYMBOL_PATH, VALUE
from actiondbg.ir.tree.columns import Columns
from actiondbg.ir.tree.outline import last_line
from actiondbg.ir.tree.tree import Tree
from actiondbg.ir.value_names import ValueNames
from actiondbg.lineage.locations import Location
from actiondbg.lineage.stage import Stage
from actiondbg.recording.recorded_text import RecordedText
from actiondbg.recording.tables.snapshots import IRText, RecordedStage

_RESULT = re.compile(rf"\s*({VALUE})")
_SYMBOL = re.compile(rf"{STRING}|({SYMBOL_PATH})")
# As mlir-opt prints the modules of --split-input-file, and reads them again.
_BETWEEN_MODULES = "\n// -----\n"


def stage_of(name: str, parts: Sequence[RecordedStage]) -> Stage:
    """Return the stage of all modules that a run began with, or ended with.

    Values of the input have the names of the file from which it was parsed.

    Args:
        name: the stage's name.
        parts: one for each module, in order.
    """
    heights = (part.text.count("\n") + _BETWEEN_MODULES.count("\n") for part in parts)
    offsets = np.cumsum([0, *heights]).tolist()
    lines: list[int] = []
    for part, offset in zip(parts, offsets, strict=False):
        lines += (part.lines + offset).tolist()
    nodes = list(chain.from_iterable(part.operations.tolist() for part in parts))
    names = list(chain.from_iterable(part.names for part in parts))
    text = _BETWEEN_MODULES.join(
        RecordedText(IRText(part.text, part.values), ValueNames()).text for part in parts
    )
    known: dict[str, Location] = {}
    return Stage(
        **vars(_tree(text, names, _parents(parts), lines)),
        name=name,
        nodes=nodes,
        locations=[
            known.setdefault(text, Location(text))
            for text in chain.from_iterable(part.locations for part in parts)
        ],
    )


def listed_stage(
    name: str,
    first: Stage,
    made: Mapping[int, str],
    erased: Set[int],
    texts: Mapping[int, str],
) -> Stage:
    """Return the operations at a time of which no IR was recorded, such as that of a crash.

    Args:
        name: of the stage.
        first: the input.
        made: the names of the operations that were made up to then.
        erased: the operations that were erased up to then.
        texts: the texts of locations.
    """
    names = dict(zip(first.nodes, first.names, strict=True)) | dict(made)
    for node in erased:
        names.pop(node, None)
    nodes = sorted(names)
    known = dict(zip(first.nodes, first.locations, strict=True))
    locations = [Location(texts[node]) if node in texts else known[node] for node in nodes]
    lines = range(1, len(nodes) + 1)
    return Stage(
        name=name,
        text="\n".join(
            f"{names[node]} loc({location.text})"
            for node, location in zip(nodes, locations, strict=True)
        ),
        nodes=nodes,
        names=[names[node] for node in nodes],
        parents=[-1] * len(nodes),
        lines=lines,
        last_lines=lines,
        results=[""] * len(nodes),
        symbols={
            index: operation.symbol
            for index, node in enumerate(nodes)
            if (operation := first.of_node(node)) and operation.symbol
        },
        symbol_uses={},
        locations=locations,
        is_listing=True,
    )


def _parents(parts: Sequence[RecordedStage]) -> list[int]:
    """Return the index of the operation around each; -1 for none."""
    parents: list[int] = []
    for part in parts:
        first = len(parents)
        places = {int(id): first + at for at, id in enumerate(part.operations.tolist())}
        parents += [places.get(parent, -1) for parent in part.parents.tolist()]
    return parents


def _tree(text: str, names: Sequence[str], parents: Sequence[int], lines: Sequence[int]) -> Tree:
    """Return the tree of known operations, with what the text shows: ends, results and symbols."""
    columns = Columns()
    text_lines = text.split("\n")
    before = 0
    for index, (name, parent, number) in enumerate(zip(names, parents, lines, strict=True)):
        # The custom form leaves some out: they have the line of the one around them.
        line = text_lines[number - 1] if number != before else ""
        before = number
        result = _RESULT.match(line)
        columns.begin(result[1] if result else None, name, parent, number, 0)
        for symbol in _SYMBOL.finditer(line) if "@" in line else ():
            if symbol[1]:
                columns.refer(index, symbol[1], line[: symbol.start()])
    columns.last_lines = _last_lines(text_lines, lines, parents)
    return columns.tree(text)


def _last_lines(
    text_lines: Sequence[str], lines: Sequence[int], parents: Sequence[int]
) -> array[int]:
    """Return the line on which each operation ends, from 1."""
    line, height = text_lines.__getitem__, len(text_lines)
    last = array("q", bytes(8 * len(lines)))  # from 0; first the last line of what is in it
    for index in range(len(lines) - 1, -1, -1):
        first = lines[index] - 1
        if index and lines[index - 1] == lines[index]:  # the line is that of another operation
            last[index] = max(last[index], first)
        else:
            last[index] = last_line(line, height, first, last[index])
        parent = parents[index]
        if parent >= 0:
            last[parent] = max(last[parent], last[index])
    return array("q", (one + 1 for one in last))
