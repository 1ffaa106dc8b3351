"""The interface of a lineage, whatever it is made from: a recording, a live session or dumps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from actiondbg.lineage.stage import Operation, Stage


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

    @property
    def is_to_earlier(self) -> bool:
        """Whether the later operation was there before."""
        return self in (Evidence.MERGED, Evidence.INLINED)

    @property
    def makes(self) -> bool:
        """Whether the later operation was made then, and the other is its origin."""
        return self in _MAKING

    @property
    def ends(self) -> bool:
        """Whether the earlier operation was replaced then."""
        return self in _ENDING

    @property
    def keeps_value(self) -> bool:
        """Whether a constant that was made from a constant has its value."""
        return self in (Evidence.CLONED, Evidence.REPLACED, Evidence.MERGED, Evidence.FOLDED)


_MAKING = frozenset(
    (Evidence.REPLACED, Evidence.CREATED, Evidence.CLONED, Evidence.FOLDED, Evidence.REWRITTEN)
)
_ENDING = frozenset(
    (Evidence.REPLACED, Evidence.FOLDED, Evidence.MERGED, Evidence.REWRITTEN, Evidence.SAME)
)
EVIDENCES = tuple(Evidence)  # by code, as tables of edges hold it


class LineageStep(NamedTuple):
    """One operation made from another.

    Args:
        evidence: what shows it.
        source: the number of the earlier operation.
        target: the number of the later operation; the same if it was modified or moved.
        ordinal: the action that did it; None if no action is known.
        time: when it happened, as a number that grows with time; 0 if it is unknown.
    """

    evidence: Evidence
    source: int
    target: int
    ordinal: int | None = None
    time: int = 0


class Trace(NamedTuple):
    """An operation that tracking reached, and the steps to it.

    Args:
        operation: the operation, or the unit that answers for it.
        steps: in the order of time.
        inside: the operation for which a unit answers; None if ``operation`` was itself reached.
    """

    operation: Operation
    steps: tuple[LineageStep, ...]
    inside: Operation | None = None

    @property
    def is_exact(self) -> bool:
        """Whether each step was shown by the compiler."""
        return all(step.evidence.is_exact for step in self.steps)


class Loss(NamedTuple):
    """An operation without heirs, or, tracked back, without origin.

    Args:
        node: its number.
        why: ``folded`` (its uses were given to a value that was there), ``dead`` (it was erased
            when nothing used it any more), ``consumed`` (so, after a pattern replaced or erased its
            last user), ``erased``, ``unread`` or ``finished`` (at the stage, the tool had not yet
            read, or had finished, the part of the input in which it is), or ``untraced`` (no action
            is known that erased it). Of an operation whose origin is not known ``inserted``, or
            ``ambiguous`` (more operations share its location than can be told apart). Between dumps
            ``unlocated`` (it has no source location) or ``unmatched`` (no location of the other
            dump overlaps its own), if no text shows it either; ``inexact`` with ``exact``.
        ordinal: the action that erased or inserted it, or its last user; None if no action is
            known.
    """

    node: int
    why: str
    ordinal: int | None = None


class Tracking(NamedTuple):
    """What operations became, or came from.

    Args:
        traces: one for each operation of the other stage, in the order of its text.
        losses: where a way ended.
    """

    traces: tuple[Trace, ...]
    losses: tuple[Loss, ...] = ()

    @property
    def operations(self) -> list[Operation]:
        """The operations that were reached."""
        return [trace.operation for trace in self.traces]


class StageRelation(NamedTuple):
    """Which operations of a stage became which of a later one: parallel columns.

    Args:
        sources: indices in the earlier stage.
        targets: indices in the later stage.
        exact: whether each step between the two was shown by the compiler.
    """

    sources: Sequence[int]
    targets: Sequence[int]
    exact: Sequence[bool]

    def by_source(self) -> dict[int, list[int]]:
        """Return the indices in the later stage, by that in the earlier one."""
        found: dict[int, list[int]] = {}
        for source, target in zip(self.sources, self.targets, strict=True):
            found.setdefault(source, []).append(target)
        return found


class Node(NamedTuple):
    """An operation of the lineage, at any time; text columns are empty if unknown.

    Args:
        number: its number; of a recorded run the operation id.
        name: its name.
        location: the text of its source location.
        function: the symbol of the function around it.
    """

    number: int
    name: str
    location: str = ""
    function: str = ""


class Lineage(Protocol):
    """The origins and the heirs of each operation."""

    @property
    def stages(self) -> Sequence[Stage]:
        """The stages, in the order of time: at least the input and the output."""
        ...

    @property
    def is_recorded(self) -> bool:
        """Whether a run was recorded: operations have ids, and actions are known."""
        ...

    def track(
        self,
        operations: Iterable[Operation],
        to: Stage,
        *,
        exact: bool = False,
        nested: bool | None = None,
    ) -> Tracking:
        """Track operations of one stage to another, forward or back.

        Args:
            operations: operations of one stage.
            to: the other stage, later or earlier.
            exact: leave out what only locations or texts show.
            nested: track the operations in their regions too; None: those of operations that
                are no modules and define no symbols.
        """
        ...

    def relate(self, source: Stage, target: Stage, *, exact: bool = False) -> StageRelation:
        """Return which operations of a stage became which of a later one, as ``track`` does."""
        ...

    def steps(self, *, exact: bool = False) -> Iterator[LineageStep]:
        """Iterate over all steps, in the order of time."""
        ...

    def events(self, number: int) -> Sequence[LineageStep]:
        """Return how an operation was modified and moved, in the order of time."""
        ...

    def node(self, number: int) -> Node:
        """Describe an operation; raises KeyError for an unknown number."""
        ...

    def action(self, ordinal: int) -> str:
        """Name an action as users write it, such as ``pattern:FuseX`` or ``pass:cse``."""
        ...

    def pass_of(self, ordinal: int) -> int | None:
        """Return the ordinal of the pass around an action, itself for a pass; None for none."""
        ...


def action_place(lineage: Lineage, ordinal: int) -> tuple[str, str]:
    """Name the pass around an action, "" for none, and the action."""
    around = lineage.pass_of(ordinal)
    return "" if around is None else lineage.action(around), lineage.action(ordinal)


def related(lineage: Lineage, operations: Iterable[Operation], *, exact: bool = False) -> Tracking:
    """Return the operations of the same stage with an origin in common."""
    sources = list(operations)
    if not sources:
        return Tracking(())
    origins = lineage.track(sources, lineage.stages[0], exact=exact).operations
    return lineage.track(origins, sources[0].stage, exact=exact)
