"""The tool as a child process of a subcommand: waiting, signals, messages, exit code."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Generator
from importlib import import_module
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
    if done.is_program:
        which = "" if done.follow is None else f" that matches {done.follow!r}"
        if done.seen is not None:
            return f"no MLIR context of the program{which} was observed: {done.seen}"
        return (
            f"no process of the program{which} made an MLIR context: 'actiondbg doctor TOOL' "
            "reports whether the tool that it starts can be debugged"
        )
    if done.status == _REFUSED:
        return f"the tool ended with status {done.status} before the recording began"
    return "the tool ended without creating an MLIR context"


def print_ending(done: RecordedRun, is_whole: bool, detail: str = "") -> None:
    """Print that a tool was killed, or that its recording is incomplete.

    Args:
        done: the run of the tool.
        is_whole: whether the temporary recording has all actions.
        detail: appended to the message about a killed tool.
    """
    if done.status < 0:
        print_notice(
            f"The tool was killed by {signal_name(-done.status)}{detail and ': '}{detail}."
        )
    elif done.is_program and done.path is not None and not is_whole:
        print_notice(
            "The process was killed before its end, or some actions could not be recorded."
        )
    elif done.path is not None and not is_whole:
        place = str(done.path.parent.parent)
        print_notice(
            f"Some actions could not be recorded; the disk may be full: free space in {place!r},"
            " or set TMPDIR to another directory."
        )


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
