"""A server and its client for each test."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.conftest import PYPI
from tests.fakes.dap_client import ServedClient
from tests.paths import ROOT

MLIR_OPT = str(PYPI / "mlir-opt")


@pytest.fixture
def fold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The input of docs/tour.md, in the working directory."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "fold.mlir", tmp_path)
    return "fold.mlir"


@pytest.fixture
def client() -> Generator[ServedClient]:
    """A client of a new server."""
    made = ServedClient()
    try:
        yield made
    finally:
        made.kill()
