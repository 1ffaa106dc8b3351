"""Facts of a recorded run: columns of the tables of runs, of recordings and of suites."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from actiondbg.recording.format.arrow import DataType, pa
from actiondbg.recording.format.file import Ending, Header


class RunSource(NamedTuple):
    """What a recording tells of its run."""

    header: Header  # what was recorded, and how
    ending: Ending
    actions: int


# By column: its type, and its value for a run; None for null.
_FACTS: dict[str, tuple[DataType, Callable[[RunSource], object]]] = {
    "llvm": (pa.string(), lambda run: run.header.llvm or None),
    "agent": (pa.string(), lambda run: run.header.agent or None),
    "started": (pa.timestamp("us", tz="UTC"), lambda run: run.header.started // 1000 or None),
    "threads": (pa.bool_(), lambda run: None if run.header.imported else run.header.threads),
    "ir": (pa.string(), lambda run: run.header.ir),
    "events": (pa.list_(pa.string()), lambda run: run.header.events),
    "actions": (pa.int64(), lambda run: run.actions),
    "ended": (pa.string(), lambda run: run.ending.ended),
    "status": (pa.int32(), lambda run: run.ending.exit_status),
    "signal": (pa.int32(), lambda run: run.ending.deadly_signal),
}
RUN_COLUMNS: dict[str, DataType] = {name: kind for name, (kind, _) in _FACTS.items()}


def facts_of(run: RunSource) -> dict[str, object]:
    """Return the values of ``RUN_COLUMNS`` for a run."""
    return {name: value(run) for name, (_, value) in _FACTS.items()}
