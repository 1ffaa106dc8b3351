"""Groups of operations that a compiler would make one kernel of.

A group is a root with the elementwise operations around it. An operation joins the group of its
users if all of them are in that group and read it only at the element that they compute; a
broadcast that only fills the destination joins as well. A group has at most one reduction (a
product, a convolution, a pooling, a sum), and what follows a reduction is elementwise. So only the
last operation's result is used outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actiondbg.kernels.errors import NoReference
from actiondbg.kernels.programs.structured_operation import (
    StructuredOperation,
    is_candidate,
    structured,
)

if TYPE_CHECKING:
    from mlir.ir import Block, Operation  # pyright: ignore[reportMissingTypeStubs]


@dataclass(frozen=True)
class OperationGroup:
    """Operations that become one kernel.

    Attributes:
        members: in program order; the last has the result.
    """

    members: tuple[StructuredOperation, ...]

    @property
    def root(self) -> StructuredOperation:
        """The reduction, or else the last operation."""
        reductions = [each for each in self.members if each.is_reduction]
        return reductions[0] if reductions else self.members[-1]


@dataclass(frozen=True)
class BlockGroups:
    """The groups of a block.

    Attributes:
        groups: in program order.
        left_out: a sentence for each operation of linalg that is in no group.
    """

    groups: list[OperationGroup]
    left_out: list[str]


def groups_of(block: Block) -> BlockGroups:
    """Return the groups of the operations of a block."""
    found: list[StructuredOperation] = []
    left_out: list[str] = []
    for view in block.operations:
        operation = view.operation
        if not is_candidate(operation) or operation.name == "linalg.fill":
            continue
        try:
            found.append(structured(operation))
        except NoReference as error:
            left_out.append(str(error))
    return BlockGroups(_joined(found), left_out)


def _joined(operations: Sequence[StructuredOperation]) -> list[OperationGroup]:
    """Group operations, from the last to the first: the users have their groups already."""
    group_of: dict[Operation, int] = {}
    members: list[list[StructuredOperation]] = []
    by_operation = {each.operation: each for each in operations}
    for each in reversed(operations):
        users = [by_operation.get(use.owner.operation) for use in each.result.uses]
        group = _group_to_join(each, users, group_of, members)
        if group is None:
            group = len(members)
            members.append([])
        members[group].append(each)
        group_of[each.operation] = group
    return [OperationGroup(tuple(reversed(group))) for group in reversed(members)]


def _group_to_join(
    operation: StructuredOperation,
    users: Sequence[StructuredOperation | None],
    group_of: dict[Operation, int],
    members: Sequence[Sequence[StructuredOperation]],
) -> int | None:
    """Return the group of all users, if the operation may join it."""
    groups = {group_of.get(user.operation) if user is not None else None for user in users}
    if len(groups) != 1:
        return None
    group = groups.pop()
    if group is None or not all(user is not None and _joins(operation, user) for user in users):
        return None
    has_reduction = any(each.is_reduction for each in members[group])
    return None if operation.is_reduction and has_reduction else group


def _joins(operation: StructuredOperation, user: StructuredOperation) -> bool:
    """Whether one user of an operation can be in its group."""
    if operation.is_reduction:
        return user.is_elementwise and user.reads_by_identity(operation.result)
    if not operation.is_elementwise:
        return False
    only_destination = operation.result not in user.inputs
    return only_destination or user.reads_by_identity(operation.result)
