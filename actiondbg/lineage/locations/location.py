"""The text of a source location, and the ranges that it names."""

from __future__ import annotations

from dataclasses import dataclass

from actiondbg.lineage.locations.source_range import SourceRange, ranges_of


@dataclass(frozen=True, slots=True)
class Location:
    """A source location, as MLIR prints it; the text is parsed on demand (``ranges``).

    Args:
        text: what stands between ``loc(`` and ``)``, aliases resolved, such as
            ``"a.mlir":3:5`` or ``fused["a.mlir":3:5, "b.mlir":7:1]``; ``unknown`` for none.
    """

    text: str

    @property
    def ranges(self) -> frozenset[SourceRange]:
        """The source ranges that it names: of fused locations and of call sites, all."""
        return ranges_of(self.text)


UNKNOWN = Location("unknown")
