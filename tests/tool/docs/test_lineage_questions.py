"""The examples of the questions about a lineage, run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.commands.cli.lineage import run
from tests.elements import some
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "lineage-questions.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


RECORD = _blocks("text")[0].splitlines()[0].removeprefix("$ ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the example, recorded as the page does."""
    folder = tmp_path_factory.mktemp("lineage")
    shutil.copy(ROOT / "examples" / "convolutions.mlir", folder)
    shell(RECORD, folder)
    return folder


def shell(command: str, folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, cwd=folder, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("session", [block for block in _blocks("text")])
def test_the_sessions(session: str, folder: Path) -> None:
    for part in some(session.split("$ ")[1:]):
        command, _, shown = part.partition("\n")
        if command != RECORD:
            assert shell(command, folder) == shown


@pytest.mark.parametrize("command", [one for block in _blocks("sh") for one in block.splitlines()])
def test_the_command_lines(command: str, folder: Path) -> None:
    shell(command, folder)


@pytest.mark.parametrize("example", _blocks("python"))
def test_the_python(example: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=folder, check=True, capture_output=True, text=True
    )
    assert done.stdout.startswith("2 1\n") and done.stdout.endswith(" True\n")


def test_options_are_named() -> None:
    actions = run.build_parser()._actions  # pyright: ignore[reportPrivateUsage]
    known = {"--help", "--partial", "--remap", "--tables"}
    options = [set(action.option_strings) for action in actions if action.option_strings]
    named = {*re.findall(r"--?[\w-]+", PAGE), *known}
    assert [each for each in options if not each & named] == []
    assert len(options) > 5
