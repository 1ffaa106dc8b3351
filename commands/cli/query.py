"""``actiondbg query [options] RUN.adbrec... "SQL"``, and ``actiondbg export --parquet DIR``."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, get_args

from actiondbg.commands.cli.line_parser import LineParser, Partial, file_or_stdout, subcommand
from actiondbg.commands.interpreter.options import Options, option, positional
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import UsageError
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import check_overwritten
from actiondbg.support.atomic_write import open_whole
from actiondbg.support.counts import counted, size_text
from actiondbg.support.output_file import writing

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from actiondbg.recording.query.results import Write
    from actiondbg.suite.folder import SuiteFolder

AnswerFormat = Literal["table", "csv", "json", "parquet"]
_EPILOG = """\
examples:
  actiondbg query run.adbrec
  actiondbg query run.adbrec "select name, count(*) from actions group by name"
  actiondbg query -o slow.csv run.adbrec "from actions order by self_ns desc limit 100"
  actiondbg query 'nightly/*.adbrec' "select run, sum(self_ns) from actions group by run"

Several recordings, a folder or a glob of recordings, or an export of 'actiondbg export' are queried
together: the tables then have a column run. A suite of 'actiondbg suite record' has tables of its
own (docs/suites.md). Without SQL, the tables and columns are listed; - reads the SQL from standard
input. docs/recordings.md describes the tables, with useful queries.

exit status: 0 success, 1 error, 2 bad usage.
"""


class QueryOptions(Options):
    words: tuple[str, ...] = positional(
        "RUN.adbrec", required=True, help="recordings, then the SQL"
    )
    format: AnswerFormat | None = option(
        help="the format; by default from the suffix of FILE, else table"
    )
    output: Path | None = option(
        "-o", "--output", "FILE", help="write the result to a file", parse=file_or_stdout
    )
    partial: Partial = False


@subcommand("query", '[options] RUN.adbrec... ["SQL"]', QueryOptions, _EPILOG)
def run(parser: LineParser[QueryOptions], argv: list[str]) -> int:
    """Query recordings in SQL."""
    options = parser.read_intermixed(argv)
    need_packages("actiondbg query")
    from actiondbg.recording.query.database import LISTING, listing
    from actiondbg.recording.query.sources import open_sources

    paths, sql = _split(options.words)
    if options.output is not None:
        check_overwritten(options.output, paths)
    if (suite := _suite(paths)) is not None:
        from actiondbg.suite.index import SCHEMAS, connect

        with contextlib.closing(connect(suite)) as database:
            asked = listing(list(SCHEMAS)) if sql is None else sql
            print_answer(database, asked, options.format, options.output)
        return 0
    sources = open_sources(paths, partial=options.partial)
    for sentence in sources.sentences():
        print_notice(sentence)
    with contextlib.closing(sources.connect()) as database:
        print_answer(database, LISTING if sql is None else sql, options.format, options.output)
    return 0


def _suite(paths: Sequence[str]) -> SuiteFolder | None:
    from actiondbg.suite.folder import SuiteFolder

    folders = [folder for folder in map(SuiteFolder, map(Path, paths)) if folder.exists]
    if len(paths) > 1 and folders:
        raise UsageError(
            f"{str(folders[0].path)!r} is a suite, which is queried alone: join several with "
            "'actiondbg suite merge'."
        )
    return folders[0] if folders else None


def print_answer(
    database: DuckDBPyConnection, sql: str, format: AnswerFormat | None, output: Path | None
) -> None:
    """Answer a query on standard output, or in a file, whose suffix may select the format.

    Raises:
        ActiondbgError: the query fails, or the file cannot be written.
    """
    from actiondbg.recording.query.execution import ask

    chosen = format or _format_of(output)
    on_terminal = output is None and sys.stdout.isatty()
    if chosen == "parquet" and on_terminal:
        raise UsageError("Parquet cannot be printed on a terminal: name a file with -o.")
    if chosen == "table" and on_terminal:
        from actiondbg.commands.render.query import show_table

        omission = ask(database, sql, show_table)
        if omission is not None:
            print_notice(omission)
        return
    with _output(output) as out:
        write = _writer(chosen)
        ask(database, sql, lambda reader: write(reader, out))


def _split(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Split the words into the paths and the SQL, None to list the tables."""
    *paths, last = words
    if not paths or _is_path(last):
        return [*paths, last], None
    return paths, sys.stdin.read() if last == "-" else last


def _is_path(word: str) -> bool:
    if os.path.lexists(word):
        return True
    return " " not in word and (word.endswith(".adbrec") or ("/" in word and glob.has_magic(word)))


def _format_of(output: Path | None) -> str:
    suffix = output.suffix.removeprefix(".") if output is not None else ""
    return suffix if suffix in get_args(AnswerFormat) else "table"


def _writer(format: str) -> Write:
    if format == "table":
        from actiondbg.commands.render.query import write_table

        return write_table
    from actiondbg.recording.query.results import FORMATS

    return FORMATS[format]


@contextlib.contextmanager
def _output(path: Path | None) -> Generator[IO[bytes]]:
    """Yield the output of the result; a file is written atomically."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with writing(path), open_whole(path) as out:
        yield out


_EXPORT_EPILOG = """\
examples:
  actiondbg export --parquet bucket run.adbrec
  actiondbg query bucket "select run, sum(self_ns) from actions group by run"
  duckdb -c "select run, count(*) from read_parquet('bucket/*/actions.parquet') group by run"

Each recording becomes a folder run=NAME-ID in DIR with one Parquet file a table. The name depends
only on the recording, so that exports of several machines can share a bucket.

exit status: 0 success, 1 error, 2 bad usage.
"""


class ExportOptions(Options):
    parquet: Path = option("DIR", help="the folder to write to")
    recordings: tuple[str, ...] = positional(
        "RUN.adbrec", required=True, help="recordings, or folders of them"
    )
    partial: Partial = False


@subcommand("export", "--parquet DIR [options] RUN.adbrec...", ExportOptions, _EXPORT_EPILOG)
def export_(parser: LineParser[ExportOptions], argv: list[str]) -> int:
    """Export recordings to Parquet files."""
    options = parser.read(argv)
    need_packages("actiondbg export")
    from actiondbg.recording.query.export import export
    from actiondbg.recording.query.sources import open_sources

    sources = open_sources(options.recordings, partial=options.partial)
    if sources.exports:
        parser.error(
            f"{sources.exports[0]!r} is an export already: name recordings, or a folder of them."
        )
    for sentence in sources.sentences():
        print_notice(sentence)
    for recording in sources.recordings.values():
        with writing(options.parquet):
            folder, size = export(recording, options.parquet)
        count = counted(recording.count, "action")
        print(f"{folder}: {count}, {size_text(size)}")
    return 0
