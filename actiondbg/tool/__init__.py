"""The tool under the debugger: its discovery, its agent and its start."""

from __future__ import annotations

from actiondbg.tool.discovery import Tool, find_tool
from actiondbg.tool.driver import expand_driver

__all__ = ["Tool", "expand_driver", "find_tool"]
