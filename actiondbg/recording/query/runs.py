"""The table of runs: the recordings and their command lines."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from actiondbg.recording.format.arrow import DataType, Table, pa

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

RUNS = "runs"


def runs_table(recordings: Mapping[str, Recording]) -> Table:
    """Return one row per recording, without anything that names the machine or its user."""
    rows = [
        {"run": run, **{name: value(recording) for name, (_, value) in _COLUMNS.items()}}
        for run, recording in recordings.items()
    ]
    types = {name: kind for name, (kind, _) in _COLUMNS.items()}
    return pa.Table.from_pylist(rows, schema=pa.schema({"run": pa.string(), **types}))


def _argv(recording: Recording) -> list[str]:
    # A command line may hold any bytes; Arrow strings are UTF-8.
    return [word.encode(errors="replace").decode() for word in recording.header.argv]


_COLUMNS: dict[str, tuple[DataType, Callable[[Recording], object]]] = {
    "command": (pa.string(), lambda one: shlex.join(_argv(one)) or None),
    "argv": (pa.list_(pa.string()), _argv),
    "llvm": (pa.string(), lambda one: one.header.llvm or None),
    "agent": (pa.string(), lambda one: one.header.agent or None),
    "started": (pa.timestamp("us", tz="UTC"), lambda one: one.header.started // 1000 or None),
    "threads": (pa.bool_(), lambda one: None if one.header.imported else one.header.threads),
    "ir": (pa.string(), lambda one: one.header.ir),
    "events": (pa.list_(pa.string()), lambda one: one.header.events),
    "actions": (pa.int64(), lambda one: one.count),
    "ended": (pa.string(), lambda one: one.ending.ended),
    "status": (pa.int32(), lambda one: one.ending.status),
    "signal": (pa.int32(), lambda one: one.ending.signal),
}
