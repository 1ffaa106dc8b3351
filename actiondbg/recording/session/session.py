"""A session over a recording: what one asks and does at a stop, without the tool."""

from __future__ import annotations

import weakref
from pathlib import Path

import numpy as np

from actiondbg.process.checkpoints import Checkpoint
from actiondbg.recording.recording import Recording
from actiondbg.recording.session.past import Past
from actiondbg.session.belongings import Belongings
from actiondbg.support.closeable import Closeable
from actiondbg.tool.known_names import NameKind

_TAGS: dict[NameKind, str] = {"pattern": "apply-pattern", "pass": "pass-execution"}


class RecordedSession(Past, Closeable):
    """A session over a recording; use it as a context manager, or ``close`` it.

    It offers what ``Session`` does as far as a recording holds it: going to and fro, breakpoints,
    the stack, what the actions did, and IR where it was recorded. What is not held raises NoAnswer,
    or UsageError, with the way out.

    Args:
        recording: the recording.
    """

    def __init__(self, recording: Recording) -> None:
        super().__init__(recording)
        self._kept = Belongings()
        self._finalizer = weakref.finalize(self, self._kept.release)

    def close(self) -> None:
        """Remove what was put on disk, and let go of the database."""
        self._query.close()
        self._finalizer()

    @property
    def recording(self) -> Recording:
        """The recording."""
        return self._recording

    @property
    def argv(self) -> list[str]:
        """The command line of the tool that was recorded."""
        return list(self._recording.header.argv)

    @property
    def holds_ir(self) -> bool:
        """Whether there is IR in the recording."""
        return self._recording.header.ir != "none"

    def names(self, kind: NameKind) -> list[str]:
        """List the names of tags, patterns, passes or operations that were recorded, sorted."""
        if kind == "op":
            return sorted(self._describe.operations.words("op").values)
        if kind == "tag":
            return sorted(self._actions.words("tag").values)
        names = self._actions.words("name")
        there = np.bincount(names.codes[self._actions.is_tag(_TAGS[kind])])
        return sorted(names.values[int(code)] for code in np.flatnonzero(there))

    def checkpoints(self) -> list[Checkpoint]:
        """List the checkpoints: there are none, as goto goes anywhere."""
        return []

    def _file(self, name: str) -> Path:
        return self._kept.directory() / name
