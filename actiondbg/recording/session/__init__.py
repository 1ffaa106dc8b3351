"""The debugger's session over a recording."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from actiondbg.recording.errors import need_packages

if TYPE_CHECKING:
    from actiondbg.recording.session.recorded_session import RecordedSession

__all__ = ["open_session"]


def open_session(path: str | os.PathLike[str], *, partial: bool = False) -> RecordedSession:
    """Open a recording as a session, stopped before the first action; see ``open_recording``."""
    need_packages("A session over a recording")
    from actiondbg.recording import open_recording
    from actiondbg.recording.session.recorded_session import RecordedSession

    return RecordedSession(open_recording(path, partial=partial))
