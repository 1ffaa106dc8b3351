"""What a command tells of: a recording that is named, or that of a tool which is run for it."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from actiondbg.commands.telling_tool import code_of, say_compiling
from actiondbg.errors import ActiondbgError
from actiondbg.recording import is_recording, open_recording
from actiondbg.recording.running import RecordedIR, record

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_SUFFIX = ".adbrec"


class Source(NamedTuple):
    """A recording; ``status``: the exit code of the tool, if it was run for the command."""

    recording: Recording
    status: int | None


def names_recording(words: Sequence[str]) -> bool:
    """Return whether words, after our options, name a recording; else they are a tool's."""
    return bool(words) and (is_recording(words[0]) or words[0].endswith(_SUFFIX))


@contextmanager
def source_of(
    words: Sequence[str],
    purpose: str,
    *,
    partial: bool = False,
    ir: RecordedIR = "none",
    events: Sequence[str] = (),
    mlir_include: str | None = None,
) -> Generator[Source]:
    """Open the recording that is named, or run the tool; what that recorded is there until the end.

    Args:
        words: the recording, or the tool with its arguments.
        purpose: what it is for, such as "report", for messages.
        partial: whether to read a damaged recording as far as can be.
        ir: which IR of a tool is kept.
        events: what is counted of a tool.
        mlir_include: where the headers of a tool's MLIR are.

    Raises:
        ActiondbgError: there is no recording, or nothing was recorded.
    """
    if names_recording(words):
        yield Source(open_recording(words[0], partial=partial), None)
        return
    with tempfile.TemporaryDirectory(prefix=f"actiondbg-{purpose}-") as directory:
        recorded = record(
            words,
            Path(directory, f"run{_SUFFIX}"),
            ir=ir,
            events=events,
            mlir_include=mlir_include,
            on_compile=say_compiling,
        )
        if recorded.path is None:
            raise ActiondbgError(
                f"There is nothing to {purpose}: {words[0]!r} ended with status {recorded.status} "
                "before it made an MLIR context."
            )
        yield Source(open_recording(recorded.path, partial=True), code_of(recorded.status))
