"""A tool that a subcommand records: waiting, signals, messages, and its recording."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from actiondbg.commands.cli.line_parser import SUFFIX, names_recording
from actiondbg.commands.render.terminal.output import begin_message, print_notice
from actiondbg.errors import ActiondbgError
from actiondbg.support.interrupts import exit_code, signal_name

if TYPE_CHECKING:
    from actiondbg.recording.capture.recorder import IRDetail, RecordedRun, RecordingProcess
    from actiondbg.recording.recording import Recording


def print_cut(path: str, cut: str | None) -> None:
    """Print why a recording is incomplete; nothing if ``cut`` is None."""
    if cut is not None:
        print_notice(f"{path}: {cut}")


def print_errors(file: Path) -> None:
    """Print what a tool wrote to its stderr, without the stack trace of a crash."""
    from actiondbg.bisection.command_runner import without_trace

    if file.exists():
        text = without_trace(file.read_text(encoding="utf-8", errors="replace"))
        begin_message()
        print(text, end="", file=sys.stderr, flush=True)


def without_context(done: RecordedRun) -> str:
    """Return why there is no recording, without the dot at the end."""
    from actiondbg.recording.capture.recorder import REFUSED

    which = "" if done.follow is None else f" that matches {done.follow!r}"
    if done.seen is not None:
        return f"no MLIR context of the program{which} was observed: {done.seen}"
    refused = done.status == REFUSED
    if done.is_program:
        otherwise = ", or its recording could not begin" if refused else ""
        return (
            f"no process of the program{which} made an MLIR context{otherwise}: 'actiondbg doctor "
            "TOOL' reports whether the tool that it starts can be debugged"
        )
    if refused:
        return f"the tool ended with status {done.status} before the recording began"
    return "the tool ended without creating an MLIR context"


def print_ending(done: RecordedRun, detail: str = "", kept: Path | None = None) -> int:
    """Print that a tool was killed, or that its recording is incomplete; return the exit code.

    Args:
        done: the run of the tool.
        detail: appended to the message about a killed tool.
        kept: the recording as the user named it; None if it is a temporary one.

    Returns:
        That of the tool; 1 if the tool's is 0, and its recording could not be written to the end.
    """
    if done.status < 0:
        print_notice(
            f"The tool was killed by {signal_name(-done.status)}{detail and ': '}{detail}."
        )
    is_cut = done.path is not None and print_incomplete(done, done.path, kept)
    return exit_code(done.status) or int(is_cut)


def print_incomplete(done: RecordedRun, path: Path, kept: Path | None = None) -> bool:
    """Print that a recording of a run is incomplete, if it is; return whether writing failed.

    The end of a tool that was killed is not missing: its own message reports it.
    """
    from actiondbg.recording.log.tally import Tally

    tally = Tally(path)
    tally.update()
    is_cut = tally.is_torn or (not tally.ended and done.status >= 0 and not done.is_program)
    if tally.ended or (done.status < 0 and not is_cut):
        return False
    killed = "its process was killed, or the disk is full"
    why = "the disk may be full" if tally.is_torn else killed
    way = "name another file" if kept is not None else "set TMPDIR to another directory"
    print_notice(
        f"The recording {str(kept or path)!r} is incomplete, as {why}: its actions up to then are "
        f"kept. Free disk space, or {way}."
    )
    return is_cut


def print_others(done: RecordedRun) -> None:
    """Print that only the first process of a program is shown, if there were several."""
    count = len(done.others)
    if count:
        print_notice(
            f"This is the first of {count + 1} processes of the program that made an MLIR context: "
            "--follow selects another, and 'actiondbg record' records all."
        )


@contextmanager
def forward_interrupts(running: RecordingProcess) -> Generator[RecordingProcess]:
    """Yield a tool, forward Ctrl-C to it while it runs, and kill it at the end of the block.

    The caller reports what was recorded until then.
    """

    def interrupt(number: int, _: object) -> None:
        if running.process.poll() is None:
            running.process.send_signal(number)
        else:
            raise KeyboardInterrupt

    with running:
        before = signal.signal(signal.SIGINT, interrupt)
        try:
            yield running
        finally:
            signal.signal(signal.SIGINT, before)


def wait_and_import(running: RecordingProcess, *modules: str) -> RecordedRun:
    """Import the modules that read the recording while the tool runs; wait for its end.

    The imports take as long as a short run of a tool.
    """
    for module in ("actiondbg.recording.recording", *modules):
        import_module(module)
    return wait_noticing(running)


def wait_noticing(running: RecordingProcess) -> RecordedRun:
    """Wait for the end of a tool; print what it does if it takes long, and how to end it."""
    from actiondbg.recording.capture.endless import Look, look_text, wait_watching

    def show(look: Look) -> bool:
        print_notice(f"{look_text(look)} Ctrl-C ends it, and keeps what it did up to then.")
        return False

    return wait_watching(running, show)


class RecordedSource(NamedTuple):
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
) -> Generator[RecordedSource]:
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
    # Imported here: a tool that is debugged or recorded starts without them.
    from actiondbg.recording import open_recording
    from actiondbg.recording.capture.recorder import start_recording
    from actiondbg.support.scratch_directory import scratch_directory

    if names_recording(words):
        yield RecordedSource(open_recording(words[0], partial=partial), None)
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
        yield RecordedSource(recording, status)


def _ending(status: int) -> str:
    return f"was killed by {signal_name(-status)}" if status < 0 else f"exited with status {status}"
