"""The init scripts of the user and of trusted directories."""

from __future__ import annotations

from pathlib import Path

from actiondbg.commands.interpreter.error_text import writing
from actiondbg.errors import UsageError
from actiondbg.support.user_directories import config_directory, home_directory

NAME = ".actiondbginit"


def user_file() -> Path:
    return home_directory() / NAME


def project_file() -> Path:
    return Path.cwd() / NAME


class InitScript:
    """The init script of a directory as it is now; one that has changed is not trusted any more.

    Attributes:
        text: its content, which is what is trusted and run.

    Raises:
        UsageError: there is no such file, or it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        # Imported here: few directories have such a script.
        from hashlib import sha256

        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError(
                f"{str(path)!r} cannot be read ({error.strerror}): change to the directory of the "
                f"{NAME} to trust."
            ) from error
        self.text = content.decode(errors="replace")
        digest = sha256(bytes(path) + b"\0" + content).hexdigest()
        self._mark = config_directory() / "trusted-scripts" / digest
        self._path = path

    def is_trusted(self) -> bool:
        """Whether the user has trusted this script with this content."""
        return self._mark.is_file()

    def trust(self) -> None:
        """Trust the script, now and later.

        Raises:
            FileNotWritten: the user's configuration cannot be written.
        """
        with writing(self._mark):
            self._mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._mark.write_bytes(bytes(self._path) + b"\n")
