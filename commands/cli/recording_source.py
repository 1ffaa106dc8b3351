"""The recording that a subcommand reads: a file, or a temporary recording of a tool."""

from __future__ import annotations

import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from actiondbg.commands.cli.child_process import (
    forward_interrupts,
    print_ending,
    print_others,
    wait_and_import,
)
from actiondbg.commands.cli.line_parser import SUFFIX, names_recording
from actiondbg.errors import ActiondbgError
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import IRDetail, start_recording
from actiondbg.support.interrupts import signal_name
from actiondbg.support.scratch_directory import scratch_directory

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


class Source(NamedTuple):
    """A recording, and the exit code of the tool if the subcommand ran one."""

    recording: Recording
    status: int | None


@contextmanager
def open_source(
    words: Sequence[str],
    purpose: str,
    *,
    partial: bool = False,
    ir: IRDetail = "none",
    events: Sequence[str] = (),
    randomize: bool = False,
    skip: Sequence[str] = (),
    follow: str | None = None,
    modules: Sequence[str] = (),
    lineage: bool = False,
    stdin: str | None = None,
    stdout: str | None = None,
) -> Generator[Source]:
    """Open a recording, or record a tool to a file that is deleted at the end of the block.

    Args:
        words: the recording, or the tool with its arguments.
        purpose: the verb of the subcommand for messages, such as "report".
        follow: a glob of the processes to record of a program.
        modules: modules to import while the tool runs.
        stdin: the path from which the tool reads; None for our standard input.
        stdout: the path to which the tool writes; None for our standard output.

    Raises:
        ActiondbgError: the recording cannot be read, or nothing was recorded.
        KeyboardInterrupt: nothing was recorded before it.
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
            randomize=randomize,
            skip=skip,
            follow=follow,
            lineage=lineage,
            stdin=stdin,
            stdout=stdout,
        )
        with forward_interrupts(started) as running:
            recorded = wait_and_import(running, *modules)
        if recorded.path is None:
            if recorded.status == -signal.SIGINT:
                raise KeyboardInterrupt  # ours, which was passed on before there was an action
            raise ActiondbgError(
                f"There is nothing to {purpose}: {words[0]!r} {_ending(recorded.status)} without "
                "creating an MLIR context."
            )
        recording = open_recording(recorded.path, partial=True)
        status = print_ending(recorded)
        print_others(recorded)
        yield Source(recording, status)


def _ending(status: int) -> str:
    return f"was killed by {signal_name(-status)}" if status < 0 else f"exited with status {status}"
