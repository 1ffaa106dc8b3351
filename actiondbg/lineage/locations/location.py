"""The text of a source location as a tree."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A source location, as MLIR prints it; the text is parsed on demand (``ranges``).

    Args:
        text: what stands between ``loc(`` and ``)``, aliases resolved, such as
            ``"a.mlir":3:5`` or ``fused["a.mlir":3:5, "b.mlir":7:1]``; ``unknown`` for none.
    """

    text: str


UNKNOWN = Location("unknown")
