"""Recordings: the actions of a whole run of a tool, read as tables.

May import: errors to session.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from actiondbg.recording.errors import DamagedError, RecordingError, need_packages
from actiondbg.support.recording_file import is_recording

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

__all__ = ["DamagedError", "RecordingError", "is_recording", "open_recording"]


def open_recording(path: str | os.PathLike[str], *, partial: bool = False) -> Recording:
    """Open a recording.

    Args:
        path: the file; one that is still being written is read up to its present end.
        partial: read a damaged recording up to the damage; its ``cut`` describes the damage.

    Raises:
        RecordingError: the file cannot be read, is not a recording, or has a newer version.
        DamagedError: the recording is damaged and ``partial`` is false.
        ActiondbgError: a required package is not installed.
    """
    need_packages("Reading a recording")
    from actiondbg.recording.format.file import read_file
    from actiondbg.recording.recording import Recording

    return Recording(read_file(path, partial))
