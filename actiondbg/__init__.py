"""actiondbg: stop a running MLIR compiler at any action, look, skip, apply.

    import actiondbg

    with actiondbg.launch(["mlir-opt", "in.mlir", "--canonicalize"]) as session:
        session.breakpoints.add("pattern:*Select*")
        stop = session.run()

The names below are imported at their first use: ``import actiondbg`` is cheap.
"""

from __future__ import annotations

from importlib import import_module

from actiondbg.version import VERSION as __version__

TYPE_CHECKING = False  # typing takes longer to import than all of this package
if TYPE_CHECKING:
    from actiondbg import errors
    from actiondbg import whatif as whatif
    from actiondbg.attachment.attachment import attach
    from actiondbg.bisection import bisect
    from actiondbg.breakpoints.breakpoint import Breakpoint
    from actiondbg.errors import ActiondbgError
    from actiondbg.process.stop import Stop
    from actiondbg.session.session import Session, connect, launch
    from actiondbg.validation.run_validation import validate


__all__ = [
    "ActiondbgError",
    "Breakpoint",
    "Session",
    "Stop",
    "__version__",
    "attach",
    "bisect",
    "connect",
    "errors",
    "launch",
    "validate",
]

_MODULES = {
    "ActiondbgError": "actiondbg.errors",
    "Breakpoint": "actiondbg.breakpoints.breakpoint",
    "Session": "actiondbg.session.session",
    "Stop": "actiondbg.process.stop",
    "attach": "actiondbg.attachment.attachment",
    "bisect": "actiondbg.bisection",
    "connect": "actiondbg.session.session",
    "launch": "actiondbg.session.session",
    "validate": "actiondbg.validation.run_validation",
}


def __getattr__(name: str) -> object:
    if name in ("errors", "whatif"):
        return import_module(f"actiondbg.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'actiondbg' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
