"""The stages of a recorded run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from itertools import chain

import numpy as np

from actiondbg.ir.tokens import STRING, SYMBOL_PATH, VALUE, symbol_name
from actiondbg.ir.tree.outline import last_line
from actiondbg.ir.value_names import ValueNames
from actiondbg.lineage.locations.location import Location
from actiondbg.lineage.stage import Stage
from actiondbg.recording.recorded_text import RecordedText
from actiondbg.recording.tables.snapshots import IRText
from actiondbg.recording.tables.stages import RecordedStage

_RESULT = re.compile(rf"\s*({VALUE})")
_SYMBOL = re.compile(rf"{STRING}|({SYMBOL_PATH})")
_DEFINES = re.compile(r"(?:^|[._])(?:func|global|module|executable|variant|export|template)$")
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
    known: dict[str, Location] = {}
    stage = Stage(
        name=name,
        text=_BETWEEN_MODULES.join(
            RecordedText(IRText(part.text, part.values), ValueNames()).text for part in parts
        ),
        nodes=nodes,
        names=names,
        parents=_parents(parts),
        lines=lines,
        last_lines=[],
        results=[],
        symbols={},
        symbol_uses={},
        locations=[
            known.setdefault(text, Location(text))
            for text in chain.from_iterable(part.locations for part in parts)
        ],
    )
    _read_lines(stage)
    return stage


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


def _read_lines(stage: Stage) -> None:
    """Add what the text shows: where operations end, results and symbols."""
    lines = stage.text_lines
    stage.last_lines = _last_lines(stage)
    results = [""] * len(stage)
    before = 0
    for index, (name, number) in enumerate(zip(stage.names, stage.lines, strict=True)):
        if number == before:
            continue  # the custom form leaves it out
        before = number
        line = lines[number - 1]
        if found := _RESULT.match(line):
            results[index] = found[1]
        if "@" in line:
            _read_symbols(stage, index, name, line)
    stage.results = results


def _read_symbols(stage: Stage, index: int, name: str, line: str) -> None:
    found = [symbol_name(one[1]) for one in _SYMBOL.finditer(line) if one[1]]
    if found and _DEFINES.search(name):
        stage.symbols[index] = found.pop(0)
    if found:
        stage.symbol_uses[index] = tuple(found)


def _last_lines(stage: Stage) -> list[int]:
    """Return the line on which each operation ends, from 1."""
    lines, parents = stage.text_lines, stage.parents
    line, height = lines.__getitem__, len(lines)
    last = [0] * len(stage)  # from 0; first the last line of what is in it
    for index in range(len(stage) - 1, -1, -1):
        last[index] = last_line(line, height, stage.lines[index] - 1, last[index])
        parent = parents[index]
        if parent >= 0:
            last[parent] = max(last[parent], last[index])
    return [one + 1 for one in last]
