"""The ending of a recording: how the tool ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.file import RecordingFile
from actiondbg.recording.format.header import parse_object, plain_text
from actiondbg.recording.format.structs import Kind
from actiondbg.support.interrupts import signal_name

Ended = Literal["exit", "crash", "killed", "unknown"]


@dataclass(frozen=True)
class Ending:
    """How the tool ended.

    Args:
        ended: "exit", "crash", "killed" for a recording without an ending, or "unknown" for an
            import.
        status: the exit status, None unless ``ended`` is "exit".
        signal: the deadly signal, None unless ``ended`` is "crash".
        ordinal: the action in which the tool crashed, None outside actions.
        message: what the tool wrote about its crash, such as a failed assertion, or None.
    """

    ended: Ended
    status: int | None = None
    signal: int | None = None
    ordinal: int | None = None
    message: str | None = None

    def described(self) -> str:
        """Return how the tool ended, as the end of a sentence."""
        if self.ended == "crash":
            inside = f" in action #{self.ordinal}" if self.ordinal else ""
            return f"by a crash{_named(self.signal)}{inside}"
        if self.ended != "exit":
            return "killed, or still running"
        status = self.status or 0
        return f"killed{_named(-status)}" if status < 0 else f"by itself, with status {status}"


def _named(signal: int | None) -> str:
    return "" if signal is None else f" ({signal_name(signal)})"


def read_ending(file: RecordingFile, ordinal_of: Callable[[int, int], int | None]) -> Ending:
    """Return how the tool ended; ``ordinal_of`` returns the ordinal of a row of a thread.

    Raises:
        RecordingError: the section END is damaged.
    """
    ends = list(file.sections(Kind.END))
    if not ends:
        return Ending("killed")
    chunk, section = ends[-1]
    try:
        fields = parse_object(file.payload(section).tobytes())
        return _parsed(fields, partial(ordinal_of, chunk.thread))
    except (ValueError, TypeError) as error:
        raise RecordingError(
            f"{file.path!r} is damaged at byte {section.offset:,} (its end: {error}): record it "
            "again."
        ) from error


def _parsed(fields: dict[str, Any], ordinal_of: Callable[[int], int | None]) -> Ending:
    if fields.get("ended") == "exit":
        return Ending("exit", status=int(fields.get("status", 0)))
    if fields.get("ended") == "unknown":
        return Ending("unknown")
    row = fields.get("row")
    signal = int(fields.get("signal", 0)) or None
    ordinal = None if row is None else ordinal_of(int(row))
    message = plain_text(fields.get("message") or "") or None
    return Ending("crash", signal=signal, ordinal=ordinal, message=message)
