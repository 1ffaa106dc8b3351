"""The formats of traces, and what the names of their files say. It needs no package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from actiondbg.errors import UsageError

Format: TypeAlias = Literal["chrome", "perfetto", "tracy"]
Failed: TypeAlias = Literal["fold", "keep", "drop"]

SUFFIXES: dict[str, Format] = {
    ".tracy.json": "tracy",
    ".json": "chrome",
    ".pftrace": "perfetto",
    ".perfetto-trace": "perfetto",
}
GZIP, ZSTD = ".gz", ".zst"


class Selection(NamedTuple):
    """Which actions become slices, and how.

    Args:
        failed: fold consecutive failed attempts on one operation into one slice, keep each, or
            drop them.
        minimum: ns; what lasts shorter is left out. What is unfinished stays.
        where: a condition in SQL for the actions that are wanted (those that they are nested in
            are added), as ``filtering.where`` writes it; None for all.
    """

    failed: Failed = "fold"
    minimum: int = 0
    where: str | None = None


def format_of(path: str) -> Format:
    """Return the format that the name of a file says.

    Raises:
        UsageError: it says none.
    """
    name = Path(path).name.lower().removesuffix(GZIP).removesuffix(ZSTD)
    for suffix, kind in SUFFIXES.items():
        if name.endswith(suffix):
            return kind
    raise UsageError(
        f"The name {path!r} does not say the format: end it with {', '.join(SUFFIXES)}, "
        "or say --format chrome, perfetto or tracy."
    )


def check_output(path: str, kind: Format) -> None:
    """Find out before anything is run what cannot be written.

    Raises:
        UsageError: what reads the format does not read the compression that the name says, or
            there is no such directory.
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
