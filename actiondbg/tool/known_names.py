"""The known names of a tool: tags, patterns, passes, operations and options."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, cast, get_args

from actiondbg.support.atomic_write import write_whole
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool.discovery import Tool

NameKind = Literal["tag", "pattern", "pass", "op"]  # functions are those of an input
KINDS: tuple[NameKind, ...] = get_args(NameKind)

_MAX_NAMES = 50_000  # of a kind
_MAX_LENGTH = 500  # characters of a name
_SECONDS = 10.0  # for a tool to print its help
# LLVM indents an option by 2 columns, and a pass in the list of passes by 6; by 8 the options of a
# pass, which are written in braces behind it.
_OPTION = re.compile(r"^(?: {2}| {6})(--?[A-Za-z][\w.-]*)(=?)", re.MULTILINE)


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


def option_names(tool: Tool, env: Mapping[str, str] | None, cwd: Path | None) -> list[str]:
    """Return the options of a tool, sorted; one that takes a value ends in ``=``.

    Args:
        tool: the tool, which is run with ``--help`` once for each build.
        env: its environment; None for ours.
        cwd: its working directory; None for ours.

    Returns:
        The options; none if the tool prints no such help.
    """
    file = cache_directory() / f"options-{_digest(tool)}.txt"
    with contextlib.suppress(OSError, ValueError):
        return file.read_text(encoding="utf-8").split()
    try:
        done = subprocess.run(
            [tool.path, "--help"],
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    names = sorted(
        {"".join(found) for found in _OPTION.findall(done.stdout.decode(errors="replace"))}
    )
    if names:
        with contextlib.suppress(OSError):  # the next session asks again
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(file, "\n".join(names).encode())
    return names


def _digest(tool: Tool) -> str:
    """Identify the build of a tool: its MLIR may be in a library that another tool loads, too."""
    with contextlib.suppress(OSError):
        found = tool.path.stat()
        key = f"{tool.path}\0{tool.build_id}\0{found.st_mtime_ns}\0{found.st_size}"
        return hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()[:24]
    return tool.build_id
