"""Counted calls as CSV, one file for each thread."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np

from actiondbg.kernels.counting.calls import Calls, Thread
from actiondbg.kernels.counting.measurement import nodes_of_cpus
from actiondbg.statistics.arrays import Floats
from actiondbg.support.atomic_write import open_whole

# The name and the time of a call are columns that 'actiondbg cost' reads.
COLUMNS = ("dispatch", "library", "thread", "cpu", "node", "start_ns", "duration_ns")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def write_csv_files(calls: Calls, folder: Path) -> list[Path]:
    """Write one row per call; missing counts are empty.

    Args:
        calls: the calls.
        folder: the folder of the files, created if missing.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    nodes = nodes_of_cpus()
    return [_write_thread(calls, int(thread), folder, nodes) for thread in np.unique(calls.thread)]


def _write_thread(calls: Calls, index: int, folder: Path, nodes: dict[int, int]) -> Path:
    thread = calls.threads[index]
    own = calls.only(calls.thread == index)
    path = folder / _file_name(thread)
    columns = [
        [calls.functions[int(function)].name for function in own.function],
        [calls.functions[int(function)].library for function in own.function],
        [thread.name] * own.size,
        own.cpu.tolist(),
        [nodes.get(int(cpu), 0) for cpu in own.cpu],
        _whole(own.start),
        _whole(own.duration),
        *(_whole(values) for values in own.events.values()),
    ]
    with open_whole(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([*COLUMNS, *own.events])
        lines.writerows(zip(*columns, strict=True))
        text.detach()  # flushes
    return path


def _file_name(thread: Thread) -> str:
    """Return a name that no other thread of any process has."""
    name = _UNSAFE.sub("_", thread.name) or "thread"
    return f"calls-{thread.process}-{thread.number}-{name}.csv"


def _whole(values: Floats) -> list[int | str]:
    return ["" if np.isnan(value) else int(value) for value in values]
