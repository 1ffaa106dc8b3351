"""A tool that is run for a command: how it is waited for, what is told of it, its exit code."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Generator
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actiondbg.recording.capture.recorder import RecordedRun, RecordingProcess


def print_notice(sentence: str) -> None:
    """Tell something on stderr."""
    print(f"actiondbg: {sentence}", file=sys.stderr)


def print_cut(path: str, cut: str | None) -> None:
    """Tell why a recording that was named may lack actions; ``cut``: its sentence, if it does."""
    if cut is not None:
        print_notice(f"{path}: {cut}")


def print_ending(done: RecordedRun, is_whole: bool, told: str = "") -> None:
    """Tell how a tool ended, unless it did so by itself and was recorded as a whole.

    Args:
        done: what was run.
        is_whole: whether its temporary recording has all actions.
        told: what is known of a tool that was killed, for the end of the sentence.
    """
    if done.status < 0:
        print_notice(f"The tool was killed by {signal_name(-done.status)}{told and ': '}{told}.")
    elif done.path is not None and not is_whole:
        place = str(done.path.parent.parent)
        print_notice(
            f"Not all actions could be recorded, as happens on a full disk: make room in {place!r},"
            " or set TMPDIR to another directory."
        )


def print_compiling() -> None:
    """Tell on stderr why nothing happens for some seconds."""
    print("Compiling the agent ...", file=sys.stderr, flush=True)


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def code_of(status: int) -> int:
    """Return the exit code of a tool as a shell gives it; ``status``: negative for a signal."""
    return status if status >= 0 else 128 - status


@contextlib.contextmanager
def forward_interrupts(running: RecordingProcess) -> Generator[RecordingProcess]:
    """Yield a tool, and end it with the block; Ctrl-C is for it while it runs.

    What it did by then is told.
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
    """Wait for the end of a tool; import meanwhile what is used on its recording.

    Before the tool, or after it, that would take as long as a short run.
    """
    for module in ("actiondbg.recording.recording", *modules):
        import_module(module)
    return running.wait()
