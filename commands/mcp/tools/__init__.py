"""The tools: each translates its arguments into a call of the API or of a command of the shell.

Nothing here knows the SDK of MCP. The import of this package declares them all.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from actiondbg.commands.mcp.declaration import TOOLS, Arguments, InSession, Tool
from actiondbg.commands.mcp.tools import experiments, recordings, sessions

__all__ = ["TOOLS", "MoreArguments", "experiments", "recordings", "sessions"]


class CloseArguments(InSession, frozen=True, kw_only=True):
    pass


class MoreArguments(Arguments, frozen=True, kw_only=True):
    answer: Annotated[str, Meta(description="the id of a text that was cut off, such as a1")]
    offset: Annotated[int, Meta(ge=0, description="the character to begin with")]


# Of the server itself, without a worker's part.
TOOLS["close"] = Tool(
    "close", CloseArguments, None, "End a session: its tool, and its files.", False
)
TOOLS["more"] = Tool("more", MoreArguments, None, "Show the rest of a text that was cut off.", True)
