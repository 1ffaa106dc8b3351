"""The names of the files in the folder of a bisection, which no copy of a user's file has."""

from __future__ import annotations

from pathlib import Path
from typing import Final


class FolderFile:
    """A file that a bisection writes, beside the input and copies of the files that it needs."""

    STATE: Final = "state.json"
    MARKDOWN: Final = "report.md"
    HTML: Final = "report.html"
    SCRIPT: Final = "repro.sh"
    SESSION: Final = "session.adb"
    SKIPS: Final = "verdict.skips"
    BEFORE: Final = "before.mlir"
    AFTER: Final = "after.mlir"
    BEFORE_PASS: Final = "before-pass.mlir"


_ENDINGS = (".mlir", ".mlirbc", ".bc", ".fir", ".ll", ".f90", ".F90", ".f")
_WRITTEN = {text for name, text in vars(FolderFile).items() if name.isupper()}
RESERVED: frozenset[str] = frozenset({*_WRITTEN, *(f"input{ending}" for ending in _ENDINGS)})


def input_name(path: Path) -> str:
    """Return the name of the copy of the input."""
    return f"input{path.suffix if path.suffix in _ENDINGS else '.mlir'}"
