"""The lines of the file that ``legalizations/open`` writes (docs/protocol.md)."""

from __future__ import annotations

from typing import Literal

import msgspec

Legality = Literal["legal", "dynamic", "illegal", "unknown"]
TryResult = Literal["succeeded", "failed", "rolled back", "refused"]


class _Event(
    msgspec.Struct,
    tag_field="event",
    rename="camel",
    forbid_unknown_fields=True,
    kw_only=True,
):
    """A line of the file."""


class ConversionBegan(_Event, tag="conversion"):
    """A conversion by the pass ``pass_name``: ``applyFullConversion``, or the partial one."""

    ordinal: int
    full: bool
    pass_name: str | None = msgspec.field(name="pass")
    function: str | None


class ValuesNamed(_Event, tag="names"):
    """The printer's names of the values before the conversion, as those of ``values``."""

    scope: int
    text: str


class ConversionEnded(_Event, tag="conversion-end"):
    """The end; ``verifies`` if the conversion has no patterns, and only asks the target."""

    failed: bool
    verifies: bool = False


class OperationBegan(_Event, tag="operation"):
    """An operation that is not legal is to be legalized; inside a pattern, one that it generated.

    ``legality`` is what the conversion target says of operations of that name.
    """

    id: int | None
    name: str
    location: str | None
    legality: Legality


class NamedLegality(msgspec.Struct, frozen=True):
    """An operation that a pattern says that it generates, and what the target says of it."""

    name: str
    legality: Legality


class LeftOutPattern(msgspec.Struct, frozen=True, kw_only=True):
    """A pattern for the operation that the conversion does not try.

    It generates operations that are not legal, and that no pattern legalizes.
    """

    name: str
    benefit: int
    generates: list[NamedLegality]


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """An operation at a cast; ``converted`` if the conversion has made it or legalized it.

    ``tried`` if the conversion tried a pattern for it.
    """

    id: int | None
    name: str
    location: str | None
    converted: bool
    tried: bool = False


class BlockArgument(msgspec.Struct, frozen=True, kw_only=True):
    """An argument of a block that is not the first of its region.

    ``argument`` and ``number`` count arguments and blocks from 0; ``passedBy`` are the operations
    that branch to the block.
    """

    argument: int
    number: int
    location: str | None
    passed_by: list[Neighbour] = msgspec.field(name="passedBy")


class OperationEnded(_Event, tag="operation-end"):
    """The end; in vain, unless ``legalized``.

    ``illegal`` tells an illegal operation from an unknown operation. ``said`` is the
    debug output of that check, where reasons are asked for and the tool has assertions. ``text`` is
    in the generic form, see ``Unit`` for the keys of values in it. ``users`` are those of an
    ``unrealized_conversion_cast``.
    """

    legalized: bool
    illegal: bool | None = None
    said: str | None = None
    text: str | None = None
    untried: list[LeftOutPattern] = msgspec.field(default_factory=list[LeftOutPattern])
    users: list[Neighbour] = msgspec.field(default_factory=list[Neighbour])


class PatternBegan(_Event, tag="pattern"):
    """A pattern is tried in the action ``ordinal``; None if it is refused.

    ``any_operation``: it is tried for all operations, as it names no operation, interface or trait.
    """

    name: str
    benefit: int
    ordinal: int | None
    any_operation: bool = False


class PatternEnded(_Event, tag="pattern-end"):
    result: TryResult
    unheard: bool = False


class ReasonGiven(_Event, tag="reason"):
    text: str


class SimilarType(msgspec.Struct, frozen=True, kw_only=True):
    """A type that converts; ``how``, such as "without a layout", is how it was made."""

    how: str
    type: str


class TypeFailed(_Event, tag="type"):
    """A type converter, by the name of its class if that says anything, converts no such type.

    Where reasons are asked for: ``said`` is the debug output of the conversion, which a tool with
    assertions writes, ``part`` the innermost part of the type that does not convert, and
    ``similar`` are types like that part, or else like the type, that convert.
    """

    type: str
    converter: str | None
    said: str | None = None
    part: str | None = None
    similar: list[SimilarType] = msgspec.field(default_factory=list[SimilarType])


class Note(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    location: str | None


class ErrorReported(_Event, tag="diagnostic"):
    text: str
    location: str | None
    notes: list[Note]


class CastUnresolved(_Event, tag="unresolved"):
    """The cast of which the error before tells, by its neighbours.

    ``definer`` is the operation that gives the value, or of which it is an ``argument``; None if
    the value was erased. ``block`` is None unless operations that branch pass the argument.
    """

    definer: Neighbour | None
    argument: bool
    users: list[Neighbour]
    block: BlockArgument | None = None


class CastLeft(msgspec.Struct, frozen=True, kw_only=True):
    """An ``unrealized_conversion_cast`` that a conversion left; ``made`` if it made it.

    ``gone`` if it is erased at the stop, of which ``CastsGone`` tells. See ``CastUnresolved`` for
    the neighbours.
    """

    id: int | None
    made: bool
    source: list[str]
    target: list[str]
    definer: Neighbour | None
    argument: bool
    users: list[Neighbour]
    block: BlockArgument | None = None
    gone: bool = False


class OperationsLeft(_Event, tag="left"):
    """The number of operations of a name that a conversion left, and the id of the first."""

    name: str
    legality: Legality
    count: int
    id: int | None
    casts: list[CastLeft] = msgspec.field(default_factory=list[CastLeft])


class CastsGone(_Event, tag="gone"):
    """The ids of casts of the file that are erased at its end."""

    ids: list[int]


class OperationsNeeding(_Event, tag="needing"):
    """The operations that need the operation ``id``, at which a conversion failed, directly or by
    others, that the target refuses and for which it has no pattern: the nearest first.
    """

    id: int | None
    operations: list[Neighbour]


class OperationsUntold(_Event, tag="untold"):
    """The number of wanted operations of a name that are not written, behind the limit."""

    name: str
    count: int


class Cut(_Event, tag="cut"):
    """What follows of this operation is too long and was dropped."""


LegalizationEvent = (
    ConversionBegan
    | ValuesNamed
    | ConversionEnded
    | OperationBegan
    | OperationEnded
    | PatternBegan
    | PatternEnded
    | ReasonGiven
    | TypeFailed
    | ErrorReported
    | CastUnresolved
    | CastsGone
    | OperationsLeft
    | OperationsNeeding
    | OperationsUntold
    | Cut
)
