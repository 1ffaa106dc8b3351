"""What is said when a file cannot be written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator

from actiondbg.commands.interpreter.error_text import NO_ROOM
from actiondbg.errors import FileNotWritten


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Generator[None]:
    """Say what is wrong when a file cannot be written; raises FileNotWritten."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        way = "make room, or name another file" if error.errno in NO_ROOM else "name another file"
        raise FileNotWritten(
            f"{os.fspath(path)!r} cannot be written ({error.strerror or error}): {way}."
        ) from error
