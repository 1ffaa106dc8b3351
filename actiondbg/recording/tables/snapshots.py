"""IR texts, each stored once: those before and after actions, and at the ends of the run."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np

from actiondbg.ir.tokens import escaped
from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.arrow import WORD, Array, Ints, int_array, pa, word_array
from actiondbg.recording.format.file import RecordingFile
from actiondbg.recording.format.items import Items, StringTables
from actiondbg.recording.format.structs import RAW, TEXT, ZLIB, SectionKind, Space
from actiondbg.recording.tables.action_rows import ActionRows
from actiondbg.recording.tables.lazy_table import LazyTable
from actiondbg.recording.tables.operation_definitions import Definitions
from actiondbg.recording.tables.recorded_tables import ActionItems

_ALIGNMENT = 8  # bytes
_WHEN = ("before", "after")


class IRText(NamedTuple):
    """Recorded IR.

    Attributes:
        text: as MLIR's printer wrote it.
        values: the agent's list of the values in it, see ``ir.value_names.read_names``; empty in
            texts of single operations, of imports, and of older recordings.
    """

    text: str
    values: str = ""


@dataclass(frozen=True)
class Snapshot:
    """The IR of an operation around an action.

    Args:
        before: the text before, None for an operation that did not exist yet.
        after: the text after, None for an erased operation.
        values: the lists of the values in both texts, see ``IRText``.
    """

    operation: int
    before: str | None
    after: str | None
    values: tuple[str, str] = ("", "")

    @property
    def texts(self) -> list[IRText | None]:
        """Both texts with their values."""
        texts = zip((self.before, self.after), self.values, strict=True)
        return [None if text is None else IRText(text, values) for text, values in texts]


class IRTexts:
    """IR texts by hash, decompressed on access."""

    def __init__(self, file: RecordingFile) -> None:
        self._file = file

    def get(self, hash: int) -> IRText | None:
        """Return a text with its values; None if it is not stored."""
        return self[hash] if hash in self._stored else None

    def __getitem__(self, hash: int) -> IRText:
        """Return a text with its values.

        Raises:
            KeyError: no text has the hash.
            RecordingError: the text cannot be decompressed.
        """
        offset, size, codec = self._stored[hash]
        content = self._file.mapped[offset : offset + size]
        if codec == RAW:
            return _split(content)
        try:
            if codec != ZLIB:
                raise zlib.error(f"unknown compression {codec}")
            return _split(zlib.decompress(content))
        except zlib.error as error:
            raise RecordingError(
                f"The IR text at byte {offset:,} of {self._file.path!r} cannot be read ({error}): "
                "record it again, or use a newer actiondbg."
            ) from error

    @cached_property
    def _stored(self) -> dict[int, tuple[int, int, int]]:
        """The offset, the size and the codec of each text, by its hash."""
        stored: dict[int, tuple[int, int, int]] = {}
        for _, section in self._file.sections(SectionKind.TEXTS):
            offset = section.offset
            for _ in range(section.count):
                self._file.check_entry(section, offset + TEXT.size)
                hash, _, size, codec, _ = TEXT.unpack_from(self._file.mapped, offset)
                offset += TEXT.size
                self._file.check_entry(section, offset + size)
                stored[hash] = offset, size, codec
                offset += size + -size % _ALIGNMENT
        return stored


def _split(content: bytes) -> IRText:
    text, _, values = content.partition(b"\0")
    return IRText(text.decode(errors="replace"), values.decode(errors="replace"))


class SnapshotTable(ActionItems):
    """The recorded IR, in the order of the actions."""

    def __init__(self, rows: ActionRows, texts: IRTexts, strings: StringTables) -> None:
        super().__init__(rows, SectionKind.IR)
        self._texts = texts
        self._strings = strings

    def of(self, ordinal: int) -> list[Snapshot]:
        """Return the recorded IR around an action."""
        first, last = (np.searchsorted(self.ordinals, ordinal, side) for side in ("left", "right"))
        return [self._snapshot(at) for at in range(int(first), int(last))]

    def _snapshot(self, at: int) -> Snapshot:
        before, after = (self._texts.get(int(hash)) for hash in self._hashes[at])
        return Snapshot(
            int(self._numbers[at]),
            before and before.text,
            after and after.text,
            (self._values(before), self._values(after)),
        )

    def _values(self, text: IRText | None) -> str:
        return self._input.complete(text.values) if text else ""

    @cached_property
    def _input(self) -> InputValues:
        return InputValues(self._strings[Space.VALUES].texts)

    def table(self) -> LazyTable:
        """Return the table."""
        return LazyTable(
            [
                ("ordinal", pa.int64(), lambda: self._column(self.ordinals)),
                ("operation", pa.int64(), lambda: self._column(self._numbers)),
                ("when", WORD, lambda: word_array(self._places % len(_WHEN), _WHEN)),
                ("text", pa.large_string(), lambda: self._texts_at(np.arange(len(self._places)))),
            ],
            large={"text": self._texts_at},
        )

    @cached_property
    def _numbers(self) -> Ints:
        return self.field("operation")

    @cached_property
    def _hashes(self) -> Ints:
        """The hashes before and after each, 0 for none."""
        return np.stack([self.field(when) for when in _WHEN], axis=1)

    @cached_property
    def _places(self) -> Ints:
        """The indices of the table's rows in the flattened hashes."""
        return np.flatnonzero(self._hashes.ravel())

    def _column(self, values: Ints) -> Array:
        return int_array(values[self._places // len(_WHEN)], pa.int64())

    def _texts_at(self, rows: Ints) -> Array:
        hashes = self._hashes.ravel()[self._places[rows]].tolist()
        known = {hash: self._texts.get(hash) for hash in set(hashes)}
        texts = [text and text.text for text in map(known.get, hashes)]
        return pa.array(texts, type=pa.large_string())


_PARTS = ("=", "+")  # lines that divide a list


class InputValues:
    """The names of the input, which a recording holds once, from all its lists of values."""

    def __init__(self, lists: Iterable[str]) -> None:
        self._numbers = (-1, -1)
        # The lines of each scope, by the line of the scope: several lists may have one.
        self._of_scope: dict[str, dict[str, None]] = {}
        self._by_key: dict[str, tuple[str, str]] = {}  # the line of the scope, and the name
        for text in lists:
            self._add(text)

    def _add(self, text: str) -> None:
        scope = ""
        for line in text.splitlines():
            first, _, second = line.partition(" ")
            if line.startswith("!"):
                result, argument = self._numbers
                self._numbers = max(result, int(first[1:])), max(argument, int(second))
            elif line.startswith("@"):
                scope = line
            else:
                self._of_scope.setdefault(scope, {})[line] = None
                self._by_key[first[1:]] = scope, second

    def complete(self, values: str) -> str:
        """Return the list of the values in a text with what the input names among them."""
        if not values or not self._of_scope:
            return values
        numbers = "!{} {}".format(*self._numbers)
        lines, scope, listed = [numbers], "", set[str]()
        for line in values.splitlines():
            if line in _PARTS:
                lines += (line, numbers)
                listed.clear()
            elif line.startswith("@"):
                scope = line
                lines += (line, *(self._of_scope.get(line, ()) if line not in listed else ()))
                listed.add(line)
            else:
                _, _, key = line.partition(" ")
                of_input = self._by_key.get(key)
                if of_input and of_input[0] != scope:
                    lines.append(f">{key} {of_input[1]}")
                lines.append(line)
        return "\n".join((*lines, ""))


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
        self._items = Items(rows.file, SectionKind.STAGE_OPERATIONS, rows.threads)
        self._stages = Items(rows.file, SectionKind.STAGES, rows.threads)

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
    return f"{_quoted(file)}:{line}:{column}"


@lru_cache(maxsize=1024)
def _quoted(file: str) -> str:
    return f'"{escaped(file)}"'
