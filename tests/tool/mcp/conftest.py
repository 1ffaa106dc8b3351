"""The working directory of servers, and a directory for their temporary files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working directory with an input."""
    directory = tmp_path / "work"
    directory.mkdir()
    shutil.copy(ROOT / "examples/fold.mlir", directory)
    return directory


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory for temporary files, with a name that is short enough for sockets in it."""
    with tempfile.TemporaryDirectory(prefix="mcp-", dir="/tmp") as name:
        monkeypatch.setenv("TMPDIR", name)
        yield Path(name)
