"""The edges that only the values of constants show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from actiondbg.lineage.dumps.operation_texts import (
    CONSTANTS,
    OperationTexts,
    constant_value,
    is_distinctive,
)
from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.graph import Edges, LineageGraph
from actiondbg.lineage.stage import Operation, Stage, is_constant, symbol_around
from actiondbg.recording.format.arrow import Ints

_SPLAT = re.compile(r"dense<([^<>,\[\]]+)> : (?:[\d?]+x)*(\w+)")
# Values that passes make anew: neutral elements, padding, bounds of ranges in hexadecimal.
_COMMON = re.compile(
    r"(?:-?(?:0|0?\.5|1|2)(?:\.0*)?(?:e[+-]0+)?|0x\w+|true|false) : ", re.IGNORECASE
)


class ConstantEdges:
    """Finds the constants of the input that passes made anew, such as those of ``sccp``.

    A constant of the output without an origin in the input is followed back to what a pass
    inserted. Its origin is the constant of the input with the same value that the pass erased in
    the same function; or else the only one with the value, in its function or at all, if passes
    do not make the value themselves.

    Args:
        first: the input.
        last: the output.
        makers: by number, the action that inserted an operation.
        erasers: by number, the action that erased an operation.
    """

    def __init__(
        self, first: Stage, last: Stage, makers: Mapping[int, int], erasers: Mapping[int, int]
    ) -> None:
        self._first, self._last = first, last
        self._makers, self._erasers = makers, erasers

    def edges(self, known: LineageGraph) -> Edges:
        """Return edges to operations to which no action leads from the input.

        A location may show only the operation around the constant.

        Args:
            known: the edges that actions show.
        """
        found = list(dict.fromkeys(self._found(known)))
        sources, targets = np.array(found, np.int64).reshape(-1, 2).T
        ordinals = np.array([self._makers[to] for to in targets.tolist()], np.int64)
        return Edges.of(sources, targets, Evidence.TEXT, ordinals)

    def _found(self, known: LineageGraph) -> Iterator[tuple[int, int]]:
        olds = self._olds
        inside = [one.node for one in self._first if self._first.has_body(one.index)]
        derived = known.derived(np.array(inside, np.int64))
        for key, indices in _by_value(self._last).items():
            for new in (self._last[index] for index in indices if key in olds):
                if derived[new.node]:
                    continue
                roots = known.ends(known.reach(new.node, back=True)) & self._makers.keys()
                for root in roots:
                    yield from ((old.node, root) for old in self._origins(key, new, root))

    @cached_property
    def _olds(self) -> dict[str, list[Operation]]:
        found = _by_value(self._first).items()
        return {key: [self._first[index] for index in indices] for key, indices in found}

    def _origins(self, key: str, new: Operation, root: int) -> Iterable[Operation]:
        olds, function = self._olds[key], symbol_around(new)
        near = [one for one in olds if symbol_around(one) == function]
        maker = self._makers[root]
        erased = [one for one in near if self._erasers.get(one.node) == maker]
        if len(erased) == 1:
            return erased
        if is_common(key) or not is_distinctive(key):
            return ()
        candidates = near or olds
        return candidates if len(candidates) == 1 else ()


def is_common(value: str) -> bool:
    """Whether passes make a value themselves."""
    return bool(_COMMON.match(value))


def constant_values(stage: Stage) -> dict[int, str]:
    """Return the values of the constants of a stage, as printed, by number; those of splats."""
    found: dict[int, str] = {}
    for index, name in enumerate(stage.names):
        if is_constant(name):
            value = constant_value(stage.text_lines[stage.lines[index] - 1], exactly=True)
            found[stage.nodes[index]] = _SPLAT.sub(r"\1 : \2", value)
    return {number: value for number, value in found.items() if value}


def _by_value(stage: Stage) -> dict[str, list[int]]:
    """Return the constants of a stage by their values; a splat counts as its element."""
    found: dict[str, list[int]] = {}
    for key, indices in OperationTexts(stage).groups(CONSTANTS).items():
        found.setdefault(_SPLAT.sub(r"\1 : \2", key), []).extend(indices)
    return found


def actions_by_number(numbers: Ints, ordinals: Ints) -> dict[int, int]:
    """Return the action of each operation that has one."""
    known = ordinals > 0
    return dict(zip(numbers[known].tolist(), ordinals[known].tolist(), strict=True))
