"""Find the action that breaks a program, by trials in forks of one frozen process.

The names below are imported when they are first used: the package is cheap to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actiondbg.bisection.api import bisect
    from actiondbg.bisection.execute_oracle import Execute
    from actiondbg.bisection.oracles import Command, Crash, Diagnostic, FileCheck, Oracle, Verify
    from actiondbg.bisection.progress import Progress
    from actiondbg.bisection.result import Culprit, Entry, Result

__all__ = [
    "Command",
    "Crash",
    "Culprit",
    "Diagnostic",
    "Entry",
    "Execute",
    "FileCheck",
    "Oracle",
    "Progress",
    "Result",
    "Verify",
    "bisect",
]

_HOME = {
    **dict.fromkeys(__all__, "oracles"),
    **dict.fromkeys(("Entry", "Culprit", "Result"), "result"),
    **dict.fromkeys(("Execute", "Compare"), "execute_oracle"),
    "Progress": "progress",
    "bisect": "api",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'actiondbg.bisection' has no attribute {name!r}")
    return getattr(import_module(f"actiondbg.bisection.{_HOME[name]}"), name)
