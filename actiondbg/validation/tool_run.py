"""The runs of a tool whose actions are judged."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.comparison.side import Side, run_side
from actiondbg.errors import ActiondbgError
from actiondbg.protocol.tags import PASS_TAG

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


class ToolRun:
    """Runs a tool for the IR around its passes, and again for the IR in one.

    The IR around each action of a large function would take many times as long as the run.

    Args:
        argv: the command line; the file of its ``-o`` is not written.
        folder: for recordings.
        stdin: the file on its standard input; None for none.
    """

    def __init__(self, argv: Sequence[str], folder: Path, stdin: str | None = None) -> None:
        self._argv = argv
        self._folder = folder
        self._stdin = stdin
        self._runs = 0

    def passes(self) -> Side:
        """Return the run, with the IR around passes; around all actions if it has no passes.

        Raises:
            ActiondbgError: the command makes no MLIR context.
            LaunchError: the tool cannot be started.
        """
        side = run_side(self._argv, self._new_folder(), ir="pass", stdin=self._stdin)
        if PASS_TAG in side.recording.table("actions", ["tag"])["tag"].unique().to_pylist():
            return side
        return run_side(self._argv, self._new_folder(), stdin=self._stdin)

    def inside(self, ordinals: range, seconds: float) -> Recording | None:
        """Return a recording with the IR around some actions; None if there is none.

        Args:
            ordinals: of the actions.
            seconds: after them the tool is ended.
        """
        with contextlib.suppress(ActiondbgError, OSError):  # such as a full disk
            return run_side(
                self._argv,
                self._new_folder(),
                ir_of=ordinals,
                stdin=self._stdin,
                seconds=seconds,
            ).recording
        return None

    def _new_folder(self) -> Path:
        self._runs += 1
        folder = self._folder / f"run-{self._runs}"
        folder.mkdir()
        return folder
