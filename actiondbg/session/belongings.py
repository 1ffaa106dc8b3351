"""What has to go when a session does."""

from __future__ import annotations

import os
from pathlib import Path

from actiondbg.process.execution import Execution
from actiondbg.support.scratch_directory import make_directory, remove_directory


class Belongings:
    """A session's run and its directory, which go with it also when it is forgotten."""

    def __init__(self) -> None:
        self.run: Execution | None = None
        self._directory: Path | None = None
        self._owner = os.getpid()

    def directory(self) -> Path:
        """Return the session's directory, made when it is first needed."""
        if self._directory is None:
            self._directory = make_directory()
        return self._directory

    def release(self) -> None:
        """End the tool and remove the directory; not in a fork of the front end."""
        if os.getpid() != self._owner:
            return
        if self.run is not None:
            self.run.kill()
        if self._directory is not None:
            remove_directory(self._directory)
            self._directory = None
