"""Operations with an origin in common."""

from __future__ import annotations

from collections.abc import Iterable

from actiondbg.lineage.lineage import Lineage, Tracking
from actiondbg.lineage.stage import Operation


def related(lineage: Lineage, operations: Iterable[Operation], *, exact: bool = False) -> Tracking:
    """Return the operations of the same stage with an origin in common."""
    sources = list(operations)
    if not sources:
        return Tracking(())
    origins = lineage.track(sources, lineage.stages[0], exact=exact).operations
    return lineage.track(origins, sources[0].stage, exact=exact)
