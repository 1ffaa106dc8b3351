"""Recordings of what the actions of a tool did, read as tables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from actiondbg.recording.dependencies import need_packages
from actiondbg.recording.errors import DamagedError, RecordingError
from actiondbg.recording.format.kind import is_recording

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

__all__ = ["DamagedError", "RecordingError", "is_recording", "open_recording"]


def open_recording(path: str | os.PathLike[str], *, partial: bool = False) -> Recording:
    """Open a recording.

    Args:
        path: of the file, which may still be written to: what is there now is read.
        partial: read a damaged one up to the damage, which its ``cut`` then tells.

    Raises:
        RecordingError: it cannot be read, is no recording, or one of a newer version.
        DamagedError: it is damaged, and not ``partial``.
        ActiondbgError: a package is missing that this needs.
    """
    need_packages("Reading a recording")
    from actiondbg.recording.format.file import read_file
    from actiondbg.recording.recording import Recording

    return Recording(read_file(path, partial))
