"""A copy of what the package is built from."""

from __future__ import annotations

import shutil
from pathlib import Path

from actiondbg.tool.shipped import SHIPPED
from tests.paths import ROOT

_SOURCES = (
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "actiondbg",
    "commands",
)


def copy_sources(folder: Path) -> None:
    """Copy the sources into a folder, without what was compiled from them."""
    ignore = shutil.ignore_patterns("__pycache__", SHIPPED.name)
    for name in _SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignore)
        else:
            shutil.copy(ROOT / name, folder / name)
