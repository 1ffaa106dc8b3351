"""``actiondbg lineage [options] SOURCE ["SQL"]``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actiondbg.commands import FAILED
from actiondbg.commands.cli import line_parser, lineage_source
from actiondbg.commands.cli.line_parser import LineParser, names_recording, subcommand
from actiondbg.commands.cli.query import AnswerFormat, print_answer
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import UsageError
from actiondbg.lineage.level import Level
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import check_output
from actiondbg.support.globs import check_glob
from actiondbg.support.output_file import write_file, writing

if TYPE_CHECKING:
    from actiondbg.commands.render.lineage import LineageNames
    from actiondbg.lineage.lineage import Lineage
    from actiondbg.lineage.questions.reasons import Reasons

_EPILOG = """\
examples:
  actiondbg lineage run.adbrec --kind tosa.conv2d --became linalg.matmul
  actiondbg lineage run.adbrec --kinds 'tosa.*' --sankey kinds.html --after tosa-to-linalg
  actiondbg lineage run.adbrec --matrix matrix.html --fail-on-orphan --allow-orphan arith.constant
  actiondbg lineage run.adbrec --of model.mlir:12 --svg conv.svg
  actiondbg lineage run.adbrec --loss --fail-on-loss
  actiondbg lineage --input a.mlir --then b.mlir "select name, count(*) from output group by name"
  actiondbg lineage --kinds '*' -- mlir-opt in.mlir --canonicalize

SOURCE is a recording of 'actiondbg record --lineage', a tool with its arguments after --, or dumps
given by --input and --then. Without a question or SQL, the tables for SQL are listed.

