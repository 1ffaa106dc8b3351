"""Fail if docs/commands.md does not hold the tables that the declared commands make."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

from actiondbg.commands.interpreter.help import tables
from actiondbg.commands.shell.topics import COMMANDS

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
REMEDY = "put what `python -m actiondbg.commands.shell.topics` prints into it."


def main() -> int:
    """Compare; print what is missing.

    Returns:
        The exit status: 0 if the tables are there.
    """
    if not DOCUMENT.is_file():
        print(f"docs/commands.md is missing: {REMEDY}", file=sys.stderr)
        return 1
    wanted, text = tables(COMMANDS).strip(), DOCUMENT.read_text()
    if wanted in text:
        return 0
    difference = difflib.ndiff(text.splitlines(), wanted.splitlines())
    missing = [line for line in difference if line.startswith("+ ")]
    print(f"docs/commands.md is not what the commands declare: {REMEDY}", file=sys.stderr)
    print("\n".join(missing[:20]) or "The order differs.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
