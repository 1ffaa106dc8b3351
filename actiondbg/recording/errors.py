"""What can be wrong with a recording, and with what is asked of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from actiondbg.errors import ActiondbgError


class RecordingError(ActiondbgError):
    """A file is no recording, is damaged, or cannot be read."""


class DamagedError(RecordingError):
    """A recording is damaged in the middle.

    Args:
        path: of the recording.
        offset: where the damage begins, in bytes from 0.
        why: what is wrong there, in words.
        readable: how many actions stand before the damage.
    """

    def __init__(self, path: str, offset: int, why: str, readable: int) -> None:
        self.offset, self.readable = offset, readable
        reads = f"the actions up to #{readable:,} can be read" if readable else "none can be read"
        way = "say --partial to read these" if readable else "record it again"
        super().__init__(f"{path!r} is damaged at byte {offset:,} ({why}): {reads}, {way}.")


class QueryError(ActiondbgError):
    """A query cannot be answered as it is written."""


def needs_tool(argv: Sequence[str], what: str) -> str:
    """Return the sentence that refuses what only a running tool can do.

    Args:
        argv: the command line of the tool that was recorded.
        what: cannot be done, in words.
    """
    command = shlex.join(["actiondbg", *argv])
    return f"This is a recording: {what}; start the tool with `{command}`."
