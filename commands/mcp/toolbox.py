"""All tools, in the order of tools/list."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from actiondbg.commands.mcp.declaration import Arguments, InSession, Tool
from actiondbg.commands.mcp.tools.experiments import EXPERIMENTS
from actiondbg.commands.mcp.tools.programs import PROGRAMS
from actiondbg.commands.mcp.tools.questions import QUESTIONS
from actiondbg.commands.mcp.tools.sessions import SESSIONS


class CloseArguments(InSession, frozen=True, kw_only=True):
    pass


class MoreArguments(Arguments, frozen=True, kw_only=True):
    answer: Annotated[str, Meta(description="the id of a text that was cut off, such as a1")]
    offset: Annotated[int, Meta(ge=0, description="the character to begin with")]


_OF_SERVER = (  # without a worker's part
    Tool("close", CloseArguments, None, "End a session: its tool, and its files.", False),
    Tool("more", MoreArguments, None, "Show the rest of a text that was cut off.", True),
)
TOOLS = {
    each.name: each
    for each in (
        *SESSIONS.tools,
        *QUESTIONS.tools,
        *EXPERIMENTS.tools,
        *PROGRAMS.tools,
        *_OF_SERVER,
    )
}
