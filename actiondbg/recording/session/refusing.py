"""The sentence with which a recording refuses what needs the tool."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


def needs_tool(recording: Recording, what: str) -> str:
    """Return a sentence that refuses something, and says what would give it.

    Args:
        recording: the recording.
        what: cannot be done in it, in words.
    """
    command = shlex.join(["actiondbg", *recording.header.argv])
    return f"This is a recording: {what}; start the tool with `{command}`."
