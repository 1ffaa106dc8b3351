"""The table of runs: the recordings and their command lines."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

from actiondbg.recording.format.arrow import Table, pa

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

RUNS = "runs"


def runs_table(recordings: Mapping[str, Recording]) -> Table:
    """Return one row per recording, without anything that names the machine or its user."""
    rows = [{"run": run, **_columns(recording)} for run, recording in recordings.items()]
    return pa.Table.from_pylist(rows, schema=pa.schema(_SCHEMA))


def _columns(recording: Recording) -> dict[str, object]:
    """Return the values of a run's row, by column."""
    header, ending = recording.header, recording.ending
    # A command line may hold any bytes; Arrow strings are UTF-8.
    argv = [word.encode(errors="replace").decode() for word in header.argv]
    return {
        "command": shlex.join(argv) or None,
        "argv": argv,
        "llvm": header.llvm or None,
        "agent": header.agent or None,
        "started": header.started // 1000 or None,
        "threads": None if header.imported else header.threads,
        "ir": header.ir,
        "events": list(header.events),
        "actions": recording.count,
        "ended": ending.ended,
        "status": ending.status,
        "signal": ending.signal,
    }


_SCHEMA = {
    "run": pa.string(),
    "command": pa.string(),
    "argv": pa.list_(pa.string()),
    "llvm": pa.string(),
    "agent": pa.string(),
    "started": pa.timestamp("us", tz="UTC"),
    "threads": pa.bool_(),
    "ir": pa.string(),
    "events": pa.list_(pa.string()),
    "actions": pa.int64(),
    "ended": pa.string(),
    "status": pa.int32(),
    "signal": pa.int32(),
}
