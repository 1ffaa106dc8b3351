"""Check that docs/commands.md contains the declared commands and settings."""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path

from actiondbg.commands.interpreter.help import tables
from actiondbg.commands.interpreter.settings import SETTINGS
from actiondbg.commands.shell.topics import COMMANDS

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
REMEDY = "insert the output of `python -m actiondbg.commands.shell.topics`."


def main() -> int:
    """Compare, and print missing lines; return the exit status."""
    if not DOCUMENT.is_file():
        print(f"docs/commands.md is missing: {REMEDY}", file=sys.stderr)
        return 1
    wanted, text = tables(COMMANDS).strip(), DOCUMENT.read_text()
    rows = dict(re.findall(r"(?m)^\| `([\w-]+)` \| [^|]+ \| `([\w*-]+)` \|", text))
    settings = {name: setting.default for name, setting in SETTINGS.items()}
    if lacking := [name for name, default in settings.items() if rows.get(name) != default]:
        print(
            f"docs/commands.md lacks settings or their defaults: {', '.join(lacking)}: add rows to "
            "the table of settings.",
            file=sys.stderr,
        )
        return 1
    if wanted in text:
        return 0
    difference = difflib.ndiff(text.splitlines(), wanted.splitlines())
    missing = [line for line in difference if line.startswith("+ ")]
    print(f"docs/commands.md differs from the declarations: {REMEDY}", file=sys.stderr)
    print("\n".join(missing[:20]) or "The order differs.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
