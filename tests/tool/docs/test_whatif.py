"""The examples of docs/whatif.md, run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.commands.cli.whatif import run
from actiondbg.whatif import parse_alternatives
from tests.elements import some
from tests.fakes import command_line
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "whatif.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


def _without_times(lines: list[str]) -> list[str]:
    """Return lines of a table without times, whose widths differ from run to run."""
    return [re.sub(r" +(time|\d+\.\d m?s) ", " TIME ", line) for line in lines]


@pytest.fixture(autouse=True)
def _examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "examples" / "fold.mlir", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.mark.parametrize("session", _blocks("text"))
def test_the_sessions(session: str) -> None:
    first, *lines = session.splitlines()
    commands = [line for line in lines if line.startswith("(actiondbg) ")]
    typed = [word for line in commands for word in ("-ex", line.removeprefix("(actiondbg) "))]
    tool = first.removeprefix("$ actiondbg ").split()
    run = command_line.run("-nx", "--batch", *typed, *tool, check=True)
    said = [line for line in lines if line not in commands]
    assert _without_times(run.stdout.splitlines()) == _without_times(said)


@pytest.mark.parametrize("command", [one for block in _blocks("sh") for one in block.splitlines()])
def test_the_command_lines(command: str) -> None:
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "as it is" in run.stdout


@pytest.mark.parametrize("example", _blocks("python"))
def test_the_python(example: str) -> None:
    subprocess.run([sys.executable, "-c", example], check=True)


def test_each_alternative_of_the_table_is_one() -> None:
    table = PAGE.partition("| alternative | does |\n|---|---|\n")[2].partition("\n\n")[0]
    forms = re.findall(r"^\| `([^`]+)`", table, re.M)
    assert len(forms) == 12
    for form in forms:
        parse_alternatives(re.sub(r"\bN$", "7", form))


def test_options_are_named() -> None:
    actions = run.build_parser()._actions  # pyright: ignore[reportPrivateUsage]
    known = {"--help", "--no-color"}
    known |= {"--lower", "--entry", "--entry-result", "--shared-libs", "--tolerance", "--input"}
    for action in some(actions):
        assert {*action.option_strings} & {*re.findall(r"--?[\w-]+", PAGE), *known}, action
