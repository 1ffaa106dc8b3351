"""Options of traces: format, selection, file names. Imports no third-party package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from actiondbg.errors import UsageError
from actiondbg.support.counts import joined

Format: TypeAlias = Literal["chrome", "perfetto", "tracy", "folded"]
Failed: TypeAlias = Literal["fold", "keep", "drop"]

SUFFIXES: dict[str, Format] = {  # the first that fits is taken
    ".tracy.json": "tracy",
    ".json": "chrome",
    ".pftrace": "perfetto",
    ".perfetto-trace": "perfetto",
    ".folded": "folded",
}
GZIP, ZSTD = ".gz", ".zst"


class SliceSelection(NamedTuple):
    """The selection of actions that become slices.

    Args:
        failed: fold consecutive failed attempts on one operation into one slice, keep each, or
            drop them.
        minimum: the least duration in ns; unfinished actions stay.
        where: an SQL condition that selects actions (their parents are added), from
            ``query.filters.where``; None for all.
    """

    failed: Failed = "fold"
    minimum: int = 0
    where: str | None = None


def format_of(path: str) -> Format:
    """Return the format for the suffix of a file name.

    Raises:
        UsageError: the suffix is unknown.
    """
    name = Path(path).name.lower().removesuffix(GZIP).removesuffix(ZSTD)
    for suffix, kind in SUFFIXES.items():
        if name.endswith(suffix):
            return kind
    raise UsageError(
        f"The name {path!r} does not determine the format: end it with {', '.join(SUFFIXES)}, "
        f"or use --format {joined(get_args(Format), 'or')}."
    )


def check_output(path: str, kind: Format) -> None:
    """Check the output path before anything runs.

    Raises:
        UsageError: readers of the format do not support the compression, or the directory does
            not exist.
    """
    compressed = Path(path).suffix.lower()
    if compressed == ZSTD and kind != "tracy":
        raise UsageError(
            f"{path!r} would be compressed with zstd, which only Tracy's importer reads: end the "
            f"name with {GZIP}."
        )
    if compressed == GZIP and kind == "tracy":
        raise UsageError(
            f"{path!r} would be compressed with gzip, which Tracy's importer does not read: end "
            f"the name with {ZSTD}."
        )
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise UsageError(f"{path!r} cannot be written: there is no directory {folder!r}.")
