"""The import of a log or a folder of dumps as a recording, which it writes."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from actiondbg.ir.aliases import definitions, with_used
from actiondbg.ir.tree.outline import find, without_indent
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.items import varint, zigzag
from actiondbg.recording.format.layout import (
    CHANGE_KINDS,
    CHANGED,
    LAYOUTS,
    OUTCOMES,
    UNKNOWN_CHANGE,
)
from actiondbg.recording.format.structs import (
    CHUNK_HEADER,
    CHUNK_MAGIC,
    FILE_HEADER,
    PACKED,
    RAW,
    SECTION_HEADER,
    STRING,
    TEXT,
    VERSION,
    WORD,
    ZLIB,
    SectionKind,
    Space,
)
from actiondbg.recording.imported.last_texts import ImportedOperation
from actiondbg.recording.imported.passes import (
    MARK,
    Dump,
    DumpHeader,
    ImportedPass,
    PassNesting,
    PassReader,
    is_whole,
    parse_header,
    split_ir,
)
from actiondbg.support.atomic_write import open_whole
from actiondbg.support.counts import counted
from actiondbg.support.recording_file import MAGIC

_ERROR = re.compile(r"(?:^|: )error: (.*)")
_MOST_ERRORS = 20  # that are kept for the next dump
STDIN = "-"
_GZIP = b"\x1f\x8b"
_FLAGS = "--mlir-print-ir-after-all"
_NUMBERS = re.compile(r"(\d+(?:_\d+)*)_")  # one of each operation from the outermost one
_SUFFIX = ".mlir"

# Of each folder on the way, the number of the pass, and the next folder; the pass itself is first.
Key = tuple[tuple[int, str], ...]


class LogReader:
    """Reads the dumps of a log.

    Args:
        rest: a file to which the lines are written that belong to no dump; None for none.

    Attributes:
        lines: the number of lines so far.
        rest: the number of lines that belong to no dump; empty lines are not counted.
        cut: the header of a dump that the end of the log cuts off, if there is one.
    """

    def __init__(self, rest: IO[bytes] | None = None) -> None:
        self._rest = rest
        self._errors: list[str] = []
        self.lines = 0
        self.rest = 0
        self.cut: DumpHeader | None = None

    def dumps(self, lines: Iterable[bytes]) -> Iterator[Dump]:
        """Iterate over the dumps of a log, or of a file that is a part of it."""
        header: DumpHeader | None = None
        body: list[bytes] = []
        for line in lines:
            self.lines += 1
            if MARK not in line:
                if header is None:
                    self._keep(line.decode(errors="replace"))
                else:
                    body.append(line)
                continue
            before, mark, rest = line.decode(errors="replace").partition(MARK.decode())
            next_header = parse_header(mark + rest, self.lines)
            if next_header is None and header is not None and '"' in before:
                body.append(line)  # a string that holds the mark
                continue
            body.append(before.encode())  # written by another thread, or without an end of line
            yield from self._dump(header, body)
            header, body = next_header, []
            if header is None:
                self._keep(mark + rest)
        yield from self._dump(header, body, is_last=True)

    def _dump(
        self, header: DumpHeader | None, body: list[bytes], is_last: bool = False
    ) -> Iterator[Dump]:
        text = b"".join(body).decode(errors="replace")
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        ir, rest = ("", text) if header is None else split_ir(text)
        if header is not None and is_last and not is_whole(ir):
            self.cut = header
        elif header is not None:
            yield Dump(header, ir + "\n", tuple(self._errors))
            self._errors.clear()
        for line in rest.split("\n"):
            self._keep(line)

    def _keep(self, line: str) -> None:
        """Count a line that belongs to no dump, and keep an error."""
        line = line.rstrip("\r\n")
        if not line.strip():
            return
        self.rest += 1
        if self._rest is not None:
            self._rest.write(f"{line}\n".encode(errors="replace"))
        error = _ERROR.search(line)
        if error is not None and len(self._errors) < _MOST_ERRORS:
            self._errors.append(error[1])


class Import(NamedTuple):
    """What was imported; ``rest`` is the number of lines that belong to no dump."""

    passes: int
    operations: int
    rest: int
    notes: list[str]


def import_log(
    source: str,
    output: str | os.PathLike[str],
    *,
    progress: Callable[[int, int], None] | None = None,
    rest: IO[bytes] | None = None,
) -> Import:
    """Import a log, or a folder of dumps, as a recording.

    Args:
        source: the log, plain or gzip; a folder; or ``-`` for standard input.
        output: the recording, which is written atomically.
        progress: is called with the numbers of lines and of dumps so far.
        rest: a file to which the lines are written that belong to no dump.

    Raises:
        RecordingError: the source cannot be read, or has no dump.
        OSError: the recording cannot be written.
    """
    log = LogReader(rest)
    with _parts(source) as parts, open_whole(output, replaces_recording=True) as file:
        writer = RecordingWriter(file)
        writer.begin(_header(source))
        reader = PassReader(writer.store)
        dumps = 0
        for lines in parts:
            for dump in log.dumps(lines):
                reader.add(narrowed(dump) if os.path.isdir(source) else dump)
                dumps += 1
                if progress is not None:
                    progress(log.lines, dumps)
        _check_found(source, log, dumps, reader.unread)
        passes = reader.finish()
        nesting = PassNesting(passes)
        writer.finish(nesting.in_order(), reader.operations.all)
    notes = _notes(log, reader, nesting.overlaps)
    return Import(len(passes), len({one.operation for one in passes}), log.rest, notes)


def _header(source: str) -> dict[str, object]:
    name = "standard input" if source == STDIN else source
    return {"argv": [], "cwd": "", "ir": "pass", "imported": name}


# --- the source ---


@contextlib.contextmanager
def _parts(source: str) -> Generator[Iterator[Iterator[bytes]]]:
    """Yield the files of a source, each as its lines."""
    if source == STDIN:
        yield iter([iter(sys.stdin.buffer)])
        return
    path = Path(source)
    if path.is_dir():
        files = dump_files(path)
        if not files:
            raise RecordingError(
                f"The folder {source!r} has no dump of a pass, such as 0_canonicalize.mlir: make "
                f"one with `mlir-opt {_FLAGS} --mlir-print-ir-tree-dir=DIR`."
            )
        yield map(_lines_of, files)
        return
    with _reading(source):
        log = _open(path)
    with log:
        yield iter([_lines(source, log)])


def _lines_of(path: Path) -> Iterator[bytes]:
    with _reading(str(path)), path.open("rb") as file:
        yield from file


def _lines(name: str, file: IO[bytes]) -> Iterator[bytes]:
    with _reading(name):
        yield from file


def _open(path: Path) -> IO[bytes]:
    """Open a log, which may be a pipe."""
    file = path.open("rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    start = file.read(len(_GZIP))
    file.seek(0)
    return gzip.open(file) if start == _GZIP else file  # pyright: ignore[reportReturnType]


@contextlib.contextmanager
def _reading(name: str) -> Generator[None]:
    """Raise RecordingError for a log that cannot be read."""
    try:
        yield
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or error
        raise RecordingError(
            f"{name!r} cannot be read ({why}): give a log, or a folder of dumps."
        ) from error


# --- messages ---


def _check_found(source: str, log: LogReader, dumps: int, unread: int) -> None:
    """Raise RecordingError if there is no pass."""
    if dumps > unread:
        return
    name = "Standard input" if source == STDIN else repr(source)
    if not log.lines:
        raise RecordingError(f"{name} is empty: run the compiler with {_FLAGS} 2> LOG.")
    if log.cut is not None:
        raise RecordingError(
            f"{name} ends in the middle of its only dump ({log.cut.when} {log.cut.full_name}, line "
            f"{log.cut.line:,}): make the whole log again."
        )
    if unread:
        count = counted(unread, "dump")
        raise RecordingError(
            f"{name} has {count} without an operation: give the log as the compiler printed it, "
            "without prefixes of its lines."
        )
    lines = counted(log.lines, "line")
    raise RecordingError(
        f"{name} has no dump of a pass in its {lines}: run the compiler with {_FLAGS} 2> LOG "
        "(Triton: MLIR_ENABLE_DUMP=1)."
    )


def _notes(log: LogReader, reader: PassReader, overlap: bool) -> list[str]:
    notes: list[str] = []
    if log.cut is not None:
        notes.append(
            f"The log is cut off in the dump {log.cut.when} {log.cut.full_name} (line "
            f"{log.cut.line:,}), which is left out."
        )
    if reader.unread:
        notes.append(f"{counted(reader.unread, 'dump')} without an operation left out.")
    if reader.unseen:
        notes.append(
            f"{counted(reader.unseen, 'dump')} before passes "
            f"{'shows' if reader.unseen == 1 else 'show'} IR that no pass of the log left: "
            "passes were not printed, or the tool split its input (--split-input-file), and the "
            "import takes its parts for one module."
        )
    if overlap or reader.alternates:
        notes.append(
            "The log mixes the passes of several threads; they are in the order of their first "
            "dumps. With --mlir-disable-threading it has the order of one thread."
        )
    return notes


def dump_files(folder: Path) -> list[Path]:
    """Return the files of a folder of dumps in the order in which MLIR wrote them.

    Those of operations that do not contain each other are in the order of their names: passes on
    them may have run at the same time.
    """
    found: list[tuple[Key, Path]] = []
    for file in folder.rglob(f"*{_SUFFIX}"):
        numbers = _NUMBERS.match(file.name)
        if numbers is not None:
            found.append((_key(folder, file, numbers[1]), file))
    return [file for _, file in sorted(found)]


def _key(folder: Path, file: Path, numbers: str) -> Key:
    counts = [int(number) for number in numbers.split("_")]
    folders = file.relative_to(folder).parts[:-1]
    inner = [*folders[len(folders) - len(counts) + 1 :], ""]
    outer = tuple((0, name) for name in folders[: len(folders) - len(counts) + 1])
    return outer + tuple(zip(counts, inner, strict=False))


def narrowed(dump: Dump) -> Dump:
    """Return a dump of a pass's operation alone, if the dump is of the module around it.

    The order of passes on different functions is unknown: the rest of the module may be older or
    newer than that of the dump before.
    """
    scope = dump.header.scope
    found = find(dump.text, *scope) if scope is not None and scope[1] else []
    if len(found) != 1:
        return dump
    text = with_used(without_indent(dump.text, found[0]), definitions(dump.text))
    return dump._replace(header=dump.header._replace(scope=None), text=text)


_TICKS = 1  # in a unit of time
_BUFFER = 4_000_000  # bytes of texts in a chunk
_SHORT = 64  # bytes of a text that is not compressed
_LEVEL = 1  # of the compression: passes change little, and a log is imported once
_THREAD = 0


class RecordingWriter:
    """Writes the recording of an import.

    Its times are the order of the passes: an import has no others, as its header shows.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hashes: set[int] = set()
        self._texts: list[bytes] = []
        self._size = 0
        self._now = 0
        file.write(FILE_HEADER.pack(MAGIC, VERSION, _TICKS))

    def begin(self, header: Mapping[str, object]) -> None:
        """Write the header."""
        self._write([(SectionKind.HEADER, 0, 1, json.dumps(header).encode())])

    def store(self, text: str) -> int:
        """Write a text, once, and return its hash."""
        plain = text.encode(errors="replace")
        hash = int.from_bytes(hashlib.blake2b(plain, digest_size=8).digest(), "little") | 1
        if hash not in self._hashes:
            self._hashes.add(hash)
            stored = zlib.compress(plain, _LEVEL) if len(plain) > _SHORT else plain
            codec = RAW if stored is plain else ZLIB
            item = TEXT.pack(hash, len(plain), len(stored), codec, 0) + _padded(stored)
            self._texts.append(item)
            self._size += len(item)
            if self._size > _BUFFER:
                self._flush()
        return hash

    def finish(
        self, passes: Iterable[tuple[ImportedPass, int]], operations: Iterable[ImportedOperation]
    ) -> None:
        """Write the passes, which are in order, and the end."""
        self._flush()
        rows = _Rows()
        for one in operations:
            rows.define(one)
        for one, depth in passes:
            rows.add(one, depth)
        self._write(
            [*rows.sections(), (SectionKind.END, 0, 1, json.dumps({"ended": "unknown"}).encode())]
        )

    def _flush(self) -> None:
        if self._texts:
            self._write([(SectionKind.TEXTS, 0, len(self._texts), b"".join(self._texts))])
            self._texts, self._size = [], 0

    def _write(self, sections: Sequence[tuple[int, int, int, bytes]]) -> None:
        """Write a chunk of sections: kind, bytes of an item, number of items, payload."""
        body = b"".join(
            SECTION_HEADER.pack(kind, item, count, len(payload), 0) + _padded(payload)
            for kind, item, count, payload in sections
        )
        size = CHUNK_HEADER.size + len(body)

        def header(checksum: int) -> bytes:
            rest = (0, self._now, self._now, 0, 0)  # the first row, clocks
            return CHUNK_HEADER.pack(CHUNK_MAGIC, _THREAD, size, len(sections), checksum, *rest)

        words = np.frombuffer(header(0) + body, "<u8")
        weights = np.arange(1, 2 * len(words), 2, dtype=np.uint64)
        self._file.write(header(int(np.dot(words, weights))))
        self._file.write(body)
        self._now += 1


