"""Trials of a search: configurations with their verdicts and times, and the log of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from actiondbg.errors import FileNotWritten
from actiondbg.kernels.generated import from_json
from actiondbg.kernels.model import Configuration, Parameter
from actiondbg.kernels.results.entry import Verdict
from actiondbg.support.atomic_write import create_free, write_whole

_VERSION = 1


@dataclass(frozen=True)
class SearchTrial:
    """A configuration that was compiled, verified and measured.

    Attributes:
        verdict: of its verification; only one that is SUCCESS can win.
        seconds: the least time of one call; None if the kernel is not right.
        detail: one sentence on what is not right, or "".
        choice: of the space's parameters that gave the configuration; None for the default and
            predefined ones.
    """

    configuration: Configuration
    verdict: Verdict
    seconds: float | None = None
    detail: str = ""
    choice: Mapping[str, Parameter] | None = None

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters as the space has them, if the configuration is of the space."""
        return self.configuration.parameters if self.choice is None else self.choice

    @property
    def is_right(self) -> bool:
        """Whether the kernel is right, and its time is known."""
        return self.verdict == "SUCCESS" and self.seconds is not None

    @property
    def cost(self) -> float:
        """The time of one call; infinite if the kernel is not right."""
        return self.seconds if self.is_right and self.seconds is not None else float("inf")


@dataclass(frozen=True)
class LogHeader:
    """What the times of a log depend on."""

    operation: str
    provider: str
    identity: str
    space: Mapping[str, Sequence[Parameter]]
    version: int = _VERSION


class TrialLog:
    """Trials that outlive the search: an interrupted one continues with them.

    A log of another compiler or space is renamed, and a new one is begun.

    Attributes:
        path: of the file.
        trials: those in the file, in order.
        renamed: the file that the log of another compiler or space is in now, or None.

    Raises:
        FileNotWritten: the file cannot be read or written.
    """

    def __init__(self, path: Path, header: LogHeader) -> None:
        self.path = path
        self.trials: list[SearchTrial] = []
        self.renamed: Path | None = None
        first = msgspec.json.encode(header)
        try:
            if not self._read(first):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, first + b"\n")
        except OSError as error:
            raise _not_written(path, error) from error

    def append(self, trial: SearchTrial) -> None:
        """Add a trial; it is in the file when this returns.

        Raises:
            FileNotWritten: such as on a full disk.
        """
        try:
            with self.path.open("ab") as file:
                file.write(msgspec.json.encode(trial) + b"\n")
        except OSError as error:
            raise _not_written(self.path, error) from error
        self.trials.append(trial)

    def _read(self, header: bytes) -> bool:
        """Read the trials; return whether the file continues this search."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return False
        # A line without its end was cut by a kill or a full disk.
        first, *lines = content.splitlines(keepends=True) or [b""]
        if first != header + b"\n":
            if first.endswith(b"\n"):
                self.renamed = create_free(self.path)
                self.path.replace(self.renamed)
            return False
        whole = len(first)
        for line in lines:
            if not line.endswith(b"\n"):
                break
            try:
                self.trials.append(from_json(line, SearchTrial))
            except msgspec.DecodeError:
                break
            whole += len(line)
        if whole < len(content):
            os.truncate(self.path, whole)
        return True


def _not_written(path: Path, error: OSError) -> FileNotWritten:
    return FileNotWritten(
        f"The log {str(path)!r} cannot be written ({error.strerror}): name another folder with "
        "--generated-dir, or make room on the disk."
    )
