"""Capabilities of the agent that the user switches off, where a check of it was wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from actiondbg.errors import UsageError
from actiondbg.tool.program_guard import VARIABLE as PROGRAM

VARIABLE = "ACTIONDBG_WITHOUT"  # names with commas between them, for the agent and from the user


def capabilities_without(names: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the capabilities to switch off: names, and those of the user's environment.

    A debugger that debugs us has a variable of its own in our environment, which is not for us.

    Raises:
        UsageError: a name is that of no capability.
    """
    given = "" if PROGRAM in environment else environment.get(VARIABLE, "")
    wanted = tuple(dict.fromkeys([*names, *filter(None, given.split(","))]))
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
