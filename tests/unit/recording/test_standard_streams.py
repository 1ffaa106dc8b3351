"""Standard streams that are closed, or on a full disk."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.fakes.recording.recordings import Action, write_recording
from tests.paths import COMMAND

pytestmark = pytest.mark.slow

FULL = "The output cannot be written (No space left on device): free disk space, or redirect it.\n"
LINES = (
    "log run.adbrec",
    "query run.adbrec 'from actions'",
    "open run.adbrec -nx -ex start --batch",
    "stat run.adbrec",
    "export --parquet bucket run.adbrec",
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_recording("run.adbrec", [Action("canonicalize", "pass-execution")])


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", f"{COMMAND} {line}"], capture_output=True, text=True)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_full_disk_is_reported_in_one_sentence(
    line: str, unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    done = shell(f"{line} > /dev/full")
    assert (done.returncode, done.stderr.removeprefix("actiondbg: ")) == (1, FULL)


@pytest.mark.parametrize("line", LINES[:3])
def test_closed_streams_are_accepted(line: str) -> None:
    for closed in (">&-", "<&- >&-", "<&-"):
        done = shell(f"{line} {closed}")
        assert (done.returncode, done.stderr) == (0, "")
