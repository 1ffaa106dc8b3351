"""The directory of a recording that only its command reads."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path

from actiondbg.support.scratch_directory import make_scratch, remove_directory


@contextlib.contextmanager
def scratch_directory(purpose: str) -> Generator[Path]:
    """Make a directory for temporary files, which is removed with all that is in it.

    Args:
        purpose: what it is for, such as "log", for its name.
    """
    directory = make_scratch(purpose)
    try:
        yield directory
    finally:
        remove_directory(directory)
