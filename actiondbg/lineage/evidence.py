"""What shows that one operation was made from another."""

from __future__ import annotations

from enum import StrEnum


class Evidence(StrEnum):
    """What shows that one operation was made from another; all but the last three are exact."""

    REPLACED = "replaced"  # the rewriter reported the replacement
    CREATED = "created"  # inserted by the application of a pattern to the other
    CLONED = "cloned"
    INLINED = "inlined"  # in the place of the other, a call; or the same operation, moved there
    FUSED = "fused"  # a pattern applied to a user of the other took the operands of the other
    FOLDED = "folded"  # the constant that the other folded to
    MERGED = "merged"  # its uses were given to an operation that was there before
    SYMBOL = "symbol"  # the other refers to the symbol that it defines
    MODIFIED = "modified"  # the same operation, changed in place
    MOVED = "moved"  # the same operation, at another place
    OUTLINED = "outlined"  # the same operation, moved into a new function
    # Inserted by a pass in front of the other, which the pass replaced or erased next.
    EXPANDED = "expanded"
    # Inserted by the action that erased the other, and computes the same from the same constants.
    RECOMPUTED = "recomputed"
    SAME = "same"  # the same operation, printed by one tool and parsed by the next
    # Inserted, with its location, by the application of a pattern that erased the other.
    REWRITTEN = "rewritten"
    LOCATION = "location"  # their source ranges overlap
    TEXT = "text"  # one has lost its location, and both have the same text

    @property
    def is_exact(self) -> bool:
        """Whether the compiler showed it; False for a comparison of locations or of texts."""
        return self not in (Evidence.REWRITTEN, Evidence.LOCATION, Evidence.TEXT)


EVIDENCES = tuple(Evidence)  # by code, as tables of edges hold it
