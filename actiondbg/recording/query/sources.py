"""The sources of a query: recordings and folders of exported recordings, by path."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.recording import open_recording
from actiondbg.recording.errors import RecordingError
from actiondbg.recording.query.export import FOLDER, is_export

if TYPE_CHECKING:
    import duckdb

    from actiondbg.recording.recording import Recording

SUFFIX = ".adbrec"


@dataclass
class Sources:
    """The recordings and exports found.

    Args:
        recordings: recordings by a unique name.
        exports: globs of folders of exported recordings.
        alone: the only source is one recording, given by its path.
        left_out: for each unreadable recording, a sentence that says why.
    """

    recordings: dict[str, Recording] = field(default_factory=dict[str, "Recording"])
    exports: list[str] = field(default_factory=list[str])
    alone: bool = False
    left_out: list[str] = field(default_factory=list[str])

    def sentences(self) -> Iterator[str]:
        """Yield a warning for each recording that is left out or incomplete."""
        for why in self.left_out:
            yield f"Left out: {why}"
        for name, recording in self.recordings.items():
            if recording.cut is not None:
                yield f"{name}: {recording.cut}"

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Return a database of all sources; docs/recordings.md describes its tables."""
        from actiondbg.recording.query.database import connect

        return connect(self.recordings, self.exports, alone=self.alone)


def open_sources(paths: Sequence[str], *, partial: bool = False) -> Sources:
    """Open recordings.

    Args:
        paths: recordings, folders of recordings (exported or not), globs of these, or URLs of
            buckets of exported recordings. A recording found twice is opened once.
        partial: read damaged recordings up to the damage, and leave out unreadable ones if there
            are others.

    Raises:
        RecordingError: nothing is found, or a recording cannot be read.
    """
    sources = Sources()
    files: list[str] = []
    for path in paths:
        for found in _expanded(path):
            _sort(found, files, sources.exports)
    sources.alone = [*paths] == files and len(files) == 1
    # A recording read twice would double every sum.
    files = _each_once(files)
    sources.exports = list(dict.fromkeys(sources.exports))
    unread: list[RecordingError] = []
    for name, file in zip(_names(files), files, strict=True):
        try:
            sources.recordings[name] = open_recording(file, partial=partial)
        except RecordingError as error:
            if not (os.path.exists(file) and len(files) + len(sources.exports) > 1):
                raise
            if not partial:
                raise _with_way_out(error) from error
            unread.append(error)
    if unread and not (sources.recordings or sources.exports):
        raise unread[0]
    sources.left_out = [str(error) for error in unread]
    return sources


def _each_once(files: Iterable[str]) -> list[str]:
    """Return each file once, by its first spelling, with links resolved."""
    first: dict[str, str] = {}
    for file in files:
        first.setdefault(os.path.realpath(file), file)
    return list(first.values())


def _with_way_out(error: RecordingError) -> RecordingError:
    """Add --partial to the ways out of an error."""
    message = str(error)
    if "--partial" in message:
        return error
    return RecordingError(f"{message.removesuffix('.')}, or use --partial to leave it out.")


def _expanded(path: str) -> list[str]:
    """Expand a glob; return any other path unchanged."""
    if "://" in path or not glob.has_magic(path) or os.path.lexists(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise RecordingError(f"No file matches {path!r}: check the folder and the pattern.")
    return found


def _sort(path: str, files: list[str], exports: list[str]) -> None:
    if "://" in path:
        exports.append(f"{path.rstrip('/')}/{FOLDER}*")
        return
    folder = Path(path)
    if not folder.is_dir():
        files.append(path)
        return
    if is_export(folder):
        exports.append(glob.escape(path))
    elif any(map(is_export, folder.glob(f"{FOLDER}*"))):
        exports.append(f"{glob.escape(path)}/{FOLDER}*")
    elif recordings := sorted(folder.glob(f"*{SUFFIX}")):
        files += map(str, recordings)
    else:
        raise RecordingError(
            f"There is no recording in the folder {path!r}: name a *{SUFFIX} file, or a folder "
            "that 'actiondbg export --parquet' has written."
        )


def _names(files: Iterable[str]) -> Iterator[str]:
    """Yield a unique name for each file: the stem, or the path where stems repeat."""
    paths = [Path(file) for file in files]
    stems = [path.stem for path in paths]
    for path, stem in zip(paths, stems, strict=True):
        yield stem if stems.count(stem) == 1 else str(path)
