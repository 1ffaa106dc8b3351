"""The names of the files in the folder of a bisection, which no copy of a user's file has."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path


class FolderFile(StrEnum):
    """A file that a bisection writes, beside the input and copies of the files that it needs."""

    STATE = "state.json"
    MARKDOWN = "report.md"
    HTML = "report.html"
    SCRIPT = "repro.sh"
    SESSION = "session.adb"
    SKIPS = "verdict.skips"
    BEFORE = "before.mlir"
    AFTER = "after.mlir"
    BEFORE_PASS = "before-pass.mlir"


_ENDINGS = (".mlir", ".mlirbc", ".bc", ".fir", ".ll", ".f90", ".F90", ".f")
RESERVED = frozenset({*FolderFile, *(f"input{ending}" for ending in _ENDINGS)})


def input_name(path: Path) -> str:
    """Return the name of the copy of the input."""
    return f"input{path.suffix if path.suffix in _ENDINGS else '.mlir'}"
