"""Names of source files: which mean the same file, and which another name replaces."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from actiondbg.errors import UsageError


def same_file(one: str, other: str) -> bool:
    """Whether the components of one path are the last ones of the other."""
    if one == other:
        return True
    parts, others = _parts(one), _parts(other)
    shared = min(len(parts), len(others))
    return shared > 0 and parts[-shared:] == others[-shared:]


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in PurePosixPath(path).parts if part != "/")


class FileRemap:
    """Names of source files that others replace.

    Args:
        pairs: the old and the new name; the old one may be the end of a path.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = list(pairs)
        self._unused = {old for old, _ in self._pairs}
        self._known: dict[str, str] = {}

    def __call__(self, file: str) -> str:
        """Return the name that replaces a file's, or the same one."""
        if not self._pairs:
            return file
        found = self._known.get(file)
        if found is None:
            found = self._known[file] = self._replaced(file)
        return found

    def _replaced(self, file: str) -> str:
        for old, new in self._pairs:
            if same_file(file, old):
                self._unused.discard(old)
                return new
        return file

    def unused(self) -> list[str]:
        """Return the old names that matched no file so far."""
        return [old for old, _ in self._pairs if old in self._unused]


def parse_remap(text: str) -> tuple[str, str]:
    """Return the two names of ``OLD=NEW``.

    Raises:
        UsageError: there are not two names.
    """
    old, sign, new = (part.strip() for part in text.partition("="))
    if not sign or not old or not new or "=" in new:
        raise UsageError(f"Invalid remap {text!r}: write OLD=NEW, two names of files.")
    return old, new
