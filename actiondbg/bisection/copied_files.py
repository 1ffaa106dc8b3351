"""The files beside the reproducer of a bisection: copies of the user's files."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from actiondbg.bisection.folder import RESERVED
from actiondbg.tool.command_line import is_file

_TOKEN = re.compile(r"""[^\s=,;|&<>(){}'"`$]+""")
_LARGEST = 64 << 20  # bytes of a file that is copied
_SCRIPT = 1 << 16  # bytes of a script that are searched for the names of files beside it
_ELF = b"\x7fELF"


@dataclass
class CopiedFiles:
    """The files to copy, by their names in the folder.

    Args:
        base: the directory that paths are relative to.
        files: name in the folder -> the original.
        source: the name of the input; None if it is not copied.
        input: the file of the input, which oracles need; None if it is not known.
    """

    base: Path
    files: dict[str, Path] = field(default_factory=dict[str, Path])
    source: str | None = None
    input: Path | None = None

    def add(self, path: Path, name: str | None = None) -> str:
        """Add a file; return its name in the folder."""
        known = next((name for name, other in self.files.items() if other == path), None)
        if known is not None:
            return known
        wanted = name or path.name
        stem, ending = os.path.splitext(wanted)
        number = 1
        while wanted in self.files or wanted in RESERVED:
            number += 1
            wanted = f"{stem}-{number}{ending}"
        self.files[wanted] = path
        self._add_beside(path)
        return wanted

    def _add_beside(self, script: Path) -> None:
        """Add the files beside a script that the script names, such as a file that it sources."""
        for token in _TOKEN.findall(_script_text(script)):
            name = token.rpartition("/")[2]
            if not name.strip(".") or name in self.files or name in RESERVED:
                continue
            beside = script.with_name(name)
            if _is_copied(beside):
                self.files[name] = beside
                self._add_beside(beside)

    def rewrite(self, word: str) -> str:
        """Replace the names of files in a word, or in a shell command, by the names of the copies.

        The path of a file that cannot be copied becomes absolute.
        """
        return _TOKEN.sub(lambda match: self._renamed(match[0]), word)

    def has_all_of(self, command: str) -> bool:
        """Return whether a shell command seems to need no files but the copied ones.

        It does not if a word of it, or of a copied script, is the name of anything else in the
        directory that it runs in, or beside the script.
        """
        scripts = [file for file in self.files.values() if _script_text(file)]
        texts = [(command, self.base)]
        for script in scripts:
            texts += [(_script_text(script), self.base), (_script_text(script), script.parent)]
        return not any(
            self._lacks(folder, token)
            for text, folder in texts
            for token in _TOKEN.findall(text)
            if token.strip("./") and not os.path.isabs(token)
        )

    def _lacks(self, folder: Path, name: str) -> bool:
        """Return whether a file, or the start of a path or a Python module, is not copied."""
        copied = {os.path.normpath(file) for file in self.files.values()}
        path = os.path.normpath(folder / name)
        if path in copied:
            return False
        start = os.path.normpath(folder / name.removeprefix("./").partition("/")[0])
        try:
            return any(
                os.path.exists(one) and one not in copied for one in (path, start, f"{path}.py")
            )
        except ValueError:  # a null character
            return False

    def _renamed(self, token: str) -> str:
        if "." not in token and "/" not in token:
            return token
        path = Path(os.path.normpath(self.base / token))
        try:
            exists = path.exists() and path != self.base
            if not exists or token.strip("./") == "":
                return token
            if not _is_copied(path):
                return token if os.path.isabs(token) else os.fspath(path)
        except OSError:
            return token
        return f"./{self.add(path)}" if "/" in token else self.add(path)


def _is_copied(path: Path) -> bool:
    if not is_file(path) or path.stat().st_size > _LARGEST:
        return False
    with path.open("rb") as file:
        return file.read(len(_ELF)) != _ELF and not str(path).startswith(("/usr/", "/bin/", "/dev"))


def _script_text(path: Path) -> str:
    """Return the text of a script; empty for a file of another kind."""
    with path.open("rb") as file:
        return file.read(_SCRIPT).decode(errors="replace") if file.read(2) == b"#!" else ""
