"""A user's problems, from YAML or JSON: a list of operations, each by its kind and its fields::

- {kind: matmul, m: 128, n: "64:513:64", k: [128, 256], types: i8-i32}
- {kind: conv_2d, batch: 1, height: 58, width: 58, channels: 64, filters: 64,
   kernel_h: 3, kernel_w: 3, stride_h: 2, stride_w: 2, layout: nhwc_hwcf}
- {kind: reduction, shape: [128, 256], axes: [1], combiner: max}

A size may be a list or a range ``start:end:step``: that is an operation for each combination.
``types`` is as the option --types; the fields of single types, such as ``lhs_type``, work as well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import cast

import msgspec

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.operations.registry import find_kind, kind_names
from actiondbg.kernels.problems.expansion import parse_types, size_fields, type_fields
from actiondbg.kernels.problems.ranges import parse_range
from actiondbg.recording.dependencies import need_packages

_Entry = Mapping[str, object]


def read_problems(path: Path) -> list[Operation]:
    """Return the operations of a file.

    Raises:
        UsageError: the file is no list of problems; names the problem.
        ActiondbgError: PyYAML is not installed, or the file cannot be read.
    """
    need_packages("--problems", ("yaml",), "kernels")
    operations: list[Operation] = []
    for at, entry in enumerate(_entries(path), 1):
        try:
            operations += problem_operations(entry)
        except ActiondbgError as error:
            raise UsageError(f"{path}, problem {at}: {error}") from error
    return operations


def _entries(path: Path) -> list[object]:
    from yaml import YAMLError

    try:
        content = path.read_bytes()
    except OSError as error:
        raise ActiondbgError(f"Cannot read {path}: {error.strerror}.") from error
    try:
        value: object = msgspec.yaml.decode(content)
    except (msgspec.DecodeError, YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{path} is neither YAML nor JSON: {reason}.") from error
    if not isinstance(value, list) or not value:
        raise UsageError(
            f"{path} is no list of problems: write '- {{kind: matmul, m: 64, n: 64, k: 64}}'."
        )
    return cast("list[object]", value)


def problem_operations(entry: object) -> list[Operation]:
    """Return the operations of a problem, one for each combination of sizes and types.

    Args:
        entry: of the file: a mapping with the kind and its fields.

    Raises:
        UsageError: a field is unknown, missing or wrong.
    """
    if not isinstance(entry, Mapping) or "kind" not in entry:
        raise UsageError(f"It has no kind; there are {', '.join(kind_names())}.")
    given = dict(cast("_Entry", entry))
    kind = find_kind(str(given.pop("kind")))
    types = given.pop("types", None)
    _check_names(kind, given)
    sizes = {name: _sizes(name, given.pop(name)) for name in size_fields(kind) if name in given}
    pairs = [] if types is None else parse_types(str(types))
    typed = [type_fields(kind, each) for each in pairs] or [{}]
    operations: list[Operation] = []
    for values, type_values in product(product(*sizes.values()), typed):
        every = {**type_values, **given, **dict(zip(sizes, values, strict=True))}
        operations.append(_operation(kind, every))
    return operations


def _check_names(kind: type[Operation], given: _Entry) -> None:
    """Check that all fields are known, and none is missing."""
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
    """Return the sizes of a number, a list or a range."""
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    sizes: list[int] = []
    for each in values:
        if isinstance(each, bool) or not isinstance(each, int | str):
            raise UsageError(f"The {name} must be a size, got {each!r}.")
        sizes += [each] if isinstance(each, int) else parse_range(each)
    if not sizes:
        raise UsageError(f"The {name} is an empty list.")
    return sizes


def _operation(kind: type[Operation], fields: _Entry) -> Operation:
    try:
        operation = msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"A field of {kind.kind} is wrong: {error}.") from error
    operation.check()
    return operation
