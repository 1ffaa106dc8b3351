"""The files of a report, by their suffixes: CSV, Markdown, HTML and Parquet."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.results.columns import (
    FIXED,
    SHARES,
    TABLE,
    Column,
    RowT,
    TableColumn,
    Value,
    columns_of,
    text_rows,
)
from actiondbg.kernels.results.csv_file import read_csv, to_csv
from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.words import (
    TITLE,
    full_facts,
    model_weights,
    summary_of,
)
from actiondbg.support.atomic_write import locked, write_whole
from actiondbg.support.recording_file import refuse_recording

_LISTS = "repetitions_s"
CSV, MARKDOWN, HTML, PARQUET = ".csv", ".md", ".html", ".parquet"
SUFFIXES = (CSV, MARKDOWN, HTML, PARQUET)


def to_markdown(entries: Sequence[Entry]) -> str:
    """Return a report: a table of all dispatches, then each wrong one in full."""
    lines = ["# Kernels", "", summary_of(entries), ""]
    if entries:
        lines += _table(TABLE, entries)
    lines += _shares(entries)
    wrong = [entry for entry in entries if entry.is_wrong]
    if wrong:
        lines += ["", "## Wrong"]
    for entry in wrong:
        lines += _in_full(entry)
    return "\n".join(lines) + "\n"


def _table(columns: Sequence[TableColumn[RowT]], rows: Sequence[RowT]) -> list[str]:
    head, *cells = text_rows(columns, rows)
    rule = ["---:" if each.is_number else "---" for each in columns]
    return [_line(each) for each in (head, rule, *cells)]


def _shares(entries: Sequence[Entry]) -> list[str]:
    weights = model_weights(entries)
    if not weights.weights:
        return []
    return ["", f"## {TITLE}", "", weights.summary, "", *_table(SHARES, weights.weights)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _in_full(entry: Entry) -> list[str]:
    facts = [f"- {name}: {_escaped(text)}" for name, text in full_facts(entry).items()]
    lines = ["", f"### {entry.dispatch}", "", *facts]
    details = [*entry.verification.first, *entry.verification.map.splitlines()]
    return [*lines, "", "```text", *details, "```"] if details else lines


def _escaped(text: str) -> str:
    """Escape what Markdown would take for a border, emphasis or HTML."""
    one_line = " ".join(text.split("\n"))
    for mark in "\\|*<_`":
        one_line = one_line.replace(mark, f"\\{mark}")
    return one_line


def check_parquet() -> None:
    """Require the package that writes Parquet.

    Raises:
        ActiondbgError: it is not installed.
    """
    if find_spec("pyarrow") is None:
        raise ActiondbgError(
            "Parquet files need the package pyarrow: pip install 'actiondbg[kernels]'."
        )


def to_parquet(entries: Sequence[Entry]) -> bytes:
    """Return a report as a Parquet file, with the columns of the CSV and their types.

    Raises:
        ActiondbgError: the package pyarrow is not installed.
    """
    check_parquet()
    arrow: Any = import_module("pyarrow")
    columns = columns_of(entries)
    arrays: dict[str, Any] = {
        name: arrow.array(_typed([column.value(entry) for entry in entries]))
        for name, column in zip(_unique_names(columns), columns, strict=True)
    }
    seconds = [list(entry.seconds) for entry in entries]
    arrays[_LISTS] = arrow.array(seconds, arrow.list_(arrow.float64()))
    sink = arrow.BufferOutputStream()
    import_module("pyarrow.parquet").write_table(arrow.table(arrays), sink)
    return sink.getvalue().to_pybytes()


def _unique_names(columns: Sequence[Column]) -> list[str]:
    """Return the header; a tag or a parameter that is named as another column gets a prefix."""
    taken = {column.name for column in columns if not column.prefix}
    chosen: list[str] = []
    for column in columns:
        name = column.name
        while column.prefix and name in taken:
            name = f"{column.prefix}{name}"
        taken.add(name)
        chosen.append(name)
    return chosen


def _typed(values: Sequence[Value]) -> Sequence[Value]:
    """Return a column as integers, as floats or as text, whichever fits all of its values."""
    if any(isinstance(value, float) for value in values):
        return [None if value is None else float(value) for value in values]
    try:
        return [None if value is None else int(value) for value in values]
    except ValueError:
        return [None if value is None else str(value) for value in values]


def parse_tags(text: str) -> tuple[tuple[str, str], ...]:
    """Return the tags of ``--tags``, such as ``commit:1a2b,machine:a``.

    Raises:
        UsageError: a tag has no value, or its name is that of a column.
    """
    tags: dict[str, str] = {}
    for word in text.split(",") if text else ():
        name, colon, value = (part.strip() for part in word.partition(":"))
        if not (name and colon and value):
            raise UsageError(f"--tags: {word!r} is not NAME:VALUE, such as commit:1a2b.")
        if name in FIXED:
            raise UsageError(
                f"--tags: {name!r} is a column of each report: name the tag otherwise."
            )
        if name in tags:
            raise UsageError(f"--tags: {name!r} is given twice.")
        tags[name] = value
    return tuple(tags.items())


class ReportFiles:
    """Files that get a report; each write replaces them as a whole.

    A CSV file that is appended to keeps its entries, and those of other runs that append to it at
    the same time.

    Args:
        paths: of the files; the suffix decides the format.
        append: add the entries to those of CSV files; other files are replaced.

    Raises:
        UsageError: a suffix is unknown, a file is a recording, a path is named twice, or there is
            nothing to append to.
        ActiondbgError: a CSV file to append to is not a report, or a package is missing.
        OSError: a CSV file to append to cannot be read.
    """

    def __init__(self, paths: Sequence[Path], *, append: bool = False) -> None:
        self._paths = list(paths)
        self._append = append
        self._written: dict[Path, list[Entry]] = {}
        self._check()

    def write(self, entries: Sequence[Entry]) -> None:
        """Write all files, in place of what an earlier call wrote.

        Raises:
            OSError: a file cannot be written; ``filename`` names it.
        """
        for path in self._paths:
            with _named(path):
                if path.suffix == CSV and self._append:
                    self._add(path, list(entries))
                else:
                    write_whole(path, content_of(entries, path.suffix))

    def _check(self) -> None:
        for path in self._paths:
            if path.suffix not in SUFFIXES:
                raise UsageError(
                    f"--output: {str(path)!r} has no known suffix: end its name in one of "
                    f"{', '.join(SUFFIXES)}."
                )
            if not path.absolute().parent.is_dir():
                raise UsageError(
                    f"--output: {str(path)!r} cannot be written: its directory does not exist."
                )
            refuse_recording(path)
        if len({os.path.realpath(path) for path in self._paths}) < len(self._paths):
            raise UsageError("--output: a file is named twice.")
        if any(path.suffix == PARQUET for path in self._paths):
            check_parquet()
        if self._append:
            files = [path for path in self._paths if path.suffix == CSV]
            if not files:
                raise UsageError("--append needs a CSV file: give --output FILE.csv as well.")
            for path in files:
                _present(path)

    def _add(self, path: Path, entries: list[Entry]) -> None:
        """Replace the entries of this run in a file, and keep the others."""
        with locked(Path(os.path.realpath(path)).parent):
            kept = _present(path)
            for mine in self._written.get(path, ()):
                with contextlib.suppress(ValueError):
                    kept.remove(mine)
            write_whole(path, to_csv([*kept, *entries]).encode())
            # As they are read back: the cells are rounded nowhere, but an empty one is left out.
            self._written[path] = read_csv(path)[len(kept) :]


def content_of(entries: Sequence[Entry], suffix: str) -> bytes:
    if suffix == CSV:
        return to_csv(entries).encode()
    if suffix == MARKDOWN:
        return to_markdown(entries).encode(errors="replace")
    if suffix == HTML:
        from actiondbg.kernels.results.page import to_html

        return to_html(entries).encode(errors="replace")
    return to_parquet(entries)


def _present(path: Path) -> list[Entry]:
    """Return the entries of a file to append to; none if it is empty or missing."""
    try:
        if path.stat().st_size == 0:
            return []
    except FileNotFoundError:
        return []
    try:
        return read_csv(path)
    except ActiondbgError as error:
        raise ActiondbgError(f"Nothing is appended: {error}") from error


@contextlib.contextmanager
def _named(path: Path) -> Generator[None]:
    """Give an error of writing the name of its file: a full disk is none of opening."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
