"""The nests that an action changed."""

from __future__ import annotations

from collections import Counter

from actiondbg.validation.function_judgement import Nest
from actiondbg.validation.program import Function, Operation, structure, walk


def changed_nests(before: Function, after: Function) -> tuple[Nest, ...]:
    """Return the outermost nests of a function that it does not have after an action."""
    kept = Counter(structure(each) for each in _nests(after))
    names = [each.name for each in walk(before.operation)]
    places = {each: at for at, each in enumerate(walk(before.operation))}
    changed: list[Nest] = []
    for nest in _nests(before):
        text = structure(nest)
        if kept[text]:
            kept[text] -= 1
            continue
        number = names[: places[nest]].count(nest.name)
        changed.append(Nest(nest.name, number, names.count(nest.name)))
    return tuple(changed)


def _nests(function: Function) -> list[Operation]:
    blocks = () if function.body is None else function.body.blocks
    return [each for block in blocks for each in block.operations if each.regions]
