"""The index of a suite: a summary of each run in tables, as Parquet files, and their database."""

from __future__ import annotations

import os
import re
import shlex
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from actiondbg.errors import FileNotWritten, LaunchError
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.arrow import DataType, Ints, Table, pa
from actiondbg.recording.format.file import Ending, Header, read_ending, read_file
from actiondbg.recording.format.items import Items, StringTables
from actiondbg.recording.format.layout import CHANGED, OUTCOMES, ROLLED_BACK
from actiondbg.recording.format.structs import SectionKind, Space
from actiondbg.recording.query.filters import quoted
from actiondbg.recording.run_facts import RUN_COLUMNS, RunSource, facts_of
from actiondbg.recording.tables.action_rows import ActionRows
from actiondbg.recording.tables.operation_definitions import Definitions, taken
from actiondbg.suite.folder import SuiteFolder
from actiondbg.suite.lit_tests import LitTests
from actiondbg.suite.processes import (
    SuiteProcess,
    SuiteProcesses,
    input_files,
    name_of,
    read_processes,
)
from actiondbg.support.atomic_write import replaced_directory
from actiondbg.tool import find_tool

if TYPE_CHECKING:
    import duckdb

_TEXT, _COUNT, _FLAG = pa.string(), pa.int64(), pa.bool_()
_KEY = re.compile(r"\d+-\d+")  # of a process, and the name of its recording
_NAME = re.compile(r"--?([A-Za-z0-9][\w-]*)(?:=(.*))?", re.DOTALL)

SCHEMAS: dict[str, Mapping[str, DataType]] = {
    "runs": {
        "run": _COUNT,
        "tool": _TEXT,
        "test": _TEXT,
        "run_line": pa.int32(),
        "run_text": _TEXT,
        "input": _TEXT,
        "command": _TEXT,
        "argv": pa.list_(_TEXT),
        "cwd": _TEXT,
        "executable": _TEXT,
        **RUN_COLUMNS,
        "seconds": pa.float64(),
        "recording": _TEXT,
        "missing": _TEXT,
        "part": pa.int32(),
    },
    "attempts": {
        "run": _COUNT,
        "tag": _TEXT,
        "name": _TEXT,
        "full_name": _TEXT,
        "op": _TEXT,
        "outcome": _TEXT,
        "changed": _FLAG,
        "rolled_back": _FLAG,
        "times": _COUNT,
        "duration_ns": _COUNT,
    },
    "reasons": {
        "run": _COUNT,
        "tag": _TEXT,
        "name": _TEXT,
        "op": _TEXT,
        "reason": _TEXT,
        "times": _COUNT,
    },
    "registered": {"run": _COUNT, "pattern_set": _TEXT},
    "patterns": {
        "pattern_set": _TEXT,
        "name": _TEXT,
        "full_name": _TEXT,
        "root": _TEXT,
        "benefit": pa.int32(),
    },
    "pass_options": {"run": _COUNT, "pass": _TEXT, "options": _TEXT},
}
_MARK = "runs.parquet"
_CHECKSUM = "checksum"
NO_CONTEXT = "it made no MLIR context"
UNWRITTEN = "its recording could not be written, or the limit of disk space was reached"
SHORTENED = "the limit of disk space was reached during the run, or the disk was full"


