"""A user's configurations, from YAML or JSON::

- provider: mlir
  name: mlir_wide            # optional: made of the parameters
  parameters: {tile: [64, 64, 256], vector: [8, 32, 1]}
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.model.configuration import Configuration, Parameter
from actiondbg.recording.dependencies import need_packages


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    """A configuration in the file."""

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
        content = path.read_bytes()
    except OSError as error:
        raise ActiondbgError(f"Cannot read {path}: {error.strerror}.") from error
    try:
        entries = msgspec.yaml.decode(content, type=list[_Entry])
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
