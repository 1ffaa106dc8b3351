"""docs/trace.md: its commands are run, and it names all that there is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.commands.cli.trace import run
from actiondbg.recording.trace.options import SUFFIXES
from actiondbg.recording.trace.writer import write_trace
from tests.elements import some
from tests.fakes.recording.recordings import fake_recording
from tests.fakes.recording.traces import chrome_slices, read_json
from tests.fakes.trace_engine import Engine, find_engine
from tests.paths import ROOT

PAGE = (ROOT / "docs/trace.md").read_text()
WORDS = set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", PAGE, flags=re.S | re.M)))


def _blocks(language: str) -> list[str]:
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
    return "".join(map(str, blocks)).splitlines()


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands of the page were run."""
    shutil.copy(ROOT / "examples/fold.mlir", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    for command in _blocks("sh"):
        subprocess.run(command, shell=True, check=True)
    return tmp_path


def test_the_commands_work(traced: Path) -> None:
    for name in ("run.pftrace", "run.json.gz", "all.json", "sums.pftrace", "run.tracy.json"):
        assert (traced / name).stat().st_size
    kept = chrome_slices(read_json(traced / "all.json"))
    assert [each.ordinal for each in kept] == list(range(1, len(kept) + 1))


@pytest.mark.skipif(find_engine() is None, reason="Perfetto's trace processor is not installed")
def test_the_queries_work(traced: Path) -> None:
    with Engine(traced / "run.pftrace") as engine:
        for query in some(_blocks("sql")):
            assert engine.ask(query), query


def test_formats_and_options_are_documented(tmp_path: Path) -> None:
    named = {word.split()[0] for word in WORDS}
    actions = run.build_parser()._actions  # pyright: ignore[reportPrivateUsage]
    options = [set(action.option_strings) for action in actions if action.option_strings]
    known = {"--help", "--randomize", "--partial", "--output", "--quiet"}
    assert [each for each in options if not each & (named | known)] == []
    assert len(options) > 5
    assert SUFFIXES.keys() <= WORDS
    recording = fake_recording(tmp_path / "run.adbrec", actions=2000, killed=True)
    write_trace(recording, str(tmp_path / "a.json"), "chrome")
    slices = chrome_slices(read_json(tmp_path / "a.json"))
    assert {name for each in slices for name in each.arguments} <= WORDS
