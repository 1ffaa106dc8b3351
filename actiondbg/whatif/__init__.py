"""What if: a run compared with others that do something otherwise, each in a fork of one stop.

May import: errors to bisection.
"""

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
from actiondbg.whatif.alternatives_comparison import AlternativesComparison, Row, compare
from actiondbg.whatif.applicable import (
    ApplicablePattern,
    TriedPass,
    applicable_patterns,
    try_passes,
)

__all__ = [
    "Alternative",
    "AlternativesComparison",
    "AppendedPipeline",
    "ApplicablePattern",
    "ChangedBenefit",
    "ChangedOptions",
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
