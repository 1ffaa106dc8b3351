"""The requests, one module a topic; the import of this package declares them all.

May import: dap.protocol, dap.handlers, dap.server, dap.debuggee, and what dap may import.
"""

from actiondbg.commands.dap.handlers import HANDLERS
from actiondbg.commands.dap.requests import (
    breakpoints,
    controls,
    documents,
    evaluate,
    questions,
    stack,
    variables,
)

__all__ = ["HANDLERS", "MODULES"]
MODULES = (breakpoints, controls, documents, evaluate, questions, stack, variables)
