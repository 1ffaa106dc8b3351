"""The library that is preloaded into a program to count its calls."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from actiondbg.errors import AgentBuildError
from actiondbg.statistics.events import aliases, listed_events
from actiondbg.support.atomic_write import write_whole
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool.c_part import calls
from actiondbg.tool.shipped import AGENT_SOURCE, link_name, link_to

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
