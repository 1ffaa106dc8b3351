"""The lineage of a recorded run, and its stages."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import chain, groupby
from typing import Any

import numpy as np

from actiondbg.errors import NotRecorded
from actiondbg.ir.line_numbers import actual_lines
from actiondbg.ir.tokens import STRING, SYMBOL_PATH, VALUE
from actiondbg.ir.tree.outline import last_line
from actiondbg.ir.tree.tree import Columns, Tree
from actiondbg.ir.value_names import ValueNames
from actiondbg.lineage.graph import Edges, LineageGraph
from actiondbg.lineage.graph_lineage import GraphLineage
from actiondbg.lineage.lineage import Evidence, LineageStep, Loss, Node
from actiondbg.lineage.locations import Location
from actiondbg.lineage.recorded.change_columns import (
    ChangesInOrder,
    Operands,
    RecordedActions,
    RecordedChanges,
    RecordedLinks,
)
from actiondbg.lineage.recorded.edges import Described, EdgeBuilder
from actiondbg.lineage.recorded.kept_texts import (
    KeptTexts,
    LocationEdges,
    actions_by_number,
    constant_values,
)
from actiondbg.lineage.recorded.namesakes import Definers, FirstFunctions
from actiondbg.lineage.stage import Stage, is_call, is_constant, symbol_around
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.recorded_text import RecordedText
from actiondbg.recording.recording import Recording
from actiondbg.recording.session.operation_changes import OperationChanges
from actiondbg.recording.tables.snapshots import IRText, RecordedStage, file_location

_RESULT = re.compile(rf"\s*({VALUE})")
_SYMBOL = re.compile(rf"{STRING}|({SYMBOL_PATH})")
# The name that the input gave to a result of an operation, but for the first, in a list of values.
_FURTHER = re.compile(rf"^\.(\d+)\.[1-9]\d* ({VALUE})$", re.MULTILINE)
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
        actual = actual_lines(part.text)
        lines += [actual(line) + offset for line in part.lines.tolist()]
    nodes = list(chain.from_iterable(part.operations.tolist() for part in parts))
    names = list(chain.from_iterable(part.names for part in parts))
    text = _BETWEEN_MODULES.join(
        RecordedText(IRText(part.text, part.values), ValueNames()).text for part in parts
    )
    known: dict[str, Location] = {}
    further: dict[str, list[int]] = {}
    for match in chain.from_iterable(_FURTHER.finditer(part.values) for part in parts):
        further.setdefault(match[2], []).append(int(match[1]))
    return Stage(
        **vars(_tree(text, names, _parents(parts), lines)),
        name=name,
        further=further,
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


# --- the lineage ---


# Passes that erase only operations without uses, beside what their actions do.
_ERASE_DEAD = frozenset(
    ("pass:canonicalize", "pass:cse", "pass:remove-dead-values", "pass:symbol-dce")
)
# Their result is their operand in another shape.
_FORWARDING = frozenset(("vector.broadcast", "vector.splat", "tensor.splat"))
# They store their first operand.
_STORES = frozenset(("affine.store", "memref.store", "vector.store", "vector.transfer_write"))


class RecordedLineage(GraphLineage):
    """The ``Lineage`` of a run that was recorded with ``record --lineage``.

    The number of an operation is its operation id.

    Args:
        recording: the recording.
        to_end: whether there is a stage of the end of the run, even if there is one of a stop.
        moments: what was made and erased up to times of the run, which become stages.
        after: the actions at whose ends the last stages but the output are; 0 where none ended.

    Raises:
        NotRecorded: the recording has no lineage.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        to_end: bool = True,
        moments: Sequence[OperationChanges] = (),
        after: Sequence[int] = (),
    ) -> None:
        if not recording.header.lineage:
            raise NotRecorded(
                f"{recording.path!r} was recorded without lineage: record it again with "
                "actiondbg record --lineage."
            )
        self._recording = recording
        self._to_end = to_end
        self._moments = moments
        self._after = after
        self._actions = RecordedActions(recording)

    # --- stages and nodes ---

    @property
    def stages(self) -> Sequence[Stage]:
        """The input, those of stops, and the output; without an output, the end.

        Raises:
            NotRecorded: the run had no action, or was killed before its input was recorded.
        """
        return self._stages

    @cached_property
    def _stages(self) -> Sequence[Stage]:
        recorded = self._recording.stages
        if not recorded:
            first = "its input was recorded" if self._recording.count else "its first action"
            raise NotRecorded(f"There is no IR to track: the tool ended before {first}.")
        parts = {
            kind: [stage for stage in recorded if stage.kind == kind]
            for kind in ("input", "between", "output")
        }
        first = stage_of("input", parts["input"])
        between = [
            replace(stage_of(self._name_of(one.actions), [one]), actions=one.actions)
            for one in parts["between"]
        ]
        between += [self._stage_at(first, moment) for moment in self._moments]
        between = self._named(between) if between else []
        if between and not self._to_end:
            return [first, *between]
        if parts["output"]:
            return [first, *between, stage_of("output", parts["output"])]
        return [first, *between, self._end_stage(first)]

    def _stage_at(self, first: Stage, moment: OperationChanges) -> Stage:
        names = dict(zip(self._numbers.tolist(), self._table["op"].to_pylist(), strict=True))
        made = {one: names[one] or "" for one in moment.inserted if one in names}
        name = self._name_of(moment.begun)
        listed = listed_stage(name, first, made, moment.erased, self._own_texts)
        return replace(listed, actions=moment.begun)

    def _end_stage(self, first: Stage) -> Stage:
        """Return the operations that were there when the run ended without an output."""
        columns = (self._table[name].to_pylist() for name in ("op", "created_by", "erased_by"))
        made: dict[int, str] = {}
        erased: set[int] = set()
        for number, name, created_by, erased_by in zip(
            self._numbers.tolist(), *columns, strict=True
        ):
            if created_by is not None:
                made[number] = name or ""
            if erased_by is not None:
                erased.add(number)
        return listed_stage("end", first, made, erased, self._own_texts)

    def _name_of(self, actions: int) -> str:
        """Name the stage after so many actions."""
        if actions == 0:
            return "before #1"
        return f"after {self._actions.finished_pass(actions) or f'#{actions}'}"

    def _named(self, between: Sequence[Stage]) -> list[Stage]:
        """Name stages after the actions that ended, not after the last ones inside them."""
        after = [0] * len(between) + list(self._after)
        return [
            replace(stage, name=f"after #{ended}")
            if ended in self._actions.around(stage.actions or 0)
            and stage.name == f"after #{stage.actions}"
            else stage
            for stage, ended in zip(between, after[-len(between) :], strict=True)
        ]

    def events(self, number: int) -> Sequence[LineageStep]:
        kept = self._kept
        first, last = np.searchsorted(kept.operations, (number, number + 1))
        rows = zip(kept.kinds[first:last], kept.ordinals[first:last].tolist(), strict=True)
        # One for each action and kind.
        steps = [
            LineageStep(Evidence(kind), number, number, ordinal)
            for (kind, ordinal), _ in groupby(rows)
        ]
        ends = [stage.of_node(number) for stage in (self.stages[0], self.stages[-1])]
        functions = [symbol_around(end) for end in ends if end]
        if len(functions) < 2 or functions[0] == functions[1]:
            return steps
        is_new = functions[1] not in self.stages[0].symbols.values()
        return _left(steps, Evidence.OUTLINED if is_new else Evidence.INLINED)

    @cached_property
    def _changes(self) -> RecordedChanges:
        return RecordedChanges(self._recording, self._actions)

    @cached_property
    def _kept(self) -> ChangesInOrder:
        """The changes of operations that kept them, by operation."""
        kept = self._changes.of_kind(Evidence.MODIFIED, Evidence.MOVED)
        return kept.only(np.argsort(kept.operations, kind="stable"))

    def node(self, number: int) -> Node:
        row = self._rows.get(number)
        if row is not None:
            op, function = (self._table[name][row].as_py() or "" for name in ("op", "function"))
            return Node(number, op, self._texts[number], function)
        for stage in self.stages:
            if operation := stage.of_node(number):
                return Node(number, operation.name, operation.location.text)
        if number in self._linked:  # a copy that no action inserted
            return Node(number, "")
        raise KeyError(number)

    @cached_property
    def _linked(self) -> frozenset[int]:
        """The operations of links and of edges."""
        ends = (self.graph.edges.sources, self.graph.edges.targets)
        return self._links.numbers.union(*(np.unique(column).tolist() for column in ends))

    @property
    def action_count(self) -> int:
        """The number of actions."""
        return self._actions.size - 1

    def action(self, ordinal: int) -> str:
        return self._actions.name(ordinal)

    def pass_of(self, ordinal: int) -> int | None:
        return int(self._actions.passes[ordinal]) or None

    @cached_property
    def _table(self) -> Any:
        columns = (
            "operation",
            "op",
            "function",
            "location",
            "file",
            "line",
            "col",
            "created_by",
            "erased_by",
        )
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
        highest = [
            int(self._numbers.max(initial=0)),
            self._links.highest,
            *(max(stage.nodes, default=0) for stage in self.stages),
        ]
        return max(highest) + 1

    @cached_property
    def _texts(self) -> dict[int, str]:
        """The text of the location of each operation."""
        texts: dict[int, str] = {}
        for stage in reversed(self.stages):
            texts |= dict(zip(stage.nodes, (one.text for one in stage.locations), strict=True))
        return texts | self._own_texts

    @cached_property
    def _own_texts(self) -> dict[int, str]:
        """The text of the location of each operation of the table."""
        texts: dict[int, str] = {}
        columns = (self._table[name].to_pylist() for name in ("location", "file", "line", "col"))
        for number, text, file, line, col in zip(self._numbers.tolist(), *columns, strict=True):
            if text and text.startswith("loc("):
                texts[number] = text[4:-1]
            else:
                texts[number] = file_location(file, line, col)
        return texts

    # --- edges ---

    @cached_property
    def _locations(self) -> tuple[Ints, list[str]]:
        """The location of each operation id, as a code, -1 for an unknown one; the texts."""
        known: dict[str, int] = {}
        codes = np.full(self._count, -1, np.int64)
        for number, text in self._texts.items():
            if text != "unknown":
                codes[number] = known.setdefault(text, len(known))
        return codes, list(known)

    @cached_property
    def _described(self) -> Described:
        known: dict[str, int] = {}
        codes = np.full(self._count, -1, np.int64)
        lists = [(stage.nodes, stage.names) for stage in self.stages]
        own = (self._numbers.tolist(), [name or "" for name in self._table["op"].to_pylist()])
        for numbers, names in (*lists, own):
            codes[list(numbers)] = [known.setdefault(name, len(known)) for name in names]
        tests = is_constant, _FORWARDING.__contains__, _STORES.__contains__, is_call
        flags = (np.array([*map(test, known), False], np.bool_)[codes] for test in tests)
        return Described(self._locations[0], codes, *flags)

    @cached_property
    def _location_edges(self) -> LocationEdges:
        return LocationEdges(self.stages[0], self._described, self._locations[1])

    @cached_property
    def _builder(self) -> EdgeBuilder:
        values = {
            number: value
            for stage in self.stages
            if stage.name in ("input", "output")
            for number, value in constant_values(stage).items()
        }
        return EdgeBuilder(
            self._changes,
            self._links,
            self._actions,
            self._described,
            self._operands,
            values,
            self._first_functions,
        )

    def _first_functions(self) -> dict[int, str]:
        """Return by number the function in which an operation was first."""
        names = self._recording.first_functions()
        functions = FirstFunctions(self.stages[0], self._acted_on)
        rows = zip(self._numbers.tolist(), self._created.tolist(), strict=True)
        found = {row[0]: functions.of_made(row[0], names.get(row[0], ""), row[1]) for row in rows}
        return found | dict(functions.of_input())

    def _acted_on(self, ordinal: int) -> Iterator[int]:
        """Iterate over the operation of an action, then those of the actions around it."""
        return (int(self._actions.operations[one]) for one in self._actions.around(ordinal))

    @cached_property
    def _operands(self) -> Operands:
        return Operands(self._recording, self._links, self.stages[0])

    @cached_property
    def _links(self) -> RecordedLinks:
        return RecordedLinks(self._recording)

    @cached_property
    def graph(self) -> LineageGraph:
        """All edges."""
        edges = self._builder.edges()
        edges = Edges.joined([edges, *self._symbol_edges(edges)])
        made = np.flatnonzero(self._created > 0)
        located = self._location_edges.edges(
            self._numbers[made], self._created[made], LineageGraph(edges, self._count)
        )
        valued = self._kept_texts(LineageGraph(edges, self._count).exact)
        return LineageGraph(Edges.joined([edges, located, valued]), self._count)

    def _kept_texts(self, known: LineageGraph) -> Edges:
        first, last = self.stages[0], self.stages[-1]
        if last.name != "output":
            return Edges.none()
        erased = self._table["erased_by"].fill_null(0).to_numpy().astype(np.int64)
        makers, erasers = (
            actions_by_number(self._numbers, column) for column in (self._created, erased)
        )
        return KeptTexts(first, last, makers, erasers).edges(known)

    def _symbol_edges(self, edges: Edges) -> Iterator[Edges]:
        """Symbols that the run made, such as hoisted globals, from the operations that use them."""
        output = self.stages[-1]
        if output.name != "output":
            return
        made = set(self._numbers[self._created > 0].tolist()) - set(edges.targets.tolist())
        definers = Definers(output)
        pairs = [
            (output.nodes[index], output.nodes[definer])
            for index, uses in output.symbol_uses.items()
            for use in uses
            for definer in definers.of(index, use)
            if output.nodes[definer] in made
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
        return self._table["created_by"].fill_null(0).to_numpy().astype(np.int64)

    def other_part(self, node: int, stage: Stage) -> str | None:
        """Return why an operation is not in a stage; see ``GraphLineage``."""
        if stage.actions is None:
            return None
        inputs = [one for one in self._recording.stages if one.kind == "input"]
        begin = next((one.actions for one in inputs if node in one.operations), None)
        if begin is None or len(inputs) == 1:
            return None
        if begin >= stage.actions:
            return "unread"
        is_finished = any(begin < one.actions < stage.actions for one in inputs)
        return "finished" if is_finished else None

    def loss(self, node: int, back: bool) -> Loss:
        return self._start(node) if back else self._end(node)

    def _start(self, node: int) -> Loss:
        row = self._rows.get(node)
        why = "ambiguous" if node in self._location_edges.ambiguous else "inserted"
        return Loss(node, why, int(self._created[row]) or None if row is not None else None)

    def _end(self, node: int) -> Loss:
        row = self._rows.get(node)
        ordinal = self._table["erased_by"][row].as_py() if row is not None else None
        if ordinal is None:
            return Loss(node, "untraced")
        if (folded := self._builder.folded.get(node)) is not None:
            return Loss(node, "folded", folded)
        if self._actions.is_fold[ordinal]:
            return Loss(node, "folded", ordinal)
        if self._actions.patterns[ordinal]:
            return Loss(node, "erased", ordinal)
        if not self._erases_dead(ordinal):
            is_consumed = self._is_computed_by(node, ordinal)
            return Loss(node, "consumed" if is_consumed else "erased", ordinal)
        consumer = self._consumer(node)
        return Loss(node, "consumed" if consumer else "dead", consumer or ordinal)

    def _is_computed_by(self, node: int, ordinal: int) -> bool:
        """Whether a pass replaced all users of an operation itself, as ``sccp`` by constants."""
        inherited = self._builder.inherited
        users = self._operands.users(node)
        return bool(users) and all(inherited.get(one) == ordinal for one in users)

    def _erases_dead(self, ordinal: int) -> bool:
        """Whether an action, which is no pattern, erases only what has no uses."""
        # A driver does; of passes only these do nothing else.
        return not self._actions.is_pass[ordinal] or self.action(ordinal) in _ERASE_DEAD

    def _consumer(self, node: int) -> int | None:
        """Return the application of a pattern that replaced or erased an operation's last user.

        None for another eraser, and if a user was there longer than the operation. A conversion
        erases later what its patterns replaced.
        """
        erased = self._builder.erased
        users = [one for one in self._operands.users(node) if one in self._rows]
        erasers = [erased.get(one) for one in users]
        known = [one for one in erasers if one is not None and one < erased[node]]
        if not known or len(known) < len(erasers):
            return None
        _, ordinal, last = max(known)
        replaced = self._builder.replaced_by_pattern.get(last)
        if pattern := int(self._actions.patterns[ordinal]) or replaced:
            return pattern
        return self._consumer(last) if self._erases_dead(ordinal) else None


def _left(steps: list[LineageStep], how: Evidence) -> list[LineageStep]:
    """Return the events of an operation that ended in another function: the last move did it."""
    moves = [at for at, step in enumerate(steps) if step.evidence is Evidence.MOVED]
    if moves:
        steps[moves[-1]] = steps[moves[-1]]._replace(evidence=how)
    return steps
