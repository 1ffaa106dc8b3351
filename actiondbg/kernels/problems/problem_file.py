"""A user's problems and configurations, from YAML or JSON.

Problems are a list of operations, each by its kind and its fields::

- {kind: matmul, m: 128, n: "64:513:64", k: [128, 256], types: i8-i32}
- {kind: conv_2d, batch: 1, height: 58, width: 58, channels: 64, filters: 64,
   kernel_h: 3, kernel_w: 3, stride_h: 2, stride_w: 2, layout: nhwc_hwcf}
- {kind: reduction, shape: [128, 256], axes: [1], combiner: max}

A size may be a list or a range ``start:end:step``: that is an operation for each combination.
``types`` is as the option --types; the fields of single types, such as ``lhs_type``, work as well.

Configurations are a list, too::

- provider: mlir
  name: mlir_wide            # optional: made of the parameters
  parameters: {tile: [64, 64, 256], vector: [8, 32, 1]}
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import msgspec

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.model.configuration import Configuration, Parameter
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.problems.problem import problem_operations
from actiondbg.recording.errors import need_packages


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
        value: object = msgspec.yaml.decode(_content(path))
    except (msgspec.DecodeError, YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{path} is neither YAML nor JSON: {reason}.") from error
    if not isinstance(value, list) or not value:
        raise UsageError(
            f"{path} is not a list of problems: write '- {{kind: matmul, m: 64, n: 64, k: 64}}'."
        )
    return cast("list[object]", value)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ActiondbgError(f"Cannot read {path}: {error.strerror}.") from error


# --- configurations ---


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    provider: str
    parameters: dict[str, Parameter]
    name: str = ""


def read_configurations(path: Path) -> list[Configuration]:
    """Return the configurations of a file.

    Raises:
        UsageError: the file is not a list of configurations; names the entry.
        ActiondbgError: PyYAML is not installed, or the file cannot be read.
    """
    need_packages("--configurations", ("yaml",), "kernels")
    from yaml import YAMLError

    try:
        entries = msgspec.yaml.decode(_content(path), type=list[_Entry])
    except (msgspec.DecodeError, YAMLError) as error:
        raise UsageError(
            f"{path} is not a list of configurations ({error}): each has provider, parameters and "
            "perhaps a name."
        ) from error
    if not entries:
        raise UsageError(f"{path} has no configuration.")
    return [
        Configuration(each.provider, each.name or _name(each), each.parameters) for each in entries
    ]


def _name(entry: _Entry) -> str:
    """Return a name of provider and parameters, such as ``mlir_tile_8x8_vector_4x4``."""
    return f"{entry.provider}_{parameters_name(entry.parameters)}"


def parameters_name(parameters: Mapping[str, Parameter]) -> str:
    """Return a name of parameters; of long ones, a digest."""
    words = [f"{key}_{_text(value)}" for key, value in parameters.items()]
    name = "_".join(words)
    if len(name) <= 100 and all(each.isalnum() or each == "_" for each in name):
        return name
    return f"{'_'.join(parameters)}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _text(value: Parameter) -> str:
    if isinstance(value, int | str):
        return str(value)
    return "x".join(map(str, value))
