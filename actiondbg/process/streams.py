"""The redirections of a tool's standard streams."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from typing import IO, NamedTuple, TypeAlias

from actiondbg.errors import LaunchError
from actiondbg.support.recording_file import refuse_recording
from actiondbg.tool.program import OpenedStream

Redirection: TypeAlias = str | os.PathLike[str] | int | IO[str] | IO[bytes] | None


class Streams(NamedTuple):
    """The redirections of the standard streams."""

    # A path, a file or its descriptor, ``"inherit"`` for ours; None for the default of the caller.
    stdin: Redirection = None
    stdout: Redirection = None  # as ``stdin``
    stderr: Redirection = None  # as ``stdin``

    def check(self) -> None:
        """Raise UsageError if a file that would be overwritten is a recording."""
        for where in (self.stdout, self.stderr):
            if isinstance(where, str | os.PathLike) and where != "inherit":
                refuse_recording(where)

    @contextlib.contextmanager
    def opened(self) -> Generator[tuple[OpenedStream, OpenedStream, OpenedStream]]:
        """Open the files that are given by paths, for the start of a tool in the block.

        Raises:
            LaunchError: a file cannot be opened.
            UsageError: see ``check``.
        """
        self.check()
        with contextlib.ExitStack() as files:
            yield (
                _opened(self.stdin, "rb", files),
                _opened(self.stdout, "wb", files),
                _opened(self.stderr, "wb", files),
            )


def _opened(where: Redirection, mode: str, files: contextlib.ExitStack) -> OpenedStream:
    if where is None or where == "inherit":
        return None
    if not isinstance(where, str | os.PathLike):
        return where
    try:
        return files.enter_context(open(where, mode))
    except OSError as error:
        action = "read" if mode == "rb" else "written"
        raise LaunchError(
            f"{os.fspath(where)!r} cannot be {action} ({error.strerror}): name another file."
        ) from error
