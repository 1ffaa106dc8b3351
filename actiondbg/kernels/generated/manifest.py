"""The manifest: the dispatches of a folder of generated kernels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.generated.plain_data import from_json, to_json
from actiondbg.kernels.model.configuration import Configuration
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.operations.registry import find_kind
from actiondbg.support.atomic_write import locked, write_whole

_VERSION = 1


@dataclass(frozen=True)
class _Entry:
    """An operation with its configurations, as stored."""

    kind: str
    operation: msgspec.Raw
    configurations: list[Configuration]


@dataclass(frozen=True)
class _Stored:
    version: int
    entries: list[_Entry]


def read_manifest(path: Path) -> list[Dispatch]:
    """Return the dispatches of a manifest, in the order in which they were generated.

    Raises:
        ActiondbgError: there is no manifest, or it is damaged.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ActiondbgError(
            f"{path} does not exist: run 'actiondbg kernels generate' with the same "
            "--generated-dir first."
        ) from error
    try:
        stored = from_json(content, _Stored)
        if stored.version != _VERSION:
            raise ActiondbgError(
                f"{path} has version {stored.version}, this actiondbg reads {_VERSION}: remove the "
                "folder and generate again."
            )
        return [dispatch for entry in stored.entries for dispatch in _dispatches(entry)]
    except (msgspec.DecodeError, UsageError) as error:
        raise ActiondbgError(
            f"{path} is damaged ({error}): remove it and generate again."
        ) from error


def add_to_manifest(path: Path, dispatches: Iterable[Dispatch]) -> None:
    """Add dispatches to a manifest; those of the same name are replaced.

    Raises:
        ActiondbgError: the manifest is damaged.
        OSError: it cannot be written.
    """
    with locked(path.parent):
        known = read_manifest(path) if path.exists() else []
        every = {each.name: each for each in known}
        every.update((each.name, each) for each in dispatches)
        write_whole(path, to_json(_Stored(_VERSION, _entries(every.values()))))


def _entries(dispatches: Iterable[Dispatch]) -> list[_Entry]:
    entries: dict[str, _Entry] = {}
    for each in dispatches:
        operation = each.operation
        if operation.name not in entries:
            fields = msgspec.Raw(to_json(operation))
            entries[operation.name] = _Entry(operation.kind, fields, [])
        entries[operation.name].configurations.append(each.configuration)
    return list(entries.values())


def _dispatches(entry: _Entry) -> Iterable[Dispatch]:
    operation = from_json(bytes(entry.operation), find_kind(entry.kind))
    return (Dispatch(operation, configuration) for configuration in entry.configurations)
