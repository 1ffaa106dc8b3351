"""What the environment of a debugged program says to the agent in each of its processes."""

from __future__ import annotations

from collections.abc import Mapping

from actiondbg.tool.program_guard import VARIABLE
from actiondbg.tool.without import VARIABLE as WITHOUT

PRELOAD = "LD_PRELOAD"
USERS_PRELOAD = "ACTIONDBG_PRELOAD"
SEEN = "ACTIONDBG_SEEN"  # the path of the file of SeenPrograms
# What the agent reads, and removes from the environment when it begins to observe.
_OF_AGENTS = (
    "ACTIONDBG_SOCKET",
    "ACTIONDBG_RECORD",
    "ACTIONDBG_UPSTREAM_LOG",
    VARIABLE,
    "ACTIONDBG_FOLLOW",
    "ACTIONDBG_CACHE",
    WITHOUT,
    SEEN,
    USERS_PRELOAD,
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
