"""Errors of a compilation that a bisection can look for."""

from __future__ import annotations

import re
from pathlib import Path

_CRASH = "was killed by signal"
_ERROR = re.compile(r"\berror: (.*?)(?: \(see .*\))?\.?$")


def compilation_error(sentence: str) -> str:
    """Return the text of the diagnostic in the sentence on a failed step; "" for a crash."""
    found = None if _CRASH in sentence else _ERROR.search(sentence)
    return found[1] if found else ""


def is_compiler_fault(sentence: str) -> bool:
    """Whether a sentence on a failed step names a crash or a diagnostic."""
    return _CRASH in sentence or bool(compilation_error(sentence))


def count_steps(log: Path) -> int:
    """Return how many steps the log of a compilation has; 0 without a log."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return 0
    return sum(line.startswith("$ ") for line in lines)
