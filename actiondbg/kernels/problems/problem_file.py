"""A user's problems, from YAML or JSON: a list of operations, each by its kind and its fields::

- {kind: matmul, m: 128, n: "64:513:64", k: [128, 256], types: i8-i32}
- {kind: conv_2d, batch: 1, height: 58, width: 58, channels: 64, filters: 64,
   kernel_h: 3, kernel_w: 3, stride_h: 2, stride_w: 2, layout: nhwc_hwcf}
- {kind: reduction, shape: [128, 256], axes: [1], combiner: max}

A size may be a list or a range ``start:end:step``: that is an operation for each combination.
``types`` is as the option --types; the fields of single types, such as ``lhs_type``, work as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import msgspec

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.problems.problem import problem_operations
from actiondbg.recording.dependencies import need_packages


def read_problems(path: Path) -> list[Operation]:
    """Return the operations of a file.

    Raises:
        UsageError: the file is not a list of problems; names the problem.
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
            f"{path} is not a list of problems: write '- {{kind: matmul, m: 64, n: 64, k: 64}}'."
        )
    return cast("list[object]", value)
