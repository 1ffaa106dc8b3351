"""The files of a report, by their suffixes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence
from pathlib import Path

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.results.columns import FIXED
from actiondbg.kernels.results.csv_file import read_csv, to_csv
from actiondbg.kernels.results.entry import Entry
from actiondbg.support.atomic_write import locked, write_whole

CSV, MARKDOWN, HTML, PARQUET = ".csv", ".md", ".html", ".parquet"
SUFFIXES = (CSV, MARKDOWN, HTML, PARQUET)


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
        UsageError: a suffix is unknown, a path is named twice, or there is nothing to append to.
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
                self._write(path, list(entries))

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
        if len({os.path.realpath(path) for path in self._paths}) < len(self._paths):
            raise UsageError("--output: a file is named twice.")
        if any(path.suffix == PARQUET for path in self._paths):
            from actiondbg.kernels.results.parquet import check_parquet

            check_parquet()
        if self._append:
            self._check_appended()

    def _check_appended(self) -> None:
        files = [path for path in self._paths if path.suffix == CSV]
        if not files:
            raise UsageError("--append needs a CSV file: give --output FILE.csv as well.")
        for path in files:
            _present(path)

    def _write(self, path: Path, entries: list[Entry]) -> None:
        if path.suffix == CSV and self._append:
            self._add(path, entries)
        else:
            write_whole(path, content_of(entries, path.suffix))

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
        from actiondbg.kernels.results.markdown import to_markdown

        return to_markdown(entries).encode(errors="replace")
    if suffix == HTML:
        from actiondbg.kernels.results.page import to_html

        return to_html(entries).encode(errors="replace")
    from actiondbg.kernels.results.parquet import to_parquet

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
