"""The kinds of ``arith``'s reductions, and of atomic changes of memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from actiondbg.validation.dialects.elements import applied
from actiondbg.validation.dialects.memory import place, read, write
from actiondbg.validation.dialects.races import atomic
from actiondbg.validation.domain import NotInterpreted, OpenRace, Scalar
from actiondbg.validation.machine import Machine, MemRef, Results, handles
from actiondbg.validation.program import Operation
from actiondbg.validation.types import FloatType, IntegerType, Type

# By the number of the kind: the operation of arith; "" is assignment.
OPERATIONS = (
    *("addf", "addi", "andi", "", "maximumf", "maxnumf", "maxsi", "maxui"),
    *("minimumf", "minnumf", "minsi", "minui", "mulf", "muli", "ori", "xori"),
)
_IDENTITIES: dict[str, Callable[[int], int]] = {  # by the width
    "addi": lambda _: 0,
    "ori": lambda _: 0,
    "xori": lambda _: 0,
    "maxui": lambda _: 0,
    "muli": lambda _: 1,
    "andi": lambda width: 2**width - 1,
    "minui": lambda width: 2**width - 1,
    "maxsi": lambda width: -(2 ** (width - 1)),
    "minsi": lambda width: 2 ** (width - 1) - 1,
}
_FLOAT_IDENTITIES = {"addf": 0.0, "mulf": 1.0, "maximumf": -math.inf, "minimumf": math.inf}


def identity(machine: Machine, name: str, type: Type) -> Scalar:
    """Return the value that a reduction by an operation of arith begins with.

    Raises:
        NotInterpreted: the type is no scalar, or the operation has none.
    """
    if isinstance(type, IntegerType) and name in _IDENTITIES:
        return machine.domain.constant(_IDENTITIES[name](type.width), type)
    if isinstance(type, FloatType) and name in _FLOAT_IDENTITIES:
        return machine.domain.constant(_FLOAT_IDENTITIES[name], type)
    raise NotInterpreted(f"a reduction by {name or 'assignment'} of type {type}")


def reduced(machine: Machine, kind: int, operands: Sequence[Scalar], type: Type) -> Scalar:
    """Return what a reduction makes of what it has and a new value."""
    name = OPERATIONS[kind]
    if not isinstance(type, IntegerType | FloatType):
        raise NotInterpreted(f"a reduction of type {type}")
    return applied(machine, f"arith.{name}", operands, type) if name else operands[1]


def _check_unused(machine: Machine, operation: Operation) -> None:
    """Check that nobody needs the result.

    It is the value that is in memory by the documentation, and the one that was there when it is
    lowered. In a parallel loop it depends on the order of the iterations, too.
    """
    if machine.is_used(operation.results[0]):
        if machine.parallel:
            raise OpenRace(f"the result of {operation.name} in a parallel loop")
        raise NotInterpreted(f"the result of {operation.name}")


@handles("memref.atomic_rmw")
def _atomic(
    machine: Machine, operation: Operation, value: Scalar, view: MemRef, *indices: Scalar
) -> Results:
    _check_unused(machine, operation)
    kind = operation.attributes.get("kind")
    assert isinstance(kind, int)
    at = place(machine, view, indices)
    with atomic(machine):
        new = reduced(machine, kind, (read(view, at), value), operation.operands[0].type)
        write(view, at, new)
    return [new]


@handles("memref.generic_atomic_rmw")
def _generic_atomic(
    machine: Machine, operation: Operation, view: MemRef, *indices: Scalar
) -> Results:
    _check_unused(machine, operation)
    at = place(machine, view, indices)
    with atomic(machine):
        old = read(view, at)
        (new,) = machine.region(operation.regions[0], [old]).operands
        write(view, at, new)
    return [new]
