"""Errors of recordings and of queries over them, and of packages that these need."""

from __future__ import annotations

from importlib.util import find_spec

from actiondbg.errors import ActiondbgError


class RecordingError(ActiondbgError):
    """A file is not a recording, is damaged, or cannot be read."""


class DamagedError(RecordingError):
    """A recording is damaged in the middle.

    Args:
        path: the recording.
        offset: the first damaged byte, from 0.
        why: the kind of damage, in words.
        readable: the number of actions before the damage.
    """

    def __init__(self, path: str, offset: int, why: str, readable: int) -> None:
        self.offset, self.readable = offset, readable
        reads = f"the actions up to #{readable:,} can be read" if readable else "none can be read"
        way = "use --partial to read these" if readable else "record it again"
        super().__init__(f"{path!r} is damaged at byte {offset:,} ({why}): {reads}, {way}.")


class QueryError(ActiondbgError):
    """A query is wrong as written."""


def lacks(path: str, imported: str, what: str) -> str:
    """Return the error message for data that an import never has.

    Args:
        path: the import.
        imported: the log from which it was imported.
        what: the missing data, such as "patterns".
    """
    return (
        f"{path} was imported from {imported}, which has passes and no {what}: record them with "
        "`actiondbg record -- TOOL ARGS...`."
    )


READING = ("duckdb", "pyarrow", "numpy")


def need_packages(
    what: str, packages: tuple[str, ...] = READING, extra: str = "recordings"
) -> None:
    """Require optional packages.

    Args:
        what: the feature that needs them, such as "actiondbg query".
        packages: the names of the packages.
        extra: actiondbg's extra that installs them.

    Raises:
        ActiondbgError: a package is not installed.
    """
    if all(find_spec(package) is not None for package in packages):
        return
    *first, last = packages
    names = f"packages {', '.join(first)} and {last}" if first else f"package {last}"
    raise ActiondbgError(f"{what} needs the {names}: pip install 'actiondbg[{extra}]'.")
