"""What a command tells of: a recording that is named, or that of a tool which is run for it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from actiondbg.commands.cli.child_process import (
    code_of,
    forward_interrupts,
    print_compiling,
    print_ending,
    signal_name,
    wait_and_import,
)
from actiondbg.commands.cli.line_parser import SUFFIX, names_recording
from actiondbg.errors import ActiondbgError
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import IRDetail, start_recording
from actiondbg.support.scratch_directory import scratch_directory

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


class Source(NamedTuple):
    """A recording; ``status``: the exit code of the tool, if it was run for the command."""

    recording: Recording
    status: int | None


@contextmanager
def source_of(
    words: Sequence[str],
    purpose: str,
    *,
    partial: bool = False,
    ir: IRDetail = "none",
    events: Sequence[str] = (),
    mlir_include: str | None = None,
    modules: Sequence[str] = (),
) -> Generator[Source]:
    """Open the recording that is named, or run the tool; what that recorded is there until the end.

    Args:
        words: the recording, or the tool with its arguments.
        purpose: what it is for, such as "report", for messages.
        partial: whether to read a damaged recording as far as can be.
        ir: which IR of a tool is kept.
        events: what is counted of a tool.
        mlir_include: where the headers of a tool's MLIR are.
        modules: that are used on what is recorded; they are imported while the tool runs.

    Raises:
        ActiondbgError: there is no recording, or nothing was recorded.
    """
    if names_recording(words):
        yield Source(open_recording(words[0], partial=partial), None)
        return
    with scratch_directory(purpose) as directory:
        started = start_recording(
            words,
            directory / f"run{SUFFIX}",
            ir=ir,
            events=events,
            mlir_include=mlir_include,
            on_compile=print_compiling,
        )
        with forward_interrupts(started) as running:
            recorded = wait_and_import(running, *modules)
        if recorded.path is None:
            raise ActiondbgError(
                f"There is nothing to {purpose}: {words[0]!r} {_how(recorded.status)} before it "
                "made an MLIR context."
            )
        recording = open_recording(recorded.path, partial=True)
        print_ending(recorded, is_whole=recording.cut is None)
        yield Source(recording, code_of(recorded.status))


def _how(status: int) -> str:
    return f"was killed by {signal_name(-status)}" if status < 0 else f"ended with status {status}"
