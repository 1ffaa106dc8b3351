"""The ways in which the agent gets into a tool."""

from __future__ import annotations

from enum import StrEnum


class Way(StrEnum):
    """How the agent reaches the functions of the tool's MLIR.

    Attributes:
        NATIVE: compiled against the headers of a shared libMLIR, whose exported functions it
            replaces by being preloaded.
        DETOUR: compiled against exact headers; the functions are hidden or static, so that their
            code is patched to jump to the agent.
        PORTABLE: compiled without headers of MLIR; the functions are patched, and the layout of
            MLIR's classes is learned and checked in the process.
    """

    NATIVE = "native"
    DETOUR = "detour"
    PORTABLE = "portable"
