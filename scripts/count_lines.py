"""Count the files and lines of the folders in docs/architecture.md anew."""

from __future__ import annotations

import re
import subprocess
from datetime import date
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_PAGE = _ROOT / "docs" / "architecture.md"
_SUFFIXES = {".py", ".c", ".cpp", ".h"}
_ROW = re.compile(r"^\| `([\w/]+)` \| (.+?) \| [\d,]+ \| [\d,]+ \|$", re.M)


def main() -> None:
    """Write the numbers of the tracked files into the table."""
    text = _ROW.sub(lambda row: _counted(row[1], row[2]), _PAGE.read_text())
    _PAGE.write_text(re.sub(r"Counted on [\d-]+", f"Counted on {date.today()}", text))


def _counted(folder: str, room: str) -> str:
    """Return the row of a folder."""
    listed = subprocess.run(
        ["git", "ls-files", folder], cwd=_ROOT, check=True, capture_output=True, text=True
    )
    paths = [_ROOT / line for line in listed.stdout.splitlines()]
    code = [path for path in paths if path.suffix in _SUFFIXES]
    lines = sum(path.read_text().count("\n") for path in code)
    return f"| `{folder}` | {room} | {len(code):,} | {lines:,} |"


if __name__ == "__main__":
    main()
