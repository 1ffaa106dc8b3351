"""Load the modules that declare commands."""

from __future__ import annotations

from importlib import import_module

# In the order in which help lists their commands.
_MODULES = (
    *("controls", "breakpoints", "watches", "stack", "printing", "cursor"),
    *("past", "displays", "info", "outcomes", "time_travel", "bisection", "scripts"),
)


def load() -> None:
    """Fill actiondbg.commands.interpreter.declaration.COMMANDS; a second call changes nothing."""
    for name in _MODULES:
        import_module(f"actiondbg.commands.shell.{name}")