@dataclass
class SuiteTables:
    """The rows of the tables in ``SCHEMAS``, by name."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in SCHEMAS})

    def add(self, table: str, **values: object) -> None:
        """Add a row."""
        self.rows[table].append(values)

    def arrow(self, table: str) -> Table:
        """Return a table."""
        schema = pa.schema(list(SCHEMAS[table].items()))
        return pa.Table.from_pylist(self.rows[table], schema=schema)


def build_index(folder: SuiteFolder) -> None:
    """Write the tables of a suite anew, atomically.

    Raises:
        FileNotWritten: the folder of the index cannot be made.
        OSError: a table cannot be written.
    """
    write_tables(folder, _tables_of(folder))


def _tables_of(folder: SuiteFolder) -> SuiteTables:
    tables = SuiteTables()
    processes = read_processes(folder)
    processes.all += _unnoted(folder, {each.key for each in processes.all})
    _add_runs(folder, processes, tables)
    _add_patterns(folder, tables)
    return tables


def write_tables(folder: SuiteFolder, tables: SuiteTables) -> None:
    """Write the tables, atomically; raises as ``build_index``."""
    parquet: Any = import_module("pyarrow.parquet")
    if folder.index.is_dir():
        (folder.index / _MARK).touch()  # an index that has lost this table is replaced, too
    with replaced_directory(folder.index, _MARK) as new:
        for name in SCHEMAS:
            parquet.write_table(tables.arrow(name), new / f"{name}.parquet", compression="zstd")
        (new / _CHECKSUM).write_text(_checksum(new))


def is_indexed(folder: SuiteFolder) -> bool:
    """Whether the index is whole, has the columns of today, and is newer than the notes."""
    try:
        is_new = (folder.index / _MARK).stat().st_mtime_ns >= folder.notes.stat().st_mtime_ns
        return is_new and (folder.index / _CHECKSUM).read_text() == _checksum(folder.index)
    except (OSError, ValueError):
        return False


def _checksum(index: Path) -> str:
    """Return a checksum of all tables and of their columns; raises OSError if one is missing."""
    total = zlib.crc32(str({name: dict(columns) for name, columns in SCHEMAS.items()}).encode())
    for name in SCHEMAS:
        total = zlib.crc32((index / f"{name}.parquet").read_bytes(), total)
    return f"{total:08x}"


def connect(folder: SuiteFolder) -> duckdb.DuckDBPyConnection:
    """Return an in-memory database with the tables of a suite as views.

    The index is built first, if runs were recorded since; where it cannot be written, as on a full
    disk, the tables are only in memory.

    Raises:
        UsageError: the folder is no suite.
    """
    import duckdb

    folder.check()
    database = duckdb.connect(":memory:")
    database.execute("SET python_enable_replacements = false")
    if not is_indexed(folder):
        tables = _tables_of(folder)
        try:
            write_tables(folder, tables)
        except (FileNotWritten, OSError):
            for name in SCHEMAS:
                database.register(name, tables.arrow(name))
            return database
    for name in SCHEMAS:
        file = quoted(str(folder.index / f"{name}.parquet"))
        database.execute(f"CREATE TEMP VIEW {name} AS FROM read_parquet({file})")
    return database


# --- runs -------------------------------------------------------------------------


def _add_runs(folder: SuiteFolder, processes: SuiteProcesses, tables: SuiteTables) -> None:
    number, tests = 0, LitTests(processes)
    replaced = _replaced(processes, tests)
    for process in processes.all:
        found = None if process in replaced else _recorded(folder, processes, process)
        if found is not None:
            number += 1
            _add_run(number, process, *found, tests, tables)


def _unnoted(folder: SuiteFolder, noted: set[str]) -> Iterator[SuiteProcess]:
    """Yield the processes of recordings that the notes lack, as after a full disk."""
    for path in sorted(folder.runs.glob("*.adbrec")):
        if path.stem in noted or not _KEY.fullmatch(path.stem):
            continue
        try:
            header = summarize(path).header
        except RecordingError:
            header = Header()
        argv = header.argv
        yield SuiteProcess(path.stem, 0, "".join(argv[:1]), header.cwd, "", "", argv, 1)


def _replaced(processes: SuiteProcesses, tests: LitTests) -> set[SuiteProcess]:
    """Return the processes of tests that a later part ran again with the same command."""
    alike: dict[tuple[object, ...], list[SuiteProcess]] = {}
    for process in processes.all:
        stdin = process.stdin if process.stdin.startswith("/") else ""
        key = (process.cwd, process.executable, process.argv, stdin)
        alike.setdefault(key, []).append(process)
    replaced: set[SuiteProcess] = set()
    for group in alike.values():
        if group[0].part == group[-1].part:  # in the order of parts
            continue
        newest = {_test_of(process, tests): process.part for process in group}
        replaced |= {each for each in group if each.part < newest[_test_of(each, tests)]}
    return replaced


def _test_of(process: SuiteProcess, tests: LitTests) -> str | None:
    """Return the test that pytest or lit ran."""
    if process.test:
        return process.test
    test = tests.find(process)
    return None if test is None else test.name


def _recorded(
    folder: SuiteFolder, processes: SuiteProcesses, process: SuiteProcess
) -> tuple[Summary | None, str | None] | None:
    """Return the recording of a process, and what is missing; None if it needs none."""
    path = recording_of(folder.runs, process.key)
    try:
        if path.exists() and path.stat().st_size:
            summary = summarize(path)
            return summary, _missing(summary, process.key in processes.shortened)
    except RecordingError as error:
        return None, str(error)
    if process.key in processes.unrecorded:
        return None, UNWRITTEN
    why = _why_unrecorded(process.executable)
    return None if why is None else (None, why)


def _missing(summary: Summary, is_shortened: bool) -> str | None:
    if is_shortened:
        return SHORTENED
    if summary.ending.ended == "killed":
        return "the process was killed, or wrote to a full disk: the last actions may be missing"
    return summary.cut


@cache
def _why_unrecorded(executable: str) -> str | None:
    """Return why a process of a tool has no recording; None for a program without MLIR."""
    try:
        tool = find_tool(executable)
    except LaunchError as error:
        # Of a tool that the agent cannot observe; a removed or wrapped program is none.
        return str(error) if os.path.exists(executable) and "MLIR" in str(error) else None
    except (OSError, ValueError):
        return None
    return NO_CONTEXT if tool.libmlir is not None else None


@cache
def _llvm_of(executable: str) -> str | None:
    """Return the LLVM version of a tool; None for a program that loads MLIR later."""
    try:
        return find_tool(executable).llvm()
    except (LaunchError, OSError, ValueError):
        return None


def _add_run(
    number: int,
    process: SuiteProcess,
    summary: Summary | None,
    missing: str | None,
    tests: LitTests,
    tables: SuiteTables,
) -> None:
    inputs = list(input_files(process))
    test = tests.find(process)
    run = test.run if test is not None else None
    tables.add(
        "runs",
        run=number,
        tool=name_of(process),
        test=process.test or (test.name if test is not None else None),
        run_line=run.line if run is not None else None,
        run_text=run.text if run is not None else None,
        input=inputs[0] if inputs else None,
        command=_text(_command_line(process)),
        argv=[_text(word) for word in process.argv],
        cwd=_text(process.cwd),
        executable=_text(process.executable),
        **_facts(process, summary),
        recording=f"runs/{process.key}.adbrec" if summary is not None else None,
        missing=missing,
        part=process.part,
    )
    if summary is not None:
        _add_summary(number, summary, process, tables)


def _facts(process: SuiteProcess, summary: Summary | None) -> Row:
    """Return what the recording of a process tells of the run."""
    if summary is None:
        return {"ended": "unrecorded", "actions": 0}
    facts = facts_of(RunSource(summary.header, summary.ending, summary.count))
    facts["llvm"] = facts["llvm"] or _llvm_of(process.executable)
    if summary.ending.ended != "killed":
        facts["seconds"] = (summary.ended - process.began) / 1e9
    return facts


def _add_summary(number: int, summary: Summary, process: SuiteProcess, tables: SuiteTables) -> None:
    for each in summary.attempts:
        tables.add("attempts", run=number, **each)
    for each in summary.reasons:
        tables.add("reasons", run=number, **each)
    for each in summary.pattern_sets:
        tables.add("registered", run=number, pattern_set=each)
    passes = {each["name"] for each in summary.attempts if each["tag"] == PASS_TAG}
    for name, options in sorted(set(pass_options(process.argv, passes))):
        tables.add("pass_options", run=number, **{"pass": name, "options": _text(options)})


def _command_line(process: SuiteProcess) -> str:
    """Return the command line for a shell, with the file of standard input, if it is one."""
    redirection = "" if process.input is None else f" < {shlex.quote(process.input)}"
    return shlex.join(process.argv) + redirection


def pass_options(argv: tuple[str, ...], passes: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the passes that ran, each with its options on a command line, "" for no options."""
    for word in argv[1:]:
        match = _NAME.fullmatch(word)
        if match is None:
            continue
        if match[1] in passes:
            yield match[1], (match[2] or "").strip("'\"")
        elif match[2] and match[1].endswith("pipeline"):
            for name in passes:
                place = rf"(?<![\w-]){re.escape(name)}(?:\{{([^{{}}]*)\}})?(?![\w{{-])"
                for each in re.finditer(place, match[2]):
                    yield name, each[1] or ""


