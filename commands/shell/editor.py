"""The user's editor, for a text of the session's."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

from actiondbg.errors import UsageError
from actiondbg.support.executables import which
from actiondbg.support.scratch_directory import scratch_directory

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console

_USUAL = ("sensible-editor", "nano", "vim", "vi")


def edit_text(console: Console, text: str, suffix: str = ".mlir") -> str:
    """Open a text in the user's editor; return it as it was saved.

    Args:
        console: whose output is written first.
        text: the text.
        suffix: of the file, by which editors recognize the language.

    Raises:
        UsageError: there is no editor, or it fails.
    """
    command = _editor(console)
    console.out.flush()
    console.terminal_written = True
    with scratch_directory("edit") as directory:
        file = directory / f"edit{suffix}"
        file.write_text(text, encoding="utf-8")
        # The output of actiondbg may be JSON.
        stdout = console.err if console.json else None
        try:
            result = subprocess.run([*command, str(file)], stdout=stdout)
        except OSError as error:
            raise UsageError(
                f"The editor {command[0]!r} cannot be started ({error.strerror}): set VISUAL or "
                "EDITOR."
            ) from error
        if result.returncode:
            raise UsageError(
                f"The editor {command[0]!r} ended with status {result.returncode}: nothing was "
                "changed."
            )
        return file.read_text(encoding="utf-8", errors="replace")


def _editor(console: Console) -> list[str]:
    """Return the command of the user's editor."""
    for name in ("VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(name, "")):
            return words
    found = next((name for name in _USUAL if which(name) is not None), None)
    if found is None or not console.interactive:
        raise UsageError(
            "There is no editor: set VISUAL or EDITOR, or give the edited IR with --from FILE."
        )
    return [found]
