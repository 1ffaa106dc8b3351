"""Find a tool, its libMLIR and its headers, and compile the agent for it."""

from __future__ import annotations

from actiondbg.toolchain.build import agent_state, build_agent
from actiondbg.toolchain.driver import expand_driver
from actiondbg.toolchain.find import Tool, find_tool

__all__ = ["Tool", "agent_state", "build_agent", "expand_driver", "find_tool"]
