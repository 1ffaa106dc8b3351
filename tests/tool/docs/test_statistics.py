"""docs/stat.md: its commands are run, and it names all that there is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.commands.cli.stat import run
from actiondbg.recording import open_recording
from actiondbg.recording.statistics.run_measurement import MeasuredSelection, measure
from actiondbg.recording.statistics.samples import write_csv
from actiondbg.statistics.events import KNOWN
from tests.elements import some
from tests.fakes.recording.recordings import Action, write_recording
from tests.paths import ROOT

DOCS = (ROOT / "docs/stat.md").read_text()
WORDS = set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", DOCS, flags=re.S)))


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", DOCS, re.M | re.S)
    return "".join(map(str, blocks)).splitlines()


def test_commands_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "examples/fold.mlir", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    assert len(commands()) > 5
    for command in commands():
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)
    assert (tmp_path / "raw/samples.csv").exists()


def test_options_are_named() -> None:
    named = {word.split()[0] for word in WORDS} | set(DOCS.split())
    actions = run.build_parser()._actions  # pyright: ignore[reportPrivateUsage]
    options = [set(action.option_strings) for action in actions if action.option_strings]
    assert len(options) > 10
    known = {"--help", "--randomize", "--partial"}
    assert [each for each in options if not each & (named | known)] == []


def test_events_are_named() -> None:
    assert {event.name for event in KNOWN.values() if event.kind != "cache"} <= WORDS


def test_columns_and_fields_are_named(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.adbrec", [Action("A", samples=[1])], events=["cs"])
    found = measure(open_recording(path), MeasuredSelection())
    header = write_csv(found.samples, tmp_path).read_text().splitlines()[0].replace('"', "")
    for word in some([*header.split(",")[:-1], *found.as_json()]):
        assert word in WORDS, word
