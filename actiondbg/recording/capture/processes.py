"""The recordings of a program's processes: RUN.adbrec, RUN.p1.adbrec, RUN.p2.adbrec..."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from actiondbg.recording.format.magic import is_recording


def other_recordings(path: Path) -> list[Path]:
    """Return the recordings beside that of the first process, in the order of their numbers.

    The agent names them (``claimRecording`` in actiondbg/agent/interpose/SeenPrograms.cpp).

    Args:
        path: the recording of the first process.
    """
    name = re.compile(rf"{re.escape(path.stem)}\.p([1-9][0-9]*){re.escape(path.suffix)}")
    found: list[tuple[int, Path]] = []
    with contextlib.suppress(OSError):
        for each in path.parent.iterdir():
            match = name.fullmatch(each.name)
            if match is not None and is_recording(each):
                found.append((int(match[1]), each))
    return [each for _, each in sorted(found)]
