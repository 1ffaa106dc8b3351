"""Problems: a kind with its fields, each combination of which is an operation."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from itertools import product
from typing import cast

import msgspec

from actiondbg.errors import UsageError
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.operations.registry import find_kind, kind_names

_Types = tuple[ElementType, ElementType]  # of the operands, and of the result
_Fields = Mapping[str, object]
_SIZE = re.compile(r"[0-9]+\Z")


def problem_operations(entry: object) -> list[Operation]:
    """Return the operations of a problem, one for each combination of sizes and types.

    Args:
        entry: a mapping with the kind and its fields; with ``types`` as of --types, if any.

    Raises:
        UsageError: a field is unknown, missing or wrong.
    """
    if not isinstance(entry, Mapping) or "kind" not in entry:
        raise UsageError(f"It has no kind; there are {', '.join(kind_names())}.")
    given = dict(cast("_Fields", entry))
    kind = find_kind(str(given.pop("kind")))
    types = given.pop("types", None)
    _check_names(kind, given)
    sizes = {name: _sizes(name, given.pop(name)) for name in _size_fields(kind) if name in given}
    pairs = [] if types is None else _parse_types(str(types))
    typed = [_type_fields(kind, each) for each in pairs] or [{}]
    operations: list[Operation] = []
    for values, type_values in product(product(*sizes.values()), typed):
        every = {**type_values, **given, **dict(zip(sizes, values, strict=True))}
        operations.append(_operation(kind, every))
    return operations


def _check_names(kind: type[Operation], given: _Fields) -> None:
    fields = {each.name: each for each in dataclasses.fields(kind)}
    for name in given:
        if name not in fields:
            raise UsageError(
                f"{kind.kind} has no field '{name}'; it has {', '.join(fields)}, and types."
            )
    missing = [
        name
        for name, each in fields.items()
        if each.default is dataclasses.MISSING and name not in given
    ]
    if missing:
        raise UsageError(f"{kind.kind} needs {', '.join(missing)}.")


def _sizes(name: str, value: object) -> list[int]:
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    sizes: list[int] = []
    for each in values:
        if isinstance(each, bool) or not isinstance(each, int | str):
            raise UsageError(f"The {name} must be a size, got {each!r}.")
        sizes += [each] if isinstance(each, int) else parse_range(each)
    if not sizes:
        raise UsageError(f"The {name} is an empty list.")
    return sizes


def _operation(kind: type[Operation], fields: _Fields) -> Operation:
    try:
        operation = msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"A field of {kind.kind} is wrong: {error}.") from error
    operation.check()
    return operation


def _size_fields(kind: type[Operation]) -> list[str]:
    return [each.name for each in dataclasses.fields(kind) if each.type in ("int", int)]


def _parse_types(text: str) -> list[_Types]:
    """Return the types of a list such as ``f32,i8-i32``: of operands, or of operands and result."""
    known = {each.value: each for each in ElementType if each is not ElementType.I1}
    pairs: list[_Types] = []
    for word in text.split(","):
        operand, _, result = word.strip().partition("-")
        for name in (operand, result or operand):
            if name not in known:
                raise UsageError(
                    f"Unknown type '{name}' in '{text}'; there are {', '.join(known)}."
                )
        pairs.append((known[operand], known[result or operand]))
    return pairs


def _type_fields(kind: type[Operation], types: _Types) -> dict[str, ElementType]:
    operand, result = types
    return {
        each.name: result if each.name.startswith("result") else operand
        for each in dataclasses.fields(kind)
        if each.type in ("ElementType", ElementType)
    }


def parse_range(text: str) -> list[int]:
    """Return the sizes of ``64``, of a list ``64,128``, or of a range ``start:end:step``.

    The end of a range is not in it, as in Python; a list may have ranges.

    Raises:
        UsageError: the text is something else, or there is no size in it.
    """
    sizes: list[int] = []
    for part in text.split(","):
        bounds = part.strip().split(":")
        if len(bounds) > 3 or not all(map(_SIZE.match, bounds)):
            raise UsageError(
                f"'{part}' is not a size: write a number, numbers with commas, or start:end:step."
            )
        numbers = [int(each) for each in bounds]
        if len(numbers) == 1:
            sizes += numbers
            continue
        if len(numbers) == 3 and numbers[2] == 0:
            raise UsageError(f"The step of '{part}' is 0.")
        sizes += range(*numbers)
    if not sizes:
        raise UsageError(f"There is no size in '{text}': the end of a range is not in it.")
    return list(dict.fromkeys(sizes))
