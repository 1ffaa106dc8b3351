"""The known names of a tool: tags, patterns, passes and operations."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from typing import Any, Literal, cast, get_args

from actiondbg.support.atomic_write import write_whole
from actiondbg.support.user_directories import cache_directory

NameKind = Literal["tag", "pattern", "pass", "op"]  # functions are those of an input
KINDS: tuple[NameKind, ...] = get_args(NameKind)

_MAX_NAMES = 50_000  # of a kind
_MAX_LENGTH = 500  # characters of a name


class KnownNames:
    """Names seen in earlier runs of a tool, for completion; kept in the user's cache.

    Args:
        key: identifies the tool, of any characters.
    """

    def __init__(self, key: str) -> None:
        digest = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()[:24]
        self._file = cache_directory() / f"names-{digest}.json"
        self._names: dict[NameKind, set[str]] = {kind: set() for kind in KINDS}
        self._sorted: dict[NameKind, tuple[str, ...]] = {}
        self._changed = False
        self._load()

    def get(self, kind: NameKind) -> tuple[str, ...]:
        """Return the known names of a kind, sorted."""
        if kind not in self._sorted:
            self._sorted[kind] = tuple(sorted(self._names[kind]))
        return self._sorted[kind]

    def add(self, kind: NameKind, names: Iterable[str]) -> None:
        """Add names."""
        known = self._names[kind]
        for name in names:
            if name and name not in known and len(known) < _MAX_NAMES and len(name) <= _MAX_LENGTH:
                known.add(name)
                self._changed = True
                self._sorted.pop(kind, None)

    def save(self) -> None:
        """Write new names to the cache, merged with those of other sessions; by rename.

        Names are a convenience: a cache that cannot be written is not an error.
        """
        if not self._changed:
            return
        self._load()
        content = json.dumps({kind: self.get(kind) for kind in KINDS}, indent=0)
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._file, content.encode())
            self._changed = False

    def _load(self) -> None:
        """Add the cached names; ignore a missing or damaged cache."""
        try:
            content: Any = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        if not isinstance(content, dict):
            return
        stored = cast("dict[str, Any]", content)
        self._sorted.clear()
        for kind in KINDS:
            names = stored.get(kind)
            if isinstance(names, list):
                known = cast("list[Any]", names)
                self._names[kind].update(name for name in known if isinstance(name, str))