class _Rows:
    """The sections of passes and operations."""

    def __init__(self) -> None:
        self._ids: dict[tuple[int, bytes], int] = {}
        self._counts: dict[int, int] = {}
        self._strings: list[bytes] = []
        self._rows: dict[SectionKind, list[tuple[int, ...]]] = {}

    def define(self, one: ImportedOperation) -> None:
        """Add the definition of an operation."""
        place = 0
        if one.location is not None:
            file, line, column = one.location
            place = len(self._rows.get(SectionKind.LOCATIONS, ())) + 1
            self._add(SectionKind.LOCATIONS, place, self._string(Space.FILE, file), line, column, 0)
        function = self._string(Space.FUNCTION, one.symbol) if one.is_function else 0
        name = self._string(Space.OPERATION, one.name)
        self._add(SectionKind.OPERATIONS, 0, one.id, place, function, name)

    def add(self, one: ImportedPass, depth: int) -> None:
        """Add a pass."""
        row = len(self._rows.get(SectionKind.ACTIONS, ()))
        words = "\0".join((PASS_TAG, one.header.name, one.header.full_name, ""))
        name = self._string(Space.ACTION, words)
        flags = UNKNOWN_CHANGE if one.changed is None else CHANGED * one.changed
        outcome = OUTCOMES.index(one.outcome)
        operation = one.operation.id
        self._add(SectionKind.ACTIONS, row, 0, operation, name, depth, outcome, flags)
        for change in one.changes:
            code = CHANGE_KINDS.index(change.kind)
            by = 1 + zigzag(change.by - change.operation) if change.by else 0
            self._add(SectionKind.CHANGES, row, change.operation, code, by, 0)
        for reason in one.reasons:
            self._add(SectionKind.REASONS, row, self._string(Space.REASON, reason))
        if one.before or one.after:
            self._add(SectionKind.IR, row, one.printed.id, one.before, one.after)

    def sections(self) -> list[tuple[int, int, int, bytes]]:
        """Return the sections."""
        found = [(int(SectionKind.STRINGS), 0, len(self._strings), b"".join(self._strings))]
        for kind, rows in self._rows.items():
            if kind in PACKED:
                found.append((kind, 0, len(rows), _packed(rows, PACKED[kind][1])))
            else:
                items = np.array(rows, LAYOUTS[kind])
                found.append((kind, items.itemsize, len(rows), items.tobytes()))
        return found

    def _string(self, space: Space, text: str) -> int:
        content = text.encode(errors="replace")
        key = (space, content)
        if key not in self._ids:
            number = self._ids[key] = self._counts[space] = self._counts.get(space, 0) + 1
            self._strings.append(STRING.pack(number, space, 0, len(content)) + _padded(content, 4))
        return self._ids[key]

    def _add(self, kind: SectionKind, *values: int) -> None:
        self._rows.setdefault(kind, []).append(values)


def _padded(content: bytes, to: int = WORD) -> bytes:
    return content + bytes(-len(content) % to)


def _packed(rows: Sequence[Sequence[int]], differences: int) -> bytes:
    """Pack items whose first numbers are differences to the item before."""
    packed = bytearray()
    before = [0] * differences
    for row in rows:
        near = [zigzag(new - old) for new, old in zip(row, before, strict=False)]
        for number in (*near, *row[differences:]):
            packed += varint(number)
        before = list(row[:differences])
    return bytes(packed)
