"""What dialect conversions tried for operations that they did not legalize, as a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from actiondbg.analysis.attempts import Attempt
from actiondbg.protocol.legalizations import (
    CastsGone,
    CastUnresolved,
    ConversionBegan,
    ConversionEnded,
    Cut,
    ErrorReported,
    LeftOutPattern,
    Legality,
    LegalizationEvent,
    Neighbour,
    OperationBegan,
    OperationEnded,
    OperationsLeft,
    OperationsNeeding,
    OperationsUntold,
    PatternBegan,
    PatternEnded,
    ReasonGiven,
    TryResult,
    TypeFailed,
    ValuesNamed,
)


class TriedPattern(msgspec.Struct, kw_only=True):
    """A pattern that a conversion tried for an operation."""

    name: str  # of the pattern
    benefit: int | None  # as the pattern declares it; None where it is not recorded
    ordinal: int | None  # of its action; None if it was refused
    # Whether it is tried for all operations, which tells little of this one; False where that is
    # not recorded.
    any_operation: bool = False
    # "failed" if it did not match; "rolled back" if it matched, and what it made could not be
    # legalized; "refused" if it was being applied already; "succeeded"; or None if the tool stopped
    # while it was being applied.
    result: TryResult | None = None
    # Why it did not match, in its own words; whether the agent could not hear them.
    reasons: list[str] = msgspec.field(default_factory=list[str])
    unheard: bool = False
    # The types that its type converter does not convert, in the order in which it met them: the
    # innermost first.
    types: list[TypeFailed] = msgspec.field(default_factory=list[TypeFailed])
    # The operations that it generated, in their order: the last was not legalized.
    generated: list[Legalization] = msgspec.field(default_factory=lambda: list[Legalization]())


class Legalization(msgspec.Struct, kw_only=True):
    """The attempt to legalize an operation."""

    id: int | None  # of the operation, or None
    op: str  # its name
    location: str | None  # its file location, or None
    # What the conversion target says of operations of this name; None where it was not asked.
    legality: Legality | None
    # Whether the target refuses this one: False if it does not know it, None where it was not
    # asked.
    illegal: bool | None = None
    said: str | None = None  # the debug output of the target's check; None without
    # Whether it was legalized; None if the tool stopped before that was decided.
    legalized: bool | None = None
    text: str | None = None  # the operation, in the generic form; None where it was not printed
    # The patterns that were tried, in their order.
    tried: list[TriedPattern] = msgspec.field(default_factory=list[TriedPattern])
    # Patterns for the operation that the conversion does not try.
    left_out: list[LeftOutPattern] = msgspec.field(default_factory=list[LeftOutPattern])
    # Types that fail to convert when the target checks whether the operation is legal.
    types: list[TypeFailed] = msgspec.field(default_factory=list[TypeFailed])
    # Of the results of an ``unrealized_conversion_cast``.
    users: list[Neighbour] = msgspec.field(default_factory=list[Neighbour])


class Conversion(msgspec.Struct, kw_only=True, rename={"pass_name": "pass"}):
    """A dialect conversion."""

    ordinal: int  # of its action
    # Whether all operations must be legal at its end; None where that is not recorded.
    full: bool | None
    pass_name: str | None  # the pass that runs it, or None
    function: str | None  # the function of the pass, or None
    failed: bool | None = None  # whether it failed; None if it has not ended
    # The operations that it did not legalize and that are asked for. Of a failed conversion:
    # operations around the one at which it failed, and that one, last.
    legalizations: list[Legalization] = msgspec.field(default_factory=list[Legalization])
    # The operations that are asked for and that were there at its end, by name.
    left: list[OperationsLeft] = msgspec.field(default_factory=list[OperationsLeft])
    # The number of operations that are asked for and that ``legalizations`` lacks, by name, because
    # there are too many.
    untold: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    # The errors that were reported while the newest operation was legalized.
    errors: list[ErrorReported] = msgspec.field(default_factory=list[ErrorReported])
    # The operations that need the one at which it failed, that it would not legalize either, and
    # for which it has no pattern: the nearest first.
    needing: list[Neighbour] = msgspec.field(default_factory=list[Neighbour])
    # The cast for which the conversion failed in the end, or None.
    unresolved: CastUnresolved | None = None
    verifies: bool = False  # whether it has no patterns, and only asks the target
    is_cut: bool = False  # whether too much was tried, and what came last is missing


def read_conversions(
    events: Iterable[LegalizationEvent], named: Callable[[str], str] = str
) -> list[Conversion]:
    """Read the events that the agent wrote; ``named`` puts names in the place of keys of values."""
    tree = _Tree(named)
    for event in events:
        if isinstance(event, CastsGone):
            tree.mark_gone(set(event.ids))
        elif not isinstance(event, ValuesNamed):
            tree.add(event)
    return tree.conversions


def failed_types(conversions: Iterable[Conversion]) -> list[TypeFailed]:
    """Return the types that did not convert for operations of conversions."""
    found: list[TypeFailed] = []
    for one in _all_of(conversions):
        found += one.types
        for tried in one.tried:
            found += tried.types
    return found


def refused(conversions: Iterable[Conversion]) -> list[Legalization]:
    """Return the operations that conversion targets refuse by a check."""
    return [one for one in _all_of(conversions) if one.legality == "dynamic" and one.illegal]


def _all_of(conversions: Iterable[Conversion]) -> list[Legalization]:
    """Return the operations of conversions, and the operations that patterns generated for them."""
    operations = [one for conversion in conversions for one in conversion.legalizations]
    for operation in operations:
        for tried in operation.tried:
            operations += tried.generated
    return operations


def add_reasons(conversions: Iterable[Conversion], explained: Iterable[Conversion]) -> None:
    """Add why types do not convert, and why operations are refused, from another replay.

    Nothing is added if that met other types or operations.
    """
    types, others = failed_types(conversions), failed_types(explained)
    if [(one.type, one.converter) for one in types] != [(o.type, o.converter) for o in others]:
        return
    for one, other in zip(types, others, strict=True):
        one.said, one.part, one.similar = other.said, other.part, other.similar
    checked, again = refused(conversions), refused(explained)
    if [(one.id, one.op) for one in checked] == [(other.id, other.op) for other in again]:
        for one, other in zip(checked, again, strict=True):
            one.said = other.said


_PatternEvent = PatternBegan | PatternEnded | ReasonGiven | TypeFailed
_OfConversion = (
    ConversionEnded
    | ErrorReported
    | CastUnresolved
    | OperationsLeft
    | OperationsNeeding
    | OperationsUntold
    | Cut
)
_TreeEvent = ConversionBegan | OperationBegan | OperationEnded | _PatternEvent | _OfConversion


class _Tree:
    """Conversions, of which the newest is being read."""

    def __init__(self, named: Callable[[str], str]) -> None:
        self.conversions: list[Conversion] = []
        self._named = named
        # The operations that are being legalized, each in a pattern of the one before.
        self._open: list[Legalization] = []
        self._is_trying: list[bool] = []

    def add(self, event: _TreeEvent) -> None:
        if isinstance(event, ConversionBegan):
            self._begin_conversion(event)
        elif isinstance(event, OperationBegan):
            self._begin(event)
        elif isinstance(event, OperationEnded | _PatternEvent):
            if self._open:  # else its operation was cut
                self._add_inside(event)
        else:
            self._add_to_conversion(event)

    def mark_gone(self, ids: set[int]) -> None:
        for conversion in self.conversions:
            for left in conversion.left:
                left.casts = [
                    msgspec.structs.replace(cast, gone=True) if cast.id in ids else cast
                    for cast in left.casts
                ]

    def _begin_conversion(self, event: ConversionBegan) -> None:
        made = Conversion(
            ordinal=event.ordinal,
            full=event.full,
            pass_name=event.pass_name,
            function=event.function or None,
        )
        self.conversions.append(made)
        self._open, self._is_trying = [], []

    def _add_to_conversion(self, event: _OfConversion) -> None:
        newest = self.conversions[-1]
        match event:
            case ConversionEnded():
                newest.failed, newest.verifies = event.failed, event.verifies
            case ErrorReported():
                newest.errors.append(event)
            case CastUnresolved():
                newest.unresolved = newest.unresolved or event
            case OperationsLeft():
                newest.left.append(event)
            case OperationsNeeding():
                if newest.legalizations and newest.legalizations[-1].id == event.id:
                    newest.needing = event.operations
            case OperationsUntold():
                newest.untold[event.name] = event.count
            case Cut():
                newest.is_cut = True
                for each in self._open:
                    each.legalized = False
                self._open, self._is_trying = [], []

    def _add_inside(self, event: OperationEnded | _PatternEvent) -> None:
        match event:
            case OperationEnded():
                self._end(event)
            case PatternBegan():
                made = TriedPattern(
                    name=event.name,
                    benefit=event.benefit,
                    ordinal=event.ordinal,
                    any_operation=event.any_operation,
                )
                self._open[-1].tried.append(made)
                self._is_trying[-1] = True
            case PatternEnded():
                tried = self._open[-1].tried[-1]
                tried.result, tried.unheard = event.result, event.unheard
                self._is_trying[-1] = False
            case ReasonGiven():
                if self._trying:
                    self._trying.reasons.append(event.text)
            case TypeFailed():
                types = self._trying.types if self._trying else self._open[-1].types
                if event not in types:
                    types.append(event)

    @property
    def _trying(self) -> TriedPattern | None:
        """The innermost pattern that is being tried."""
        is_trying = bool(self._is_trying) and self._is_trying[-1]
        return self._open[-1].tried[-1] if is_trying else None

    def _begin(self, event: OperationBegan) -> None:
        made = Legalization(
            id=event.id, op=event.name, location=event.location, legality=event.legality
        )
        around = self._trying
        if around is not None:
            around.generated.append(made)
        else:
            self._open, self._is_trying = [], []
            self.conversions[-1].legalizations.append(made)
        self._open.append(made)
        self._is_trying.append(False)

    def _end(self, event: OperationEnded) -> None:
        ended = self._open.pop()
        self._is_trying.pop()
        ended.legalized = event.legalized
        ended.illegal, ended.said = event.illegal, event.said
        ended.text = None if event.text is None else self._named(event.text)
        ended.left_out = event.untried
        ended.users = event.users


# --- recorded attempts ---

# A recording tells less than a replay: not what the conversion target says, not which types do not
# convert, and nothing of operations for which no pattern was tried.


_ROLLED_BACK = "rolled back"  # the beginning of the agent's own reason


class NestedAttempt(NamedTuple):
    """An attempt, the number of actions around it, and whether it has ended."""

    depth: int
    attempt: Attempt
    ended: bool = True


def legalizations_of(attempts: Iterable[NestedAttempt]) -> list[Legalization]:
    """Build the trees from attempts in the order of their beginnings.

    Attempts in a row for the same operation, at the same depth, are of one tree.
    """
    top: list[Legalization] = []
    around: list[tuple[int, TriedPattern]] = []  # depth, and the pattern of that depth
    for depth, attempt, ended in attempts:
        while around and around[-1][0] >= depth:
            around.pop()
        siblings = around[-1][1].generated if around else top
        if not siblings or siblings[-1].id != attempt.id:
            siblings.append(
                Legalization(
                    id=attempt.id,
                    op=attempt.op or "",
                    location=attempt.location,
                    legality=None,
                    legalized=False,
                )
            )
        one = siblings[-1]
        tried = TriedPattern(
            name=attempt.name,
            benefit=None,
            ordinal=attempt.ordinal,
            result=_result(attempt) if ended else None,
            reasons=list(attempt.outcome.reasons) if ended else [],
            unheard=attempt.outcome.unheard,
        )
        one.tried.append(tried)
        one.legalized = one.legalized or (tried.result == "succeeded" if ended else None)
        around.append((depth, tried))
    return top


def _result(attempt: Attempt) -> TryResult:
    if attempt.outcome.result in ("succeeded", "unchanged"):
        return "succeeded"
    is_rolled_back = any(each.startswith(_ROLLED_BACK) for each in attempt.outcome.reasons)
    return "rolled back" if is_rolled_back else "failed"
