"""The IR at the ends of a recorded run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from actiondbg.ir.tokens import escaped
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.format.items import Items
from actiondbg.recording.format.strings import StringTables
from actiondbg.recording.format.structs import Kind, Space
from actiondbg.recording.tables.definitions import Definitions
from actiondbg.recording.tables.rows import ActionRows
from actiondbg.recording.tables.snapshots import IRTexts

StageKind = Literal["input", "output", "between"]
_KINDS: tuple[StageKind, ...] = ("input", "output", "between")


@dataclass(frozen=True, eq=False)
class RecordedStage:
    """The IR of one module at an end of the run; one value per operation, in order of the text.

    Args:
        kind: "input", before the first action, "output", after the last one, or "between".
        actions: the number of actions that had begun.
        text: the IR, with large constants elided.
        values: of an input the list of its values, see ``IRText``.
        parents: the id of the operation around each; 0 for none.
        lines: the line of each, from 1.
    """

    kind: StageKind
    actions: int
    text: str
    values: str
    operations: Ints
    parents: Ints
    lines: Ints
    names: list[str]
    locations: list[str]


class StageTable:
    """The stages of a recording, in the order in which the run reached them."""

    def __init__(
        self, rows: ActionRows, strings: StringTables, definitions: Definitions, texts: IRTexts
    ) -> None:
        self._strings = strings
        self._locations = definitions.locations
        self._texts = texts
        self._items = Items(rows.file, Kind.STAGE_OPERATIONS, rows.threads)
        self._stages = Items(rows.file, Kind.STAGES, rows.threads)

    def stages(self) -> list[RecordedStage]:
        """Return the stages: all inputs, those between, and all outputs."""
        kinds, actions = (self._stages.field(name).tolist() for name in ("kind", "row"))
        order = sorted(range(self._stages.count), key=lambda at: int(actions[at]))
        # A tool may run several pipelines on a module: the last output is the output.
        outputs = {
            int(self._items.field("operation")[self._part(at).start]): at
            for at in order
            if _KINDS[int(kinds[at])] == "output"
        }
        found = [
            self._stage(at)
            for at in order
            if _KINDS[int(kinds[at])] != "output" or at in outputs.values()
        ]
        places = ("input", "between", "output")
        return sorted(found, key=lambda stage: places.index(stage.kind))

    def _stage(self, index: int) -> RecordedStage:
        part = self._part(index)
        names = self._strings[Space.OPERATION].texts
        recorded = self._texts[int(self._stages.field("text")[index])]
        return RecordedStage(
            kind=_KINDS[int(self._stages.field("kind")[index])],
            actions=int(self._stages.field("row")[index]),
            text=recorded.text,
            values=recorded.values,
            operations=self._items.field("operation")[part],
            parents=self._items.field("parent")[part],
            lines=self._items.field("line")[part],
            names=[names[place] for place in self._names[part].tolist()],
            locations=[self._location_texts[place] for place in self._places[part].tolist()],
        )

    def _part(self, index: int) -> slice:
        """Return the operations of a stage."""
        # A stage and the section of its operations are in a chunk of their own.
        chunk, _ = self._stages.sections[index]
        starts = np.cumsum([0, *(section.count for _, section in self._items.sections)])
        at = next(i for i, (own, _) in enumerate(self._items.sections) if own is chunk)
        return slice(int(starts[at]), int(starts[at + 1]))

    @cached_property
    def _names(self) -> Ints:
        return self._items.resolve("name", self._strings[Space.OPERATION].places)

    @cached_property
    def _places(self) -> Ints:
        return self._items.resolve("location", self._locations.places)

    @cached_property
    def _location_texts(self) -> list[str]:
        """The text of each location of the recording, and of none."""
        whole = [*self._strings[Space.LOCATION].texts, ""]  # the last one for none, at -1
        files = [*self._strings[Space.FILE].texts, ""]
        places = self._locations
        columns = (places.texts, places.files, places.lines, places.columns)
        rows = np.stack([column.astype(np.int64) for column in columns], axis=1)
        found = [
            self._location_text(whole[int(text)], files[int(file)], int(line), int(column))
            for text, file, line, column in rows
        ]
        return [*found, "unknown"]

    @staticmethod
    def _location_text(whole: str, file: str, line: int, column: int) -> str:
        if whole.startswith("loc(") and whole.endswith(")"):
            return whole[4:-1]
        return whole or file_location(file, line, column)


def file_location(file: str | None, line: int, column: int) -> str:
    """Return the text of a location, as MLIR's parser reads it; "unknown" without a file."""
    if not file:
        return "unknown"
    return f'"{escaped(file)}":{line}:{column}'
