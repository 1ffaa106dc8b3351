"""Operations with an origin in common."""

from __future__ import annotations

from collections.abc import Iterable

from actiondbg.lineage.lineage import Lineage, Tracking
from actiondbg.lineage.stage import Operation


def has_body(operations: Iterable[Operation]) -> bool:
    """Whether the operations in the regions of some answer for them: not those of functions."""
    return not any(operation.symbol or operation.parent is None for operation in operations)


def related(lineage: Lineage, operations: Iterable[Operation], *, exact: bool = False) -> Tracking:
    """Return the operations of the same stage with an origin in common."""
    sources = list(operations)
    if not sources:
        return Tracking(())
    nested = has_body(sources)
    origins = lineage.track(sources, lineage.stages[0], exact=exact, nested=nested).operations
    return lineage.track(origins, sources[0].stage, exact=exact, nested=has_body(origins))
