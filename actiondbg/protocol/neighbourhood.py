"""The neighbourhood of an operation: what a pattern may look at around it."""

from __future__ import annotations

import msgspec

from actiondbg.protocol.types import Message


class Neighbour(Message, kw_only=True):
    """An operation; ``constant`` is whether it has the trait ConstantLike.

    ``operands`` are the first ones, and empty two operations away from the first. The attributes
    include the properties.
    """

    name: str
    constant: bool
    attributes: dict[str, str]
    operand_count: int
    result_count: int
    operands: list[NearValue]


class NearValue(Message, kw_only=True):
    """A value: equal numbers ``value`` mean the same one; 0 is a null operand.

    ``local`` is whether it is defined in the block that uses it. A block argument has no
    ``definer``: ``argument_of`` is the name of the operation that holds the block.
    """

    value: int
    type: str
    uses: int
    local: bool
    definer: Neighbour | None = None
    argument_of: str | None = None
    index: int | None = None


class NearUser(Message, kw_only=True):
    """A use of a result: the name of the user, and the number of the operand."""

    name: str
    operand: int
    local: bool


class NearResult(Message, kw_only=True):
    """A result of the operation; ``users`` are the first ones."""

    value: int
    type: str
    uses: int
    users: list[NearUser]


class NearRegion(Message, kw_only=True):
    """A region of the operation; all but ``blocks`` is about its entry block.

    ``names`` are the different names of its operations, ``yielded`` the operands of the last one.
    """

    blocks: int
    operations: int = 0
    arguments: list[NearValue] = msgspec.field(default_factory=list[NearValue])
    names: list[str] = msgspec.field(default_factory=list[str])
    yielded: list[NearValue] = msgspec.field(default_factory=list[NearValue])


class NearSuccessor(Message, kw_only=True):
    """A successor; equal numbers ``block`` mean the same one, ``first`` is its first operation."""

    predecessors: int
    arguments: int
    operations: int
    first: str | None
    block: int


class Adjacent(Message, kw_only=True):
    """The operation before or after another one, and the values that it uses."""

    name: str
    operands: list[int]


class Neighbourhood(Neighbour, kw_only=True):
    """An operation and what is around it; ``parents`` from the inside."""

    results: list[NearResult]
    regions: list[NearRegion]
    successors: list[NearSuccessor]
    parents: list[str]
    previous: Adjacent | None
    next: Adjacent | None
