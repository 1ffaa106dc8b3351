"""Export of recordings as Parquet files, which many machines can collect in one bucket."""

from __future__ import annotations

import hashlib
import os
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actiondbg.recording.query.database import RUNS, TABLES, runs_table
from actiondbg.recording.tables.lazy_table import LazyTable
from actiondbg.support.atomic_write import replaced_directory

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

FOLDER = "run="  # prefix of the folder of a run, for Hive partitioning
_MARK = f"{RUNS}.parquet"  # each exported folder has this file
_ROWS = 1 << 18  # per row group


def is_export(folder: Path) -> bool:
    """Whether a folder holds one exported recording."""
    return folder.name.startswith(FOLDER) and (folder / _MARK).is_file()


class Export(NamedTuple):
    """The folder of an exported recording, and the size of its files in bytes."""

    folder: Path
    size: int


def export(recording: Recording, directory: str | os.PathLike[str]) -> Export:
    """Write a recording's tables as Parquet files into a folder of their own, atomically.

    The folder is ``run=NAME-ID`` in a directory, such as a copy of a bucket: exporting a recording
    again replaces its folder, and different recordings get different folders, whatever machines
    they come from.

    Raises:
        FileNotWritten: the folder cannot be made, or has other contents.
        OSError: a file cannot be written.
    """
    target = Path(directory) / f"{FOLDER}{_name(recording)}"
    with replaced_directory(target, _MARK) as new:
        runs = runs_table({target.name: recording}).drop_columns(["run"])  # which the folder names
        with (new / _MARK).open("wb") as file:
            _parquet().write_table(runs, file, compression="zstd")
        for name in TABLES:
            _write(recording.tables[name], new / f"{name}.parquet")
            recording.tables[name].forget()
        # Another process may replace the folder as soon as it is there.
        size = sum(file.stat().st_size for file in new.iterdir())
    return Export(target, size)


def _name(recording: Recording) -> str:
    # A field that Header gets later has repr=False: the folder of a recording stays the same.
    stem = re.sub(r"[^\w.+-]", "_", Path(recording.path).stem)
    return f"{stem}-{hashlib.sha256(repr(recording.header).encode()).hexdigest()[:8]}"


def _parquet() -> Any:
    return import_module("pyarrow.parquet")


def _write(table: LazyTable, path: Path) -> None:
    names = table.names
    with (
        path.open("wb") as file,
        _parquet().ParquetWriter(file, table.schema(), compression="zstd") as writer,
    ):
        if not table.large:
            writer.write_table(table.table(), row_group_size=_ROWS)
            return
        small = [name for name in names if name not in table.large]
        for part in table.parts(names, np.arange(len(table.table(small[:1])))):
            writer.write_batch(part)
