"""What if: a run compared with others that do something otherwise, each in a fork of one stop.

May import: errors to bisection. The names below are imported when they are first used: the package
is cheap to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from actiondbg.whatif.alternatives import (
        Alternative,
        AppendedPipeline,
        ChangedBenefit,
        ChangedOptions,
        DroppedPass,
        InsertedPipeline,
        MovedPass,
        PassReference,
        ReplacedPass,
        SwappedPasses,
        Switch,
        parse_alternatives,
    )
    from actiondbg.whatif.applicable import (
        ApplicablePattern,
        TriedPass,
        applicable_patterns,
        try_passes,
    )
    from actiondbg.whatif.comparison import Comparison, Row, compare

__all__ = [
    "Alternative",
    "AppendedPipeline",
    "ApplicablePattern",
    "ChangedBenefit",
    "ChangedOptions",
    "Comparison",
    "DroppedPass",
    "InsertedPipeline",
    "MovedPass",
    "PassReference",
    "ReplacedPass",
    "Row",
    "SwappedPasses",
    "Switch",
    "TriedPass",
    "applicable_patterns",
    "compare",
    "parse_alternatives",
    "try_passes",
]

_HOME = {
    **dict.fromkeys(("Comparison", "Row", "compare"), "comparison"),
    **dict.fromkeys(
        ("ApplicablePattern", "TriedPass", "applicable_patterns", "try_passes"), "applicable"
    ),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'actiondbg.whatif' has no attribute {name!r}")
    home = _HOME.get(name, "alternatives")
    return getattr(import_module(f"actiondbg.whatif.{home}"), name)
