"""What a user sees, compared byte for byte with the transcripts that are kept.

When a text is changed on purpose, write the transcripts anew and read the difference:

    pytest tests/golden --update-golden
    git diff tests/golden/transcripts

A scenario is declared in scenarios; transcript.py replaces what varies between runs.
"""

from __future__ import annotations

import difflib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from scenarios import SCENARIOS, SUBCOMMANDS, Scenario, documented_commands
from transcript import ROOT, TOOLS, transcribe

HERE = Path(__file__).resolve().parent
TRANSCRIPTS = HERE / "transcripts"
_WRITTEN_WITH = (3, 11)  # the Python version of the transcripts


@pytest.fixture
def directory() -> Iterator[Path]:
    """A new directory with the inputs, an empty home and an empty cache."""
    if not (TOOLS / "mlir-opt").exists():
        pytest.skip("mlir-opt of PyPI is not installed (scripts/setup)")
    # Not tmp_path: its name has a length that varies, which the width of tables depends on.
    with tempfile.TemporaryDirectory(prefix="golden-") as name:
        directory = Path(name).resolve()
        for folder in ("work", "home", "tmp", "cache/actiondbg"):
            (directory / folder).mkdir(parents=True)
        for inputs in (HERE / "inputs", ROOT / "examples"):
            shutil.copytree(inputs, directory / "work", dirs_exist_ok=True)
        yield directory


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_transcript(scenario: Scenario, directory: Path, request: pytest.FixtureRequest) -> None:
    file = TRANSCRIPTS / f"{scenario.name}.txt"
    seen = transcribe(scenario, directory)
    if request.config.getoption("--update-golden", default=False):
        file.write_text(seen, encoding="utf-8")
        return
    kept = file.read_text(encoding="utf-8") if file.exists() else ""
    if "usage: actiondbg" in kept and sys.version_info[:2] != _WRITTEN_WITH:
        pytest.skip("argparse words its help and errors differently in each Python version")
    difference = difflib.unified_diff(
        kept.splitlines(), seen.splitlines(), f"kept {file.name}", "seen now", lineterm=""
    )
    if seen != kept:
        pytest.fail("\n".join(difference), pytrace=False)


def test_no_transcript_is_without_a_scenario() -> None:
    names = [scenario.name for scenario in SCENARIOS]
    assert len(set(names)) == len(names)
    assert {file.stem for file in TRANSCRIPTS.iterdir()} == set(names)


def test_each_command_is_in_a_scenario() -> None:
    """``help`` of a command does not count."""
    typed = [one for scenario in SCENARIOS for step in scenario.steps for one in [step.commands]]
    typed += [file.read_text() for file in (HERE / "inputs").glob("*.adbg")]
    lines = [line.strip() for text in typed for line in text.splitlines()]
    missing = [
        name
        for name in documented_commands()
        if not any(f"{line} ".startswith(f"{name} ") for line in lines)
    ]
    assert len(documented_commands()) > 70
    assert not missing


def test_each_subcommand_is_in_a_scenario() -> None:
    run = [step.command for scenario in SCENARIOS for step in scenario.steps]
    for name in SUBCOMMANDS:
        assert any(command.startswith(f"actiondbg {name} ") for command in run), name
