"""The requests, one module a topic; the import of this package declares them all.

May import: dap.protocol, dap.declaration, dap.client, dap.debuggee, and what dap may import.
"""

from actiondbg.commands.dap.requests import (
    breakpoints,
    console,
    controls,
    documents,
    past,
    session,
    stack,
    variables,
)

__all__ = [
    "breakpoints",
    "console",
    "controls",
    "documents",
    "past",
    "session",
    "stack",
    "variables",
]
