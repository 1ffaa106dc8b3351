"""What is said when a file cannot be written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator

from actiondbg.errors import FileNotWritten


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Generator[None]:
    """Say what is wrong when a file cannot be written; raises FileNotWritten."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileNotWritten(
            f"{os.fspath(path)!r} cannot be written ({error.strerror}): make room, or name "
            "another file."
        ) from error
