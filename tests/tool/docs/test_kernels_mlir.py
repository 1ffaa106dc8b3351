"""The examples of docs/kernels/mlir.md, run, and that the page has every parameter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.kernels.providers.mlir.predefined import PARAMETERS
from tests.paths import COMMAND, ROOT

PAGE = (ROOT / "docs/kernels/mlir.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The command is on PATH, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return {**os.environ, "PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize("example", _blocks("sh"))
def test_kernels_of_the_examples_are_right(environment: dict[str, str], example: str) -> None:
    done = subprocess.run(
        ["sh", "-e", "-c", example], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    dispatches, right = re.findall(r"^(\d+) dispatch(?:es)?: (\d+) right\.", done.stdout, re.M)[-1]
    assert dispatches == right


def test_example_of_the_api_prints_what_is_on_the_page(environment: dict[str, str]) -> None:
    ((example,), (shown,)) = _blocks("python"), _blocks("text")
    done = subprocess.run(
        [sys.executable, "-c", example], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == shown


def test_every_parameter_is_on_the_page() -> None:
    assert [each for each in sorted(PARAMETERS) if f"`{each}`" not in PAGE] == []