exit status: 0 success; 1 an error, an unexplained orphan with --fail-on-orphan, or a lost location
with --fail-on-loss; 2 bad usage; 3 the tool could not be started. docs/lineage.md explains the
answers.
"""
_NO_LOSSES = (
    "Dumps do not show which action made an operation: ask a recording of record --lineage for "
    "lost locations."
)


class LineageRecordingOptions(Options):
    words: tuple[str, ...] = positional("RUN.adbrec", help="a recording, then SQL if it is asked")
    dumps: lineage_source.Dumps = ()
    remap: lineage_source.Remap = ()
    kinds: str | None = option("GLOB", help="show what the operations of each kind became")
    kind: str | None = option("GLOB", help="group the operations of a kind; needs --became")
    became: str | None = option("GLOB", help="by whether they became this kind at any time")
    of: tuple[str, ...] = option(
        "WHAT",
        help="draw the lineage of operations of the input: FILE:LINE, %%value, @symbol, @ID or "
        "a name; may be repeated",
    )
    back: bool = flag(help="draw where operations of the output came from")
    svg: Path | None = option("FILE", help="a picture of --of")
    html: Path | None = option("FILE", help="a page with the picture of --of")
    dot: Path | None = option("FILE", help="a graph of --of for graphviz")
    sankey: Path | None = option("FILE", help="draw how kinds became others (.html, .svg)")
    after: tuple[str, ...] = option(
        "PASS", help="also show the kinds after a pass; may be repeated"
    )
    matrix: Path | None = option(
        "FILE", help="write the traceability matrix (.html, .csv, .parquet)"
    )
    level: Level | None = option(
        help="the units of the matrix and of the column unit (function), and of kinds and "
        "pictures (operation)"
    )
    orphans: bool = flag(help="summarise the operations without trace or origin")
    fail_on_orphan: bool = flag(help="exit with status 1 if an orphan is unexplained")
    allow_orphan: tuple[str, ...] = option(
        "GLOB", help="operations that may be orphans; may be repeated"
    )
    loss: bool = flag(help="show which actions drop or blur source locations")
    fail_on_loss: bool = flag(help="exit with status 1 if a source location is lost")
    exact: bool = flag(help="leave out what only source locations show")
    tables: bool = flag(help="list the tables for SQL")
    format: AnswerFormat | None = option(
        help="of an answer to SQL; by default from the suffix of FILE"
    )
    output: Path | None = option(
        "-o",
        "--output",
        "FILE",
        help="write the answer to SQL to a file",
        parse=line_parser.file_or_stdout,
    )
    all: bool = flag(help="list everything, not only the first of each")
    json: bool = flag(help="print one JSON object")
    partial: line_parser.Partial = False

    @property
    def asks_orphans(self) -> bool:
        """Whether the matrix is needed."""
        return self.matrix is not None or self.orphans or self.fail_on_orphan

    @property
    def asks_loss(self) -> bool:
        """Whether lost locations are needed."""
        return self.loss or self.fail_on_loss

    @property
    def is_question(self) -> bool:
        """Whether anything but SQL is asked."""
        asked = (self.kinds, self.kind, self.sankey)
        is_asked = any(one is not None for one in asked) or bool(self.of)
        return is_asked or self.asks_orphans or self.asks_loss

    @property
    def pictures(self) -> list[Path]:
        return [path for path in (self.svg, self.html, self.dot) if path is not None]


@subcommand(
    "lineage",
    '[options] (RUN.adbrec | --input A.mlir --then B.mlir) ["SQL"] | [options] -- TOOL ARGS...',
    LineageRecordingOptions,
    _EPILOG,
)
def run(parser: LineParser[LineageRecordingOptions], argv: list[str]) -> int:
    """Answer questions about what the operations of a program became."""
    ours, tool = lineage_source.split_tool(argv)
    options = parser.read_intermixed(ours)
    source, sql = _split(options, tool)
    _check(options, source, sql)
    need_packages("actiondbg lineage")
    if sql:
        from actiondbg.recording.query.execution import check_syntax

        check_syntax(sql)
    with lineage_source.opened_lineage(
        source,
        options.dumps,
        remap=options.remap,
        partial=options.partial,
    ) as lineage:
        if options.is_question:
            return _Answers(lineage, options).give()
        from actiondbg.lineage.questions.lineage_database import TABLES, open_database
        from actiondbg.recording.query.database import listing

        database = open_database(lineage, options.level or "function", exact=options.exact)
        with contextlib.closing(database):
            print_answer(database, sql or listing(TABLES), options.format, options.output)
    return 0


def _split(options: LineageRecordingOptions, tool: list[str]) -> tuple[list[str], str]:
    """Split the words into the source and the SQL; both may be empty.

    Raises:
        UsageError: the source is missing, or there are more words.
    """
    words = list(options.words)
    source = tool
    if not tool and words and (names_recording(words) or not options.dumps):
        source = lineage_source.source_words(words.pop(0), tool)
    if len(words) > 1:
        raise UsageError(f"{words[1]!r} is one word too many: quote the SQL as one word.")
    if not source and not options.dumps:
        raise UsageError(
            "The source is missing: name a recording of record --lineage, a tool after '--', or "
            "dumps with --input A.mlir --then B.mlir."
        )
    sql = words[0] if words else ""
    return source, sys.stdin.read() if sql == "-" else sql


def _check(options: LineageRecordingOptions, source: Sequence[str], sql: str) -> None:
    """Raise UsageError for options that do not fit together, or not to the source."""
    _check_questions(options, sql)
    if options.asks_loss and options.dumps and not lineage_source.is_chain(source, options.dumps):
        raise UsageError(_NO_LOSSES)
    globs = [options.kinds, options.kind, options.became, *options.allow_orphan]
    # Of dumps and imports these are names of stages.
    globs += () if options.dumps or names_recording(source) else options.after
    for glob in filter(None, globs):
        check_glob(glob, glob, 0)
    sources = [*source, *options.dumps]
    for path in options.pictures:
        _check_file(path, ("",), sources)
    _check_file(options.sankey, (".html", ".svg"), sources)
    _check_file(options.matrix, (".html", ".csv", ".parquet"), sources)
    _check_file(options.output, ("",), sources)


def _check_questions(options: LineageRecordingOptions, sql: str) -> None:
    if (options.kind is None) != (options.became is None):
        raise UsageError("--kind and --became belong together: give both, or --kinds GLOB.")
    if bool(sql) + options.tables + options.is_question > 1:
        raise UsageError(
            "Several of SQL, --tables and other questions are given: ask one after the other."
        )
    if options.json and not options.is_question:
        raise UsageError("--json is for questions: use --format json with SQL.")
    if options.is_question and (options.output is not None or options.format is not None):
        raise UsageError("-o and --format are for an answer to SQL: leave them out, or use --json.")
    if options.after and options.sankey is None:
        raise UsageError("--after adds a column to a picture: give --sankey FILE too.")
    if options.allow_orphan and not options.asks_orphans:
        raise UsageError("--allow-orphan needs --orphans, --fail-on-orphan or --matrix FILE.")
    if bool(options.of) != bool(options.pictures):
        raise UsageError("--of needs a file for the picture, --svg, --html or --dot FILE.")
    if options.back and not options.of:
        raise UsageError("--back is for a picture: give --of WHAT too.")


def _check_file(path: Path | None, suffixes: Sequence[str], sources: Sequence[str]) -> None:
    if path is None:
        return
    if "" not in suffixes and path.suffix not in suffixes:
        raise UsageError(
            f"{str(path)!r} has no known suffix: name a file with {' or '.join(suffixes)}."
        )
    check_output(path, sources)


class _Answers:
    """Answers the questions of a command line, as text or as one JSON object."""

    def __init__(self, lineage: Lineage, options: LineageRecordingOptions) -> None:
        from actiondbg.lineage.questions.reasons import Reasons

        self._lineage = lineage
        self._options = options
        self._reasons: Reasons = Reasons(lineage, exact=options.exact)
        self._object: dict[str, object] = {}
        self._is_first = True

    def give(self) -> int:
        """Print the answers; return the exit code."""
        options = self._options
        status = 0
        if options.kinds is not None:
            self._kinds(options.kinds)
        if options.kind is not None and options.became is not None:
            self._groups(options.kind, options.became)
        if options.of:
            self._pictures()
        if options.sankey is not None:
            self._sankey(options.sankey)
        if options.asks_orphans:
            status |= self._orphans()
        if options.asks_loss:
            status |= self._losses()
        if options.json:
            print(json.dumps(self._object, ensure_ascii=False))
        return status

    @property
    def _names(self) -> LineageNames:
        from actiondbg.commands.render.lineage import LineageNames

        return LineageNames(self._lineage)

    def _put(self, key: str, answer: object, lines: Callable[[], Iterable[str]]) -> None:
        if self._options.json:
            self._object[key] = answer
            return
        if not self._is_first:
            print()
        self._is_first = False
        for line in lines():
            print(line)

    def _kinds(self, glob: str) -> None:
        from actiondbg.commands.render.lineage import kinds_lines, kinds_object
        from actiondbg.lineage.questions.groups import operations_of_kind
        from actiondbg.lineage.questions.kinds import kind_rows

        operations_of_kind(self._lineage.stages[0], glob)
        exact, every = self._options.exact, self._options.all
        level = self._options.level or "operation"
        rows = kind_rows(self._lineage, glob, exact=exact, level=level, reasons=self._reasons)
        self._put("kinds", kinds_object(rows), lambda: kinds_lines(rows, every))

    def _groups(self, kind: str, became: str) -> None:
        from actiondbg.commands.render.lineage import groups_lines, groups_object
        from actiondbg.lineage.questions.groups import groups

        level = self._options.level or "operation"
        found = groups(self._lineage, kind, became, exact=self._options.exact, level=level)
        every = self._options.all
        self._put("groups", groups_object(found), lambda: groups_lines(found, self._names, every))

    def _pictures(self) -> None:
        from actiondbg.lineage.pictures.tracking_picture import (
            picture,
            tracked_ways,
            write_picture,
        )

        options = self._options
        first, last = self._lineage.stages[0], self._lineage.stages[-1]
        source, target = (last, first) if options.back else (first, last)
        operations = lineage_source.chosen_operations(self._lineage, source, options.of)
        level = options.level or "operation"
        tracking = tracked_ways(self._lineage, operations, target, level=level, exact=options.exact)
        drawn = picture(self._lineage, operations, tracking)
        if drawn.note:
            print_notice(drawn.note)
        write_picture(drawn, svg=options.svg, html=options.html, dot=options.dot)

    def _sankey(self, path: Path) -> None:
        from actiondbg.lineage.pictures.sankey import flows_title, sankey_page, sankey_svg
        from actiondbg.lineage.questions.flows import flows

        options = self._options
        glob = options.kinds or options.kind or "*"
        found = flows(self._lineage, glob, after=options.after, exact=options.exact)
        draw = sankey_page if path.suffix == ".html" else sankey_svg
        write_file(path, draw(found, flows_title(found)))

    def _orphans(self) -> int:
        from actiondbg.commands.render.lineage import matrix_lines, matrix_object
        from actiondbg.lineage.questions.matrix import matrix, unexplained

        options = self._options
        found = matrix(
            self._lineage, options.level or "function", exact=options.exact, reasons=self._reasons
        )
        left = unexplained(found, options.allow_orphan)
        if options.matrix is not None:
            self._write_matrix(options.matrix, found, left)
        self._put(
            "matrix",
            matrix_object(found, left),
            lambda: matrix_lines(found, left, self._names, options.all),
        )
        return FAILED if left and options.fail_on_orphan else 0

    def _write_matrix(self, path: Path, matrix: Any, left: Any) -> None:
        if path.suffix == ".html":
            from actiondbg.lineage.pictures.matrix_page import matrix_page

            write_file(path, matrix_page(matrix, left))
            return
        from actiondbg.lineage.questions.matrix import matrix_table
        from actiondbg.recording.query.results import FORMATS
        from actiondbg.support.atomic_write import open_whole

        with writing(path), open_whole(path) as out:
            FORMATS[path.suffix.removeprefix(".")](matrix_table(matrix).to_reader(), out)

    def _losses(self) -> int:
        from actiondbg.commands.render.lineage import losses_lines, losses_object
        from actiondbg.lineage.questions.location_loss import location_losses

        if not self._lineage.is_recorded:
            raise UsageError(_NO_LOSSES)
        rows = location_losses(self._lineage)
        every = self._options.all
        self._put("losses", losses_object(rows), lambda: losses_lines(rows, self._names, every))
        is_lossy = any(row.dropped or row.blurred for row in rows)
        return FAILED if is_lossy and self._options.fail_on_loss else 0
