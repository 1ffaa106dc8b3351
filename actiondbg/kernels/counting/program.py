"""A program whose calls are counted, and the library that is preloaded into it."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path

from actiondbg.errors import AgentBuildError, LaunchError
from actiondbg.kernels.counting.measurement import Calls, read_calls
from actiondbg.statistics.event_probe import choose_available
from actiondbg.statistics.events import DEFAULT, CountableEvent, aliases, listed_events
from actiondbg.support.atomic_write import write_whole
from actiondbg.support.executables import which
from actiondbg.support.processes import end_with_parent
from actiondbg.support.scratch_directory import scratch_directory
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool.c_part import calls
from actiondbg.tool.shipped import AGENT_SOURCE, link_name, link_to

_PRELOAD = "LD_PRELOAD"
_MACHINE = "x86_64"


def counting_library() -> Path:
    """Return the shipped library, by a link in the user's cache.

    Beside it is a file that the library reads when it is preloaded without actiondbg: which Python
    reports the counts, and the events of this machine.

    Raises:
        AgentBuildError: the machine is not supported, the library is missing or was built from
            other sources, or the cache cannot be written.
    """
    if platform.machine() != _MACHINE:
        raise AgentBuildError(
            f"Calls are counted on {_MACHINE} only, and this machine is {platform.machine()}: "
            "'actiondbg kernels profile' measures times."
        )
    library = calls().file()
    # The file goes beside a link: the shipped library may be in a folder of root's.
    preloaded = cache_directory() / link_name(library.name)
    try:
        link_to(library, preloaded)
        _write_setup(preloaded.with_suffix(".setup"))
    except OSError as error:
        raise AgentBuildError(
            f"The library cannot be kept in {str(preloaded.parent)!r} ({error.strerror}): set "
            "XDG_CACHE_HOME to a directory of yours that is writable and not mounted noexec."
        ) from error
    return preloaded


def _write_setup(path: Path) -> None:
    """Write which Python reports the counts, and the events of this machine."""
    lines = [f"python\t{sys.executable}", f"root\t{AGENT_SOURCE.parent.parent}"]
    for kind, events in (("event", listed_events()), ("alias", aliases())):
        lines += [f"{kind}\t{one.name}\t{one.type}\t{one.config}" for one in events]
    content = "".join(f"{line}\n" for line in lines).encode()
    if not path.exists() or path.read_bytes() != content:
        write_whole(path, content)


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
    argv: Sequence[str],
    library: Path,
    folder: Path,
    events: Sequence[CountableEvent],
    name: str = "",
) -> int:
    """Run a program, and count the calls in it and in its children.

    Ctrl-C reaches the program, which ends as it does without actiondbg. The program is killed if
    this process is.

    Args:
        argv: the program and its arguments.
        library: the result of ``counting_library``.
        folder: where the library writes the counts.
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
            try:
                return process.wait()
            except BaseException:
                process.terminate()
                raise
    except OSError as error:
        raise LaunchError(
            f"{argv[0]!r} could not be started ({error.strerror}): check the program."
        ) from error


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


def _environment(
    library: Path, folder: Path, events: Sequence[CountableEvent], name: str
) -> dict[str, str]:
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
