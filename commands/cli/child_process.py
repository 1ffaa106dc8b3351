"""The tool as a child process of a subcommand: waiting, signals, messages, exit code."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.support.interrupts import signal_name

if TYPE_CHECKING:
    from actiondbg.recording.capture.recorder import RecordedRun, RecordingProcess

_REFUSED = 3  # the status with which an agent ends a tool that it cannot record


def print_cut(path: str, cut: str | None) -> None:
    """Print why a recording is incomplete; nothing if ``cut`` is None."""
    if cut is not None:
        print_notice(f"{path}: {cut}")


def without_context(done: RecordedRun) -> str:
    """Return why there is no recording, without the dot at the end."""
    which = "" if done.follow is None else f" that matches {done.follow!r}"
    if done.seen is not None:
        return f"no MLIR context of the program{which} was observed: {done.seen}"
    refused = done.status == _REFUSED
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
    why = "the disk may be full" if is_cut else "its process was killed, or the disk is full"
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


def exit_code(status: int) -> int:
    """Return an exit status as a shell does: 128 plus the signal for a negative one."""
    return status if status >= 0 else 128 - status


@contextlib.contextmanager
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
    return running.wait()
