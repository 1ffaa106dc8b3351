"""The folder of a suite: its layout, and the command lines that were recorded into it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from actiondbg.errors import FileNotWritten, UsageError
from actiondbg.support.atomic_write import write_whole
from actiondbg.tool.seen_programs import SeenPrograms

PART = "part"  # the line of the notes before those of a further start of a driver
_FORMAT = 1


class SuiteDescription(msgspec.Struct, frozen=True):
    """What is noted of a suite."""

    format: int = _FORMAT  # the version of the layout of the folder
    commands: list[list[str]] = []  # the command lines of the drivers, in the order of their starts


class SuiteFolder:
    """The layout of the folder."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.runs = self.path / "runs"  # the folder of the recordings, one a process
        # The folder of the sets of patterns that processes froze, by hash.
        self.patterns = self.path / "patterns"
        self.index = self.path / "index"  # the folder of the tables about all runs
        # The file whose existence ends recording, since the limit of disk space is reached.
        self.full = self.path / "full"
        self.notes = self.path / SeenPrograms.NAME  # the file in which agents note processes
        self._mark = self.path / "suite.json"

    @property
    def exists(self) -> bool:
        """Whether it is the folder of a suite."""
        return self._mark.is_file()

    def check(self) -> None:
        """Raise UsageError unless it is the folder of a suite, of a format that is known."""
        if not self.exists:
            raise UsageError(
                f"{str(self.path)!r} is not a suite: make one with "
                "'actiondbg suite record -o DIR -- COMMAND'."
            )
        found = self.description().format
        if found > _FORMAT:
            raise UsageError(
                f"The suite {str(self.path)!r} has format {found}, and this actiondbg reads up to "
                f"{_FORMAT}: use a newer actiondbg."
            )

    def make(self, resume: bool) -> None:
        """Make the folder.

        Args:
            resume: the folder may be that of a suite, whose runs are kept.

        Raises:
            UsageError: the folder has other contents, or runs that would be mixed with new ones.
            FileNotWritten: it cannot be made.
        """
        if self.exists and not resume:
            raise UsageError(
                f"{str(self.path)!r} has the runs of a suite: name another "
                "folder, or record into it with --resume."
            )
        if not self.exists and self.path.exists() and any(self.path.iterdir()):
            raise UsageError(f"{str(self.path)!r} is no suite and is not empty: name a new folder.")
        try:
            for each in (self.runs, self.patterns):
                each.mkdir(parents=True, exist_ok=True)
            self.full.unlink(missing_ok=True)
        except OSError as error:
            raise FileNotWritten(
                f"{str(self.path)!r} cannot be made ({error.strerror}): name another folder."
            ) from error

    def describe(self, command: list[str]) -> None:
        """Note the command of a suite, after those of earlier parts.

        Raises:
            FileNotWritten: it cannot be noted; a new folder is removed again.
        """
        try:
            if self.notes.exists():
                with self.notes.open("ab") as notes:
                    # A full disk may have cut the line before.
                    notes.write(f"\n{PART}\n".encode())
            self.describe_all([*self.description().commands, command])
        except OSError as error:
            if not self.exists:
                for each in (self.runs, self.patterns, self.path):
                    with contextlib.suppress(OSError):
                        each.rmdir()
            raise FileNotWritten(
                f"The suite {str(self.path)!r} cannot be written ({error.strerror}): free disk "
                "space, or name another folder."
            ) from error

    def describe_all(self, commands: list[list[str]]) -> None:
        """Note the commands of all parts."""
        write_whole(self._mark, msgspec.json.encode(SuiteDescription(commands=commands)))

    def description(self) -> SuiteDescription:
        """Return what is noted of the suite, an empty description if nothing is."""
        try:
            return msgspec.json.decode(self._mark.read_bytes(), type=SuiteDescription)
        except (OSError, msgspec.MsgspecError):
            return SuiteDescription()
