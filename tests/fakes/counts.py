"""A folder of counts as the preloaded library writes it; tests/tool/kernels compares both."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

EVENTS = ("task-clock", "page-faults")
# Start and duration in nanoseconds, function, CPU, one count for each event.
Row = tuple[int, ...]


def write_process(
    folder: Path,
    process: str = "100-0",
    functions: Sequence[str] = ("dot", "sum"),
    events: Sequence[str] = EVENTS,
) -> None:
    """Write the functions of a process, all of the library ``model``."""
    lines = ["\t".join(("events", *events))]
    lines += [f"{number}\t1\tmodel\t{name}" for number, name in enumerate(functions)]
    (folder / f"{process}.names").write_text("".join(f"{line}\n" for line in lines))


def write_thread(
    folder: Path,
    rows: Sequence[Row],
    process: str = "100-0",
    number: int = 100,
    name: str = "worker",
    mask: int = 0b11,
    users: int = 0,
    lost: int = 0,
    running: int = 0,
) -> Path:
    """Write the calls of a thread."""
    events = mask.bit_count()
    size = 24 + 8 * events
    header = struct.pack(
        "<8s4I2I2Q2I16s",
        b"ADBCALL\0",
        *(1, 4096, size, events, mask, users, len(rows), lost, running, number),
        name.encode(),
    )
    records = b"".join(struct.pack(f"<2Q2I{events}Q", *row) for row in rows)
    path = folder / f"{process}-{number}-0.calls"
    path.write_bytes(header.ljust(4096, b"\0") + records + bytes(8192))
    return path
