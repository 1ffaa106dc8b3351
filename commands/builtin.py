"""Load the modules that declare commands."""

from __future__ import annotations

from importlib import import_module

# In the order in which help lists their commands.
_MODULES = (
    *("running", "breakpoints", "watching", "stack", "printing", "cursor"),
    *("past", "displays", "status", "outcomes", "travel", "bisecting", "scripts"),
)


def load() -> None:
    """Fill actiondbg.commands.command.COMMANDS; a second call changes nothing."""
    for name in _MODULES:
        import_module(f"actiondbg.commands.{name}")
