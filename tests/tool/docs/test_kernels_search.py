"""The examples of docs/kernels/search.md, run, and that the page has every option."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.commands.cli.kernels.options import FolderOptions, OperationOptions, ProviderOptions
from actiondbg.commands.cli.kernels.search import SearchOptions
from actiondbg.commands.cli.kernels.tune import TuneOptions
from actiondbg.commands.interpreter.options import fields_of
from tests.paths import COMMAND, ROOT

PAGE = (ROOT / "docs/kernels/search.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The command is on PATH, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return {**os.environ, "PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}"}


def test_the_command_prints_lines_as_on_the_page(environment: dict[str, str]) -> None:
    ((command,), (shown,)) = _blocks("sh"), _blocks("text")
    done = subprocess.run(
        ["sh", "-e", "-c", command], env=environment, capture_output=True, text=True, check=True
    )
    printed, lines = done.stdout.splitlines(), shown.splitlines()
    assert printed[:2] == lines[:2]  # the head, and the columns of the table
    assert printed[-3].startswith("Best: mlir_")
    assert lines[-2].startswith("Best: mlir_")
    assert Path(printed[-2].removeprefix("Configured: ")).is_file()
    assert lines[-1].startswith("Configured: ")


@pytest.mark.parametrize("example", _blocks("python"))
def test_example_of_the_api(environment: dict[str, str], example: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", example], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("mlir_")


def test_every_option_of_its_own_is_on_the_page() -> None:
    groups = (FolderOptions, OperationOptions, ProviderOptions)
    shared = {each.option for group in groups for each in fields_of(group)}
    ours = {
        each.option for kind in (SearchOptions, TuneOptions) for each in fields_of(kind)
    } - shared
    assert [option for option in ours if f"`{option}" not in PAGE] == []
