"""The lineage of a recorded run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from actiondbg.errors import NotRecorded
from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.graph import Edges, LineageGraph
from actiondbg.lineage.lineage import Loss, Node, Relation, Step, Trace, Tracking
from actiondbg.lineage.recorded.actions import RecordedActions
from actiondbg.lineage.recorded.edges import EdgeBuilder
from actiondbg.lineage.recorded.stages import stage_of
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.recording import Recording


class RecordedLineage:
    """The lineage of a run that was recorded with ``record --lineage``.

    The number of an operation is its operation id.

    Raises:
        NotRecorded: the recording has no lineage.
    """

    def __init__(self, recording: Recording) -> None:
        if not recording.header.lineage:
            raise NotRecorded(
                f"{recording.path!r} was recorded without lineage: record it again with "
                "actiondbg record --lineage."
            )
        self._recording = recording
        self._actions = RecordedActions(recording)

    # --- stages and nodes ---

    @cached_property
    def stages(self) -> Sequence[Stage]:
        """The input and, unless the tool ended before it destroyed its IR, the output."""
        made: list[Stage] = []
        for kind in ("input", "output"):
            parts = [stage for stage in self._recording.stages if stage.kind == kind]
            if parts:
                made.append(stage_of(kind, parts))
        return made

    def node(self, number: int) -> Node:
        """Describe an operation; raises KeyError for an unknown number."""
        row = self._rows.get(number)
        if row is not None:
            op, function = (self._table[name][row].as_py() or "" for name in ("op", "function"))
            return Node(number, op, self._texts[number], function)
        for stage in self.stages:
            if operation := stage.of_node(number):
                return Node(number, operation.name, operation.location.text)
        raise KeyError(number)

    def action(self, ordinal: int) -> str:
        """Name an action as users write it, such as ``pattern:FuseX`` or ``pass:cse``."""
        return self._actions.name(ordinal)

    def pass_of(self, ordinal: int) -> int | None:
        """Return the ordinal of the pass around an action, itself for a pass; None for none."""
        return int(self._actions.passes[ordinal]) or None

    @cached_property
    def _table(self) -> Any:
        columns = ("operation", "op", "function", "location", "file", "line", "col", "erased_by")
        return self._recording.table("operations", columns)

    @cached_property
    def _numbers(self) -> Ints:
        return self._table["operation"].to_numpy().astype(np.int64)

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {number: row for row, number in enumerate(self._numbers.tolist())}

    @cached_property
    def _count(self) -> int:
        """A number above those of all operations."""
        highest = [int(self._numbers.max(initial=0)), *(max(stage.nodes) for stage in self.stages)]
        return max(highest) + 1

    @cached_property
    def _texts(self) -> dict[int, str]:
        """The text of the location of each operation."""
        texts: dict[int, str] = {}
        for stage in reversed(self.stages):
            texts |= dict(zip(stage.nodes, (one.text for one in stage.locations), strict=True))
        columns = (self._table[name].to_pylist() for name in ("location", "file", "line", "col"))
        for number, text, file, line, col in zip(self._numbers.tolist(), *columns, strict=True):
            if text and text.startswith("loc("):
                texts[number] = text[4:-1]
            else:
                texts[number] = f'"{file}":{line}:{col}' if file else "unknown"
        return texts

    # --- edges ---

    @cached_property
    def _codes(self) -> Ints:
        """The location of each operation id, as a code; -1 for an unknown one."""
        known: dict[str, int] = {"unknown": -1}
        codes = np.full(self._count, -1, np.int64)
        for number, text in self._texts.items():
            codes[number] = known.setdefault(text, len(known))
        return codes

    @cached_property
    def graph(self) -> LineageGraph:
        """All edges."""
        edges = EdgeBuilder(self._recording, self._actions, self._codes).edges()
        return LineageGraph(Edges.joined([edges, *self._symbol_edges(edges)]), self._count)

    def _symbol_edges(self, edges: Edges) -> Iterator[Edges]:
        """Symbols that the run made, such as hoisted globals, from the operations that use them."""
        output = self.stages[-1]
        if output.name != "output":
            return
        made = set(self._numbers[self._created > 0].tolist()) - set(edges.targets.tolist())
        defined = {
            name: output.nodes[index]
            for index, name in output.symbols.items()
            if output.nodes[index] in made
        }
        pairs = [
            (output.nodes[index], defined[part])
            for index, uses in output.symbol_uses.items()
            for use in uses
            for part in use.split("::")
            if part in defined
        ]
        if pairs:
            users, targets = np.array(pairs, np.int64).T
            ordinals = self._created[self._row_of(targets)]
            yield Edges.of(users, targets, Evidence.SYMBOL, ordinals)

    def _row_of(self, numbers: Ints) -> Ints:
        return np.searchsorted(self._numbers, numbers)

    @cached_property
    def _created(self) -> Ints:
        """The action that created each operation of the table; 0 for an operation of the input."""
        table: Any = self._recording.table("operations", ("created_by",))
        return table["created_by"].fill_null(0).to_numpy().astype(np.int64)

    # --- questions ---

    def steps(self, *, exact: bool = False) -> Iterator[Step]:
        """Iterate over all steps, in the order of time."""
        return self._graph(exact).steps()

    def _graph(self, exact: bool) -> LineageGraph:
        return self.graph.exact if exact else self.graph

    def track(
        self,
        operations: Iterable[Operation],
        to: Stage,
        *,
        exact: bool = False,
        nested: bool = False,
    ) -> Tracking:
        """Track operations of one stage to another, forward or back."""
        graph = self._graph(exact)
        traces: dict[int, Trace] = {}
        losses: dict[int, Loss] = {}
        for operation in operations:
            back = self.stages.index(to) < self.stages.index(operation.stage)
            inner = operation.stage.nested(operation.index) if nested else (operation.index,)
            for index in inner:
                node = operation.stage.nodes[index]
                found = graph.reach(node, back=back)
                reached = [one for number in found if (one := to.of_node(number))]
                for one in reached:
                    way = graph.way(found, one.node, back=back)
                    known = traces.get(one.index)
                    if known is None or len(way) < len(known.steps):
                        traces[one.index] = Trace(one, way)
                if not reached:
                    ends = self._ends(graph, found, back=back)
                    losses |= {end: self._start(end) if back else self._loss(end) for end in ends}
        return Tracking(tuple(traces[at] for at in sorted(traces)), tuple(losses.values()))

    def relate(self, source: Stage, target: Stage, *, exact: bool = False) -> Relation:
        """Return which operations of a stage became which of a later one."""
        starts = np.asarray(source.nodes, np.int64)
        places = np.full(self._count, -1, np.int64)
        places[np.asarray(target.nodes, np.int64)] = np.arange(len(target))

        def pairs(graph: LineageGraph) -> tuple[Ints, Ints]:
            rows, nodes = graph.pairs(starts)
            kept = places[nodes] >= 0
            return rows[kept], places[nodes[kept]]

        sure = pairs(self.graph.exact)
        if exact:
            return Relation(sure[0].tolist(), sure[1].tolist(), [True] * len(sure[0]))
        rows, columns = pairs(self.graph)
        keys, known = (one[0] * len(target) + one[1] for one in ((rows, columns), sure))
        return Relation(rows.tolist(), columns.tolist(), np.isin(keys, known).tolist())

    @staticmethod
    def _ends(graph: LineageGraph, found: dict[int, int], *, back: bool) -> list[int]:
        """Return the operations that nothing was made from, or that were made from nothing."""
        has_more = graph.has_origins if back else graph.has_heirs
        return [node for node in found if not has_more(node)]

    def _start(self, node: int) -> Loss:
        row = self._rows.get(node)
        return Loss(node, "inserted", int(self._created[row]) or None if row is not None else None)

    def _loss(self, node: int) -> Loss:
        row = self._rows.get(node)
        ordinal = self._table["erased_by"][row].as_py() if row is not None else None
        if ordinal is None:
            return Loss(node, "erased")
        if self._actions.is_fold[ordinal]:
            return Loss(node, "folded", ordinal)
        return Loss(node, "erased" if self._actions.patterns[ordinal] else "dead", ordinal)
