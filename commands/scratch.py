"""The directory of a recording that only its command reads."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path


@contextlib.contextmanager
def scratch_directory(purpose: str) -> Generator[Path]:
    """Make a directory for temporary files, which is removed with all that is in it.

    Args:
        purpose: what it is for, such as "log", for its name.
    """
    directory = _made(f"actiondbg-{purpose}-")
    try:
        yield directory
    finally:
        import shutil

        shutil.rmtree(directory, ignore_errors=True)


def _made(prefix: str) -> Path:
    directory = Path(os.environ.get("TMPDIR") or "/tmp", prefix + os.urandom(8).hex())
    try:
        directory.mkdir(mode=0o700)
    except OSError:
        # It knows more places; but its import would have every tool start 7 ms later.
        import tempfile

        return Path(tempfile.mkdtemp(prefix=prefix))
    return directory.absolute()
