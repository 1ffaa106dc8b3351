"""The tool under the debugger: its discovery, its agent and its start."""

from __future__ import annotations

from actiondbg.tool.discovery import Tool, expand_driver, find_tool

__all__ = ["Tool", "expand_driver", "find_tool"]
