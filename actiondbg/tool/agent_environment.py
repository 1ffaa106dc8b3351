"""The environment of a debugged program: what it says to the agent in each process, and caches.

A program must not share caches of compiled kernels with others: a kernel that is found in a cache
runs no actions, and one of which actions were skipped would be found there by the next run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from actiondbg.errors import UsageError
from actiondbg.support.counts import as_texts
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool.program_guard import VARIABLE

PRELOAD = "LD_PRELOAD"
USERS_PRELOAD = "ACTIONDBG_PRELOAD"
KEPT = "ACTIONDBG_KEPT"  # names of other variables that each process needs, with commas between
WITHOUT = "ACTIONDBG_WITHOUT"  # names with commas between them, for the agent and from the user
SUITE = "ACTIONDBG_SUITE"  # the folder of a suite
FRONT_END = "ACTIONDBG_FRONT_END"  # the pid of the front end, with which a tool ends
SEEN = "ACTIONDBG_SEEN"  # the path of the file of SeenPrograms
# The name of a sanitizer's runtime, of GCC or of Clang.
_SANITIZER = re.compile(r"lib((a|hwa|l|t|ub)san\.|clang_rt\.)")
# What the agent reads, and removes from the environment when it begins to observe.
_OF_AGENTS = (
    "ACTIONDBG_SOCKET",
    "ACTIONDBG_RECORD",
    "ACTIONDBG_UPSTREAM_LOG",
    VARIABLE,
    FRONT_END,
    "ACTIONDBG_FOLLOW",
    "ACTIONDBG_CACHE",
    WITHOUT,
    SEEN,
    SUITE,
    USERS_PRELOAD,
    KEPT,
)


def without_agents(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the agent of a debugger that debugs us, as a program.

    The tool has one debugger, the inner one: two agents would hook the same functions.
    """
    result = dict(environment)
    if VARIABLE in result:
        if users := result.get(USERS_PRELOAD):
            result[PRELOAD] = users
        else:
            result.pop(PRELOAD, None)
    for name in list(result):
        if name in _OF_AGENTS or name.startswith("ACTIONDBG_RECORD_"):
            del result[name]
    return result


def is_sanitizer(library: Path) -> bool:
    """Return whether a library is the runtime of a sanitizer."""
    return _SANITIZER.match(library.name) is not None


def preload_with(agent: Path, users: str) -> str:
    """Return the value of LD_PRELOAD with the agent, before other libraries of the user.

    It is behind runtimes of sanitizers, which refuse to run where another library comes first.
    """
    libraries = [one for one in re.split("[: ]+", users) if one]
    place = 0
    while place < len(libraries) and is_sanitizer(Path(libraries[place])):
        place += 1
    return ":".join([*libraries[:place], str(agent), *libraries[place:]])


def capabilities_without(names: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the capabilities to switch off: names, and those of the user's environment.

    A debugger that debugs us has a variable of its own in our environment, which is not for us.

    Raises:
        UsageError: a name is that of no capability.
    """
    given = "" if VARIABLE in environment else environment.get(WITHOUT, "")
    wanted = tuple(dict.fromkeys([*as_texts(names), *filter(None, given.split(","))]))
    if wanted:
        # Imported on demand: the messages of the protocol take a while.
        from actiondbg.protocol.capabilities import CAPABILITIES

        for name in wanted:
            if name not in CAPABILITIES:
                raise UsageError(
                    f"There is no capability {name!r} to switch off: choose among "
                    f"{', '.join(CAPABILITIES)}."
                )
    return wanted


# What a program compiles is compiled anew.
COMPILING_ANEW = {
    "TRITON_ALWAYS_COMPILE": "1",
    "JAX_ENABLE_COMPILATION_CACHE": "false",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
}
_MANAGER = "TRITON_CACHE_MANAGER"


def bypassing_caches(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that have a program compile anew what it compiles.

    Triton, JAX and torch.compile read them. What Triton writes to its cache all the same goes to
    one of ours, which no run reads kernels from.

    Args:
        environment: the program's. The caches that it names are not used either, because a kernel
            with skipped actions would stay there.
    """
    wanted = {**COMPILING_ANEW, "TRITON_CACHE_DIR": str(cache_directory() / "triton")}
    if _MANAGER in environment:  # such as of a cache on another machine
        wanted[_MANAGER] = "triton.runtime.cache:FileCacheManager"
    return wanted
