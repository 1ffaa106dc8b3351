"""The scenarios whose transcripts are kept: what is run, on which inputs.

A scenario runs its steps one after the other in one new directory, which holds the files of
``tests/golden/inputs`` and ``examples``. Each step is a line of bash, or a session: commands of
the shell over a tool or a recording. Commands that belong together share a scenario, because
the start of a tool takes most of the time.
"""

from __future__ import annotations

from scenarios.json_sessions import JSON
from scenarios.kernels import KERNELS
from scenarios.lineage import LINEAGE
from scenarios.recordings import QUERIES, RECORDINGS
from scenarios.scenario import SUBCOMMANDS, Scenario, Step, documented_commands
from scenarios.shell import SHELL
from scenarios.subcommands import (
    BISECTIONS,
    COMMAND_LINE,
    COST,
    DAP,
    DOCTOR,
    EXPLAIN,
    MCP,
    SUITES,
    TRACK,
    WHATIF,
)

SCENARIOS = (
    *COMMAND_LINE,
    *SHELL,
    *JSON,
    *RECORDINGS,
    *QUERIES,
    *BISECTIONS,
    *EXPLAIN,
    *WHATIF,
    *COST,
    *DAP,
    *DOCTOR,
    *MCP,
    *KERNELS,
    *LINEAGE,
    *SUITES,
    *TRACK,
)

__all__ = ["SCENARIOS", "SUBCOMMANDS", "Scenario", "Step", "documented_commands"]
