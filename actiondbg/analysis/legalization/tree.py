"""What dialect conversions tried for operations that they did not legalize, as a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from actiondbg.analysis.attempts import Attempt
from actiondbg.protocol.legalizations import (
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
    PatternBegan,
    PatternEnded,
    ReasonGiven,
    TryResult,
    TypeFailed,
    ValuesNamed,
)


class TriedPattern(msgspec.Struct, kw_only=True):
    """A pattern that a conversion tried for an operation.

    Attributes:
        name: of the pattern.
        benefit: as the pattern declares it; None where it is not recorded.
        ordinal: of its action; None if it was refused.
        any_operation: whether it is tried for all operations, which tells little of this one;
            False where that is not recorded.
        result: "failed" if it did not match; "rolled back" if it matched, and what it made could
            not be legalized; "refused" if it was being applied already; "succeeded"; or None if
            the tool stopped while it was being applied.
        reasons: why it did not match, in its own words.
        types: the types that its type converter does not convert, in the order in which it met
            them: the innermost first.
        generated: the operations that it generated, in their order: the last was not legalized.
    """

    name: str
    benefit: int | None
    ordinal: int | None
    any_operation: bool = False
    result: TryResult | None = None
    reasons: list[str] = msgspec.field(default_factory=list[str])
    types: list[TypeFailed] = msgspec.field(default_factory=list[TypeFailed])
    generated: list[Legalization] = msgspec.field(default_factory=lambda: list[Legalization]())


class Legalization(msgspec.Struct, kw_only=True):
    """The attempt to legalize an operation.

    Attributes:
        id: of the operation, or None.
        op: its name.
        location: its file location, or None.
        legality: what the conversion target says of operations of this name; None where it was
            not asked.
        illegal: whether the target refuses this one: False if it does not know it, None where it
            was not asked.
        said: the debug output of the target's check; None without.
        legalized: whether it was legalized; None if the tool stopped before that was decided.
        text: the operation, in the generic form; None where it was not printed.
        tried: the patterns that were tried, in their order.
        left_out: patterns for the operation that the conversion does not try.
        types: types that fail to convert when the target checks whether the operation is legal.
        users: of the results of an ``unrealized_conversion_cast``.
    """

    id: int | None
    op: str
    location: str | None
    legality: Legality | None
    illegal: bool | None = None
    said: str | None = None
    legalized: bool | None = None
    text: str | None = None
    tried: list[TriedPattern] = msgspec.field(default_factory=list[TriedPattern])
    left_out: list[LeftOutPattern] = msgspec.field(default_factory=list[LeftOutPattern])
    types: list[TypeFailed] = msgspec.field(default_factory=list[TypeFailed])
    users: list[Neighbour] = msgspec.field(default_factory=list[Neighbour])


class Conversion(msgspec.Struct, kw_only=True, rename={"pass_name": "pass"}):
    """A dialect conversion.

    Attributes:
        ordinal: of its action.
        full: whether all operations must be legal at its end; None where that is not recorded.
        pass_name: the pass that runs it, or None.
        function: the function of the pass, or None.
        failed: whether it failed; None if it has not ended.
        legalizations: the operations that it did not legalize and that are asked for. Of a failed
            conversion: operations around the one at which it failed, and that one, last.
        left: the operations that are asked for and that were there at its end, by name.
        errors: the errors that were reported while the newest operation was legalized.
        unresolved: the cast for which the conversion failed in the end, or None.
        is_cut: whether too much was tried, and what came last is missing.
    """

    ordinal: int
    full: bool | None
    pass_name: str | None
    function: str | None
    failed: bool | None = None
    legalizations: list[Legalization] = msgspec.field(default_factory=list[Legalization])
    left: list[OperationsLeft] = msgspec.field(default_factory=list[OperationsLeft])
    errors: list[ErrorReported] = msgspec.field(default_factory=list[ErrorReported])
    unresolved: CastUnresolved | None = None
    is_cut: bool = False


def read_conversions(
    events: Iterable[LegalizationEvent], named: Callable[[str], str] = str
) -> list[Conversion]:
    """Read the events that the agent wrote.

    Args:
        events: of conversions.
        named: puts names in the place of the keys of values in a text of IR.
    """
    tree = _Tree(named)
    for event in events:
        if not isinstance(event, ValuesNamed):
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
_OfConversion = ConversionEnded | ErrorReported | CastUnresolved | OperationsLeft | Cut
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
        elif isinstance(event, OperationBegan | OperationEnded):
            self._add_operation(event)
        elif isinstance(event, PatternBegan | PatternEnded | ReasonGiven | TypeFailed):
            if self._open:  # else its operation was cut
                self._add_pattern(event)
        else:
            self._add_to_conversion(event)

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
                newest.failed = event.failed
            case ErrorReported():
                newest.errors.append(event)
            case CastUnresolved():
                newest.unresolved = newest.unresolved or event
            case OperationsLeft():
                newest.left.append(event)
            case Cut():
                newest.is_cut = True
                for each in self._open:
                    each.legalized = False
                self._open, self._is_trying = [], []

    def _add_operation(self, event: OperationBegan | OperationEnded) -> None:
        if isinstance(event, OperationBegan):
            self._begin(event)
        elif self._open:
            self._end(event)

    def _add_pattern(self, event: _PatternEvent) -> None:
        match event:
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
                self._open[-1].tried[-1].result = event.result
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
