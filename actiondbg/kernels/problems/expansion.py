"""Operations of a kind for each combination of sizes and types."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import product

from actiondbg.errors import UsageError
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Operation

Types = tuple[ElementType, ElementType]  # of the operands, and of the result


def parse_types(text: str) -> list[Types]:
    """Return the types of a list such as ``f32,i8-i32``: of operands, or of operands and result.

    Raises:
        UsageError: a type is unknown.
    """
    known = {each.value: each for each in ElementType}
    pairs: list[Types] = []
    for word in text.split(","):
        operand, _, result = word.strip().partition("-")
        for name in (operand, result or operand):
            if name not in known:
                raise UsageError(
                    f"Unknown type '{name}' in '{text}'; there are {', '.join(known)}."
                )
        pairs.append((known[operand], known[result or operand]))
    return pairs


def size_fields(kind: type[Operation]) -> dict[str, bool]:
    """Return the fields of a kind that are sizes, and whether each has to be given."""
    return {
        each.name: each.default is dataclasses.MISSING
        for each in dataclasses.fields(kind)
        if each.type in ("int", int)
    }


def expand(
    kind: type[Operation], sizes: Mapping[str, Sequence[int]], types: Sequence[Types] = ()
) -> list[Operation]:
    """Return the operations of a kind, for each combination of sizes and types.

    Args:
        kind: of the operations.
        sizes: the values of each field.
        types: of operands and result; none for the kind's default.

    Raises:
        UsageError: a field is unknown or missing, or the sizes do not fit the kind.
    """
    fields = size_fields(kind)
    for name in sizes:
        if name not in fields:
            raise UsageError(f"{kind.kind} has no size '{name}'; it has {', '.join(fields)}.")
    missing = [name for name, required in fields.items() if required and name not in sizes]
    if missing:
        raise UsageError(f"{kind.kind} needs a size for {', '.join(missing)}.")
    others = [
        each.name
        for each in dataclasses.fields(kind)
        if each.default is dataclasses.MISSING and each.name not in fields
    ]
    if others:
        raise UsageError(f"{kind.kind} needs {', '.join(others)}: write a file of problems.")
    typed = [type_fields(kind, each) for each in types] or [{}]
    operations: list[Operation] = []
    for values, type_values in product(product(*sizes.values()), typed):
        operation = kind(**dict(zip(sizes, values, strict=True)), **type_values)
        operation.check()
        operations.append(operation)
    return operations


def type_fields(kind: type[Operation], types: Types) -> dict[str, ElementType]:
    """Return the values of the fields of element types."""
    operand, result = types
    return {
        each.name: result if each.name.startswith("result") else operand
        for each in dataclasses.fields(kind)
        if each.type in ("ElementType", ElementType)
    }
