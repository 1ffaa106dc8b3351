"""Counted calls as CSV: one file for each thread, and one of the totals of functions."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from actiondbg.kernels.counting.calls import Calls, Thread
from actiondbg.kernels.counting.measurement import function_totals, nodes_of_cpus
from actiondbg.statistics.quantities import Floats
from actiondbg.support.atomic_write import open_whole

# 'actiondbg cost' reads both files by the names of their columns.
COLUMNS = ("dispatch", "library", "thread", "cpu", "node", "start_ns", "duration_ns")
_TOTALS = ("dispatch", "library", "calls", "total_ns")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def write_csv_files(calls: Calls, folder: Path) -> list[Path]:
    """Write one row per call, and one per function; missing counts are empty.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    nodes = nodes_of_cpus()
    paths: list[Path] = []
    for thread in np.unique(calls.thread):
        path = _free_path(folder / _file_name(calls.threads[int(thread)]), paths)
        paths.append(path)
        _write_thread(calls, int(thread), path, nodes)
    return [*paths, _write_functions(calls, folder / "functions.csv")]


def _write_thread(calls: Calls, index: int, path: Path, nodes: dict[int, int]) -> Path:
    thread = calls.threads[index]
    own = calls.only(calls.thread == index)
    columns = [
        np.array([function.name for function in calls.functions])[own.function].tolist(),
        np.array([function.library for function in calls.functions])[own.function].tolist(),
        [thread.name] * own.size,
        own.cpu.tolist(),
        [nodes.get(int(cpu), 0) for cpu in own.cpu],
        _whole(own.start),
        _whole(own.duration),
        *(_whole(values) for values in own.events.values()),
    ]
    return _write(path, [*COLUMNS, *own.events], zip(*columns, strict=True))


def _write_functions(calls: Calls, path: Path) -> Path:
    rows = [
        (
            *(total.function.name, total.function.library, total.calls, int(total.duration)),
            *(int(count) for count in total.events.values()),
        )
        for total in function_totals(calls)
    ]
    return _write(path, [*_TOTALS, *calls.events], rows)


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with open_whole(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows(rows)
        text.detach()  # flushes
    return path


def _free_path(path: Path, used: Sequence[Path]) -> Path:
    """Return a path that is not used: numbers of processes and threads occur again."""
    paths = (path, *(path.with_stem(f"{path.stem}-{serial}") for serial in range(2, len(used) + 3)))
    return next(one for one in paths if one not in used)


def _file_name(thread: Thread) -> str:
    name = _UNSAFE.sub("_", thread.name) or "thread"
    return f"calls-{thread.process}-{thread.number}-{name}.csv"


def _whole(values: Floats) -> list[int | str]:
    return ["" if np.isnan(value) else int(value) for value in values]
