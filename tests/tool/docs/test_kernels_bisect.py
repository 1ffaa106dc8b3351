"""The examples of docs/kernels/bisect.md, run, and that the page has every option."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.commands.cli.kernels.bisect import KernelBisectOptions
from actiondbg.commands.cli.kernels.options import GenerateLine, VerifyLine
from actiondbg.commands.interpreter.options import fields_of
from tests.paths import COMMAND, ROOT

PAGE = (ROOT / "docs/kernels/bisect.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The command is on PATH, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return {**os.environ, "PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}"}


def test_the_command_prints_what_the_page_shows(environment: dict[str, str]) -> None:
    ((command,), (shown,)) = _blocks("sh"), _blocks("text")
    done = subprocess.run(
        ["sh", "-e", "-c", command], env=environment, capture_output=True, text=True, check=True
    )
    assert _plain(done.stdout) == _plain(shown)


def _plain(text: str) -> str:
    """Replace what differs from run to run, or from one LLVM to the next."""
    text = re.sub(r"#\d+|(?<=pipeline_)[0-9a-f]+", "…", text)
    return re.sub(r"\d+ trials, [\d.]+ s", "… trials, … s", text)


@pytest.mark.parametrize("example", _blocks("python"))
def test_example_of_the_api(environment: dict[str, str], example: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", example], env=environment, capture_output=True, text=True, check=True
    )
    assert "pass affine-super-vectorize" in done.stdout


def test_every_option_of_its_own_is_on_the_page() -> None:
    shared = {each.option for line in (GenerateLine, VerifyLine) for each in fields_of(line)}
    ours = {each.option for each in fields_of(KernelBisectOptions)} - shared
    assert ours >= {"--random-pipelines", "--mode", "--seed"}
    assert [option for option in ours if f"`{option}" not in PAGE] == []
