"""The examples of the documentation, run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes import command_line
from tests.paths import COMMAND, ROOT


def _blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)


@pytest.fixture(autouse=True)
def _examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in (ROOT / "examples").iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    # For README.md, whose commands are typed in a clone.
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / ".venv").symlink_to(Path(COMMAND).parent.parent)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "example", [*_blocks("docs/api.md", "python"), *_blocks("docs/time-travel.md", "python")]
)
def test_example_of_the_api(example: str) -> None:
    subprocess.run([sys.executable, "-c", example], check=True)


@pytest.mark.parametrize(
    "session",
    [
        *_blocks("README.md", "text"),
        *_blocks("docs/tour.md", "text"),
        *_blocks("docs/time-travel.md", "text"),
        *(each for each in _blocks("docs/commands.md", "text") if each.startswith("$ ")),
        *_blocks("docs/crashes.md", "text"),
        *_blocks("docs/edit.md", "text"),
    ],
)
def test_a_recorded_session(session: str) -> None:
    first, *lines = session.splitlines()
    tool = first.removeprefix("$ ").removeprefix(".venv/bin/").removeprefix("actiondbg ").split()
    commands = [
        line.removeprefix("(actiondbg) ") for line in lines if line.startswith("(actiondbg) ")
    ]
    printed = [line for line in lines if not line.startswith("(actiondbg) ")]
    run = command_line.run(
        "-nx", "--batch", *[w for c in commands for w in ("-ex", c)], *tool, check=True
    )
    assert run.stdout.splitlines() == printed
    assert len(commands) > 5


@pytest.mark.parametrize("commands", _blocks("README.md", "sh"))
def test_commands_of_the_readme(commands: str) -> None:
    run = subprocess.run(["sh", "-e", "-c", commands], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    made = {path.name for path in Path().iterdir()}
    assert made & {"bisect-mlir-opt", "report.html", "generated"}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_links_of_all_pages_have_targets() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    missing = [
        f"{page.name}: {link}"
        for page in pages
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        if not (page.parent / link).exists()
    ]
    assert missing == []


def test_the_files_that_pages_name_exist() -> None:
    missing = [
        f"{page}: {path}"
        for page in ("CONTRIBUTING.md", "docs/architecture.md")
        for path in re.findall(
            r"`((?:actiondbg|commands|tests|scripts|docs)/[\w./-]+)`", (ROOT / page).read_text()
        )
        if not (ROOT / path).exists()
    ]
    assert missing == []


def test_the_demo_shows_both_outputs() -> None:
    run = subprocess.run(
        [str(ROOT / "scripts/demo")], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "+    %c5_i32 = arith.constant 5 : i32" in run.stdout
    assert "apply-pattern (AddIAddConstant)" in run.stdout
