"""Find a tool, its libMLIR and its headers, and compile the agent for it."""

from __future__ import annotations

from actiondbg.tool.agent_cache import OnCompile, agent_state, build_agent, fitted
from actiondbg.tool.discovery import Tool, find_tool
from actiondbg.tool.driver import expand_driver

__all__ = [
    "OnCompile",
    "Tool",
    "agent_state",
    "build_agent",
    "expand_driver",
    "find_tool",
    "fitted",
]