def _text(text: str) -> str:
    """Return text without bytes that UTF-8 lacks."""
    return text.encode(errors="replace").decode()


# --- patterns ---------------------------------------------------------------------


def _add_patterns(folder: SuiteFolder, tables: SuiteTables) -> None:
    """Add the patterns of the sets that runs froze."""
    for number in sorted({str(row["pattern_set"]) for row in tables.rows["registered"]}):
        for row in _patterns(folder.patterns / number):
            tables.add("patterns", pattern_set=number, **row)


def _patterns(path: Path) -> Iterator[Row]:
    """Yield the patterns of a set; a set that cannot be read has none."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        fields = line.split("\t")
        if len(fields) == 4 and fields[3].isdecimal():
            name, full_name, root, benefit = fields
            yield {
                "name": name,
                "full_name": full_name,
                "root": root or None,
                "benefit": int(benefit),
            }


_FLAGS = CHANGED | ROLLED_BACK
Row: TypeAlias = dict[str, Any]  # of a table of the index, by column
_Words: TypeAlias = tuple[str, str, str]  # tag, name and full name


@dataclass
class Summary:
    """A recording, summed up."""

    header: Header  # the recorded run
    ending: Ending  # how it ended
    count: int  # the number of actions
    ended: int  # when its last chunk was written, in ns of CLOCK_MONOTONIC
    cut: str | None  # why it may be incomplete; None if it is complete
    # The rows of the table of attempts, without the run.
    attempts: list[Row] = field(default_factory=list[Row])
    reasons: list[Row] = field(default_factory=list[Row])  # likewise, of the table of reasons
    # The hashes of the sets of patterns that the run froze.
    pattern_sets: list[str] = field(default_factory=list[str])


def summarize(path: str | os.PathLike[str]) -> Summary:
    """Sum a recording up; a damaged one up to the damage.

    Raises:
        RecordingError: the file cannot be read.
    """
    file = read_file(path, partial=True)
    rows = ActionRows(file)
    ended = max((chunk.flushed[1] for chunk in file.chunks), default=0)
    ending = read_ending(file, lambda thread, row: None)
    summary = Summary(file.header, ending, rows.count, ended, file.cut)
    strings = StringTables(file, rows.threads)
    summary.pattern_sets = [
        f"{int(number):x}"
        for _, section in file.sections(SectionKind.PATTERN_SETS)
        for number in np.frombuffer(file.mapped, "<u8", section.count, section.offset)
    ]
    if rows.count:
        actions = _Actions(rows, strings)
        summary.attempts = list(actions.attempts())
        summary.reasons = list(actions.reasons())
    return summary


def _words(text: str) -> _Words:
    tag, name, full_name, *_ = [*text.split("\0"), "", ""]
    return tag, name, full_name


class _Actions:
    """The actions of a recording, in the order in which they are stored."""

    def __init__(self, rows: ActionRows, strings: StringTables) -> None:
        self._rows = rows
        self._reasons = strings[Space.REASON]
        self._names = [_words(text) for text in strings[Space.ACTION].texts]
        self._ops = strings[Space.OPERATION].texts
        names = rows.items.resolve("name", strings[Space.ACTION].places)
        # The name and the operation name of each, as one number.
        self._subjects = names.astype(np.int64) * self._span + self._operations(strings) + 1

    @property
    def _span(self) -> int:
        return len(self._ops) + 1

    def _operations(self, strings: StringTables) -> Ints:
        """Return the operation name of each action, as an index; -1 for none."""
        definitions = Definitions(self._rows, strings)
        if not len(definitions.operations):
            return np.full(self._rows.count, -1, np.int64)
        ranks = self._rows.ranks_of(np.arange(self._rows.count))
        found = definitions.find(self._rows.items.field("operation"), ranks)
        return taken(definitions.names, found).astype(np.int64)

    def _subject(self, number: int) -> tuple[_Words, str | None]:
        op = number % self._span - 1
        return self._names[number // self._span], None if op < 0 else self._ops[op]

    def attempts(self) -> Iterator[Row]:
        """Yield the actions of one name on operations of one name with the same outcome."""
        rows = self._rows
        flags = rows.flags.astype(np.int64) & _FLAGS
        codes = self._subjects << 8 | rows.outcomes.astype(np.int64) << 4 | flags
        found, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
        durations = np.bincount(places, rows.nanoseconds(rows.duration_ticks))
        kinds: list[int] = found.tolist()
        for code, times, duration in zip(kinds, counts, durations, strict=True):
            if code < 0:
                continue  # the name is in a chunk that is missing
            (tag, name, full_name), op = self._subject(code >> 8)
            yield {
                "tag": tag,
                "name": name,
                "full_name": full_name,
                "op": op,
                "outcome": OUTCOMES[min(code >> 4 & 15, len(OUTCOMES) - 1)],
                "changed": bool(code & CHANGED),
                "rolled_back": bool(code & ROLLED_BACK),
                "times": int(times),
                "duration_ns": int(duration),
            }

    def reasons(self) -> Iterator[Row]:
        """Yield the reasons of failures of the actions of one name on operations of one name."""
        items = Items(self._rows.file, SectionKind.REASONS, self._rows.threads)
        if not items.count:
            return
        places = self._rows.places(items, items.field("row"))
        reasons = items.resolve("reason", self._reasons.places).astype(np.int64)
        is_known = (places >= 0) & (reasons >= 0)
        span = len(self._reasons.texts)
        codes = self._subjects[places[is_known]] * span + reasons[is_known]
        found, counts = np.unique(codes, return_counts=True)
        kinds: list[int] = found.tolist()
        same = Counter[tuple[str, str, str | None, str]]()  # full names may differ
        for code, times in zip(kinds, counts.tolist(), strict=True):
            if code >= 0:
                (tag, name, _), op = self._subject(code // span)
                same[tag, name, op, self._reasons.texts[code % span]] += times
        for (tag, name, op, reason), times in same.items():
            yield {"tag": tag, "name": name, "op": op, "reason": reason, "times": times}


def recording_of(runs: Path, key: str) -> Path:
    """Return the path of the recording of a process."""
    return runs / f"{key}.adbrec"
