"""A program whose calls are counted."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path

from actiondbg.errors import LaunchError
from actiondbg.kernels.counting.calls import Calls, read_calls
from actiondbg.kernels.counting.library import counting_library
from actiondbg.statistics.event_probe import choose_available
from actiondbg.statistics.events import DEFAULT, Event
from actiondbg.support.executables import which
from actiondbg.support.parent_death import end_with_parent
from actiondbg.support.scratch_directory import scratch_directory

_PRELOAD = "LD_PRELOAD"


def count_calls(
    argv: Sequence[str], events: Sequence[str] = (DEFAULT,), name: str = ""
) -> tuple[int, Calls]:
    """Run a program, and return its exit status and the calls in it and in its children.

    Args:
        argv: the program and its arguments.
        events: the names of events, as of ``--events``.
        name: a glob of the functions to count; all if it is empty.

    Raises:
        LaunchError: the program cannot be started, or the library cannot be compiled.
        UsageError: an event is unknown.
    """
    chosen, notes = choose_available(events, "actiondbg kernels count")
    with scratch_directory("calls") as folder:
        status = run_counted(argv, counting_library(), folder, chosen, name)
        calls = read_calls(folder)
    calls.notes[:0] = notes
    return status, calls


def run_counted(
    argv: Sequence[str], library: Path, folder: Path, events: Sequence[Event], name: str = ""
) -> int:
    """Run a program, and count the calls in it and in its children.

    Ctrl-C reaches the program, which ends as it does without actiondbg. The program is killed if
    this process is.

    Args:
        argv: the program and its arguments.
        library: the result of ``counting_library``.
        folder: where the library writes the counts.
        events: the events to count.
        name: a glob of the functions to count; all if it is empty.

    Returns:
        The exit status of the program, negative for a signal.

    Raises:
        LaunchError: the program cannot be started.
    """
    program = which(argv[0])
    if program is None:
        raise LaunchError(
            f"There is no program {argv[0]!r}: check its name, or give its path after '--'."
        )
    try:
        with (
            _ignored_interrupts(),
            subprocess.Popen(
                argv,
                executable=program,
                env=_environment(library, folder, events, name),
                preexec_fn=partial(end_with_parent, os.getpid()),
            ) as process,
        ):
            return _wait(process)
    except OSError as error:
        raise LaunchError(
            f"{argv[0]!r} could not be started ({error.strerror}): check the program."
        ) from error


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for a program; end it with the command."""
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        raise


@contextlib.contextmanager
def _ignored_interrupts() -> Generator[None]:
    """Leave Ctrl-C to the program, which shares the terminal."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:  # a job in the background; its program ignores it, too
        yield
        return
    # Not SIG_IGN, which the program would inherit.
    signal.signal(signal.SIGINT, _ignore)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _ignore(_number: int, _frame: object) -> None:
    """Do nothing at a signal."""


def _environment(library: Path, folder: Path, events: Sequence[Event], name: str) -> dict[str, str]:
    """Return the environment that preloads the library; the program's own LD_PRELOAD is kept."""
    preloaded = os.environ.get(_PRELOAD)
    return {
        **os.environ,
        # Behind others: sanitizers have to be the first.
        _PRELOAD: f"{preloaded}:{library}" if preloaded else str(library),
        "ACTIONDBG_CALLS_DIRECTORY": str(folder.absolute()),
        "ACTIONDBG_CALLS_EVENTS": ",".join(event.spec for event in events),
        "ACTIONDBG_CALLS_NAME": name,
    }
