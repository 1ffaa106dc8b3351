"""A run that is compared: a recording, or a command that is recorded for it."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.errors import ActiondbgError
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.recording import open_recording
from actiondbg.recording.capture.endless import Look, look_text, wait_watching
from actiondbg.recording.capture.recorder import IRDetail, start_recording
from actiondbg.support.interrupts import signal_name
from actiondbg.tool.command_line import inspect_command_line

if TYPE_CHECKING:
    from actiondbg.comparison.changing_actions import RunFunction, Texts
    from actiondbg.recording.recording import Recording


@dataclass(frozen=True)
class Side:
    """One of two runs."""

    recording: Recording
    status: int | None  # its exit status, negative for a signal; None if it is unknown
    path: str | None = None  # of the recording; None if it was made for this comparison
    # The bytes on its standard output and in the file of its ``-o``; None if unknown.
    written: bytes | None = None
    # The command line as the user gave it; empty to take the recorded command line.
    given: tuple[str, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """The command line."""
        return self.given or self.recording.header.argv

    @cached_property
    def ending(self) -> str:
        """How it ended, as a verb with its object, and the pass in which it failed."""
        from actiondbg.recording.format.arrow import call, pa

        if self.status == 0:
            return "ends well"
        if self.status is None:
            return "imported" if self.recording.header.imported else "has no end"
        how = f"ends with status {self.status}"
        if self.status < 0:
            how = f"is killed by {signal_name(-self.status)}"
        actions = self.recording.table("actions", ["tag", "name", "outcome"])
        passes = actions.filter(call("equal", actions["tag"], pa.scalar(PASS_TAG)))
        failed = [
            row["name"]
            for row in passes.to_pylist()
            if row["outcome"] in ("failed", "unfinished") and not is_adaptor(row["name"])
        ]
        return f"{how} in {failed[-1]}" if failed else f"{how} outside of passes"

    @cached_property
    def final_texts(self) -> dict[RunFunction, Texts] | None:
        """The IR of each function at the end of the run; None if it is not recorded."""
        from actiondbg.comparison.changing_actions import (
            final_texts,  # numpy and pyarrow, to read with
        )

        return final_texts(self.recording)


def recorded_side(path: str | os.PathLike[str]) -> Side:
    """Return the run of a recording; a damaged one is read up to the damage.

    Raises:
        RecordingError: the recording cannot be read.
    """
    recording = open_recording(path, partial=True)
    ending = recording.ending
    status = ending.status if ending.signal is None else -ending.signal
    return Side(recording, status, os.fspath(path))


def run_side(
    argv: Sequence[str],
    folder: Path,
    *,
    ir: IRDetail = "function",
    ir_of: range | None = None,
    stdin: str | os.PathLike[str] | None = None,
    stderr: Path | None = None,
    seconds: float | None = None,
    tell: Callable[[str], None] | None = None,
) -> Side:
    """Run a command in one thread, and return its run; the file of its ``-o`` is not written.

    Args:
        folder: an empty one, for the recording and the output.
        ir_of: the ordinals of the actions of which IR is recorded; None for all.
        stdin: the file on its standard input; None for none.
        stderr: the file for its stderr; None for ours.
        seconds: after them the command is ended, and the run is what it did up to then; None to
            end it when it repeats the same actions endlessly.
        tell: called with a sentence about a command that takes long.

    Raises:
        ActiondbgError: the command makes no MLIR context.
        LaunchError: the tool cannot be started.
        KeyboardInterrupt: Ctrl-C ended the tool.
    """
    line = inspect_command_line(list(argv))
    result, stdout = folder / "result", folder / "stdout"
    with start_recording(
        line.with_output(result),
        folder / "run.adbrec",
        ir=ir,
        ir_of=ir_of,
        one_thread=True,
        stdin=stdin or os.devnull,
        stdout=stdout,
        stderr=stderr,
    ) as running:
        if seconds is None:
            done = wait_watching(running, lambda look: _ends(look, tell))
        else:
            if not running.ends_within(seconds):
                running.close()
            done = running.wait()
    if done.status == -signal.SIGINT:
        raise KeyboardInterrupt
    if done.path is None:
        raise ActiondbgError(
            f"Nothing was recorded: {shlex.join(argv)} made no MLIR context"
            + (f" ({done.seen})." if done.seen else ".")
        )
    found = recorded_side(done.path)
    written = b"".join(each.read_bytes() for each in (stdout, result) if each.exists())
    return Side(found.recording, done.status, written=written, given=tuple(argv))


def _ends(look: Look, tell: Callable[[str], None] | None) -> bool:
    """Tell about a command that takes long; return whether it is to be ended."""
    is_endless = look.repeated is not None
    if tell is not None:
        tell(f"{look_text(look)} {'It is ended' if is_endless else 'Ctrl-C ends it'}.")
    return is_endless
