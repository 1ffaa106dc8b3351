"""A recording as tables, and parts of it.

Parts of a recording of one thread are for bounded memory and early reading. The actions of a part
refer to strings, locations and operations of earlier chunks: these are read again for each part. Of
earlier actions only some are needed, such as the unfinished ones.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from actiondbg.errors import NotRecorded
from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.arrow import Array, Ints, Table
from actiondbg.recording.format.file import (
    Chunk,
    Ending,
    Header,
    RecordingFile,
    count_actions,
    read_ending,
)
from actiondbg.recording.format.items import StringTables
from actiondbg.recording.format.structs import DICTIONARIES, OF_ACTIONS, SectionKind
from actiondbg.recording.tables.action_rows import ActionRows
from actiondbg.recording.tables.lazy_table import LazyTable
from actiondbg.recording.tables.operation_definitions import Definitions
from actiondbg.recording.tables.recorded_tables import (
    ActionTable,
    ChangeTable,
    OperationTable,
    ReasonTable,
    finding_table,
    link_table,
)
from actiondbg.recording.tables.snapshots import (
    IRTexts,
    RecordedStage,
    Snapshot,
    SnapshotTable,
    StageTable,
)
from actiondbg.support.counts import counted


class Recording:
    """The tables of a recording, each column read on first use and cached.

    docs/recordings.md describes them: actions, changes, operations, reasons, findings, links
    and ir.
    """

    def __init__(self, file: RecordingFile) -> None:
        self._file = file
        self._rows = ActionRows(file)
        strings = StringTables(file, self._rows.threads)
        self._definitions = definitions = Definitions(self._rows, strings)
        texts = IRTexts(file)
        self._stages = StageTable(self._rows, strings, definitions, texts)
        changes = ChangeTable(self._rows, definitions)
        reasons = ReasonTable(self._rows, strings)
        self._snapshots = SnapshotTable(self._rows, texts, strings)
        actions = ActionTable(self._rows, strings, definitions, changes, reasons)
        self.tables: dict[str, LazyTable] = {
            "actions": actions.table(),
            "changes": changes.table(),
            "operations": OperationTable(definitions, changes).table(),
            "reasons": reasons.table(),
            "findings": finding_table(self._rows, strings),
            "links": link_table(self._rows),
            "ir": self._snapshots.table(),
        }

    @property
    def path(self) -> str:
        """The path, as given."""
        return self._file.path

    @property
    def header(self) -> Header:
        """The recorded run."""
        return self._file.header

    @property
    def count(self) -> int:
        """The number of actions."""
        return self._rows.count

    @cached_property
    def ending(self) -> Ending:
        """How the tool ended."""
        return read_ending(self._file, self._rows.ordinal_of_row)

    @cached_property
    def cut(self) -> str | None:
        """Why the recording may be incomplete, in sentences; None if it is complete."""
        sentences = [self._file.cut] if self._file.cut else []
        if self._rows.lost:
            lost = counted(self._rows.lost, "action")
            sentences.append(f"The recording lacks {lost} in its middle.")
        if not sentences and self.ending.ended == "killed":
            sentences.append(
                "The recording has no end, because the tool was killed or still runs: "
                f"it holds the {counted(self.count, 'action')} up to then."
            )
        return " ".join(sentences) or None

    def columns(self, table: str) -> list[str]:
        """List the columns of a table; raises RecordingError for an unknown table."""
        return self._table(table).names

    def table(self, name: str, columns: Sequence[str] | None = None) -> Table:
        """Return a table, or some of its columns.

        Returns:
            A pyarrow.Table in the order of the ordinals; operations in the order of their ids.

        Raises:
            RecordingError: the table or a column is unknown.
        """
        table = self._table(name)
        unknown = [column for column in columns or () if column not in table.names]
        if unknown:
            raise RecordingError(
                f"There is no column {unknown[0]!r} in {name}: use {', '.join(table.names)}."
            )
        return table.table(columns)

    def arrays(self, table: str, *columns: str) -> list[Array]:
        """Return some columns of a table, each as a pyarrow.Array."""
        return self.tables[table].columns(columns)

    def first_functions(self) -> dict[int, str]:
        """Return by id the function in which an operation was first; none outside functions.

        The function of the table ``operations`` is the last one.
        """
        return self._definitions.first_functions()

    def snapshots(self, ordinal: int) -> list[Snapshot]:
        """Return the recorded IR around an action; nothing for an action without changes."""
        return self._snapshots.of(ordinal)

    @cached_property
    def stages(self) -> list[RecordedStage]:
        """The IR at the ends of the run.

        The input and the output with ``record --lineage``; the output alone with ``--ir output``
        or ``--ir function``; else nothing.
        """
        return self._stages.stages()

    def needs_tool(self, what: str) -> NotRecorded:
        """Return the error of a feature that needs a running tool.

        Args:
            what: the feature, as the subject of a sentence: "Skipping an action".
        """
        command = shlex.join(["actiondbg", *(self.header.argv or ("TOOL", "ARGS..."))])
        return NotRecorded(
            f"{what} needs a running tool, not a recording: start the tool with `{command}`."
        )

    @property
    def needs_ir(self) -> NotRecorded:
        """The error of a question about the IR of actions, if none is recorded."""
        what = "no IR"
        if self.header.ir == "output":
            what = "the IR at the end only, for actiondbg compare"
        return NotRecorded(f"{self.path} holds {what}: record it with --ir function.")

    def _table(self, name: str) -> LazyTable:
        if name not in self.tables:
            raise RecordingError(f"There is no table {name!r}: use {', '.join(self.tables)}.")
        return self.tables[name]


def divide(chunks: Sequence[Chunk], most: int) -> Iterator[int]:
    """Yield the index after the last chunk of each part of about ``most`` actions but the last."""
    count = 0
    for index, chunk in enumerate(chunks):
        count += count_actions([chunk])
        if count >= most and index + 1 < len(chunks):
            yield index + 1
            count = 0


def part_of(
    file: RecordingFile, first: int, last: int, kept: Iterable[int], undecided: int
) -> Recording:
    """Return a part of a recording of one thread, as a recording.

    Ordinals and times are those of the whole recording.

    Args:
        file: the recording, complete or still growing.
        first: the index of the part's first chunk.
        last: the index after the part's last chunk.
        kept: the ordinals of earlier actions to include; the first action is there in any case.
        undecided: the first ordinal whose patches and reasons are needed too.
    """
    # Always include the first action: times count from it.
    rows = np.array(sorted({0, *(ordinal - 1 for ordinal in kept)}))
    chunks: list[Chunk] = []
    for chunk in file.chunks[:first]:
        needed = chunk.first_row + count_actions([chunk]) >= undecided
        kinds = (*DICTIONARIES, *OF_ACTIONS) if needed else DICTIONARIES
        sections = [section for section in chunk.sections if section.kind in kinds]
        chunks.append(replace(chunk, sections=sections))
        chunks += _rows_of(chunk, rows)
    chunks += file.chunks[first:last]
    # All parts take the clock rate from the same chunks.
    chunks += [replace(chunk, sections=[]) for chunk in file.chunks[last:][-1:]]
    return Recording(replace(file, chunks=chunks))


def _rows_of(chunk: Chunk, rows: Ints) -> Iterator[Chunk]:
    """Of some rows, yield those in a chunk, as chunks of one row."""
    for section in chunk.sections:
        if section.kind != SectionKind.ACTIONS:
            continue
        first, last = np.searchsorted(rows, [chunk.first_row, chunk.first_row + section.count])
        for row in rows[first:last]:
            offset = section.offset + section.item * (row - chunk.first_row)
            only = replace(section, count=1, offset=int(offset), size=section.item)
            yield replace(chunk, first_row=int(row), sections=[only])
