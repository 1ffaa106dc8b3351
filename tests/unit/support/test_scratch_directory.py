"""Scratch directories do not remain, whenever their owner is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from actiondbg.support.scratch_directory import make_directory, remove_directory, remove_stale

OLD = 3600.0  # seconds

# Makes a directory with many files, says so, and begins to remove it.
REMOVING = """
from actiondbg.support.scratch_directory import make_directory, remove_directory
made = make_directory()
for number in range(20_000):
    (made / f"print-{number}").touch()
print(made, flush=True)
remove_directory(made)
"""


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)


def made_long_ago(directory: Path) -> Path:
    then = time.time() - OLD
    os.utime(directory, (then, then))
    return directory


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.05, 0.1])
def test_a_removal_that_is_killed_is_ended_by_a_later_one(tmp_path: Path, delay: float) -> None:
    child = subprocess.Popen([sys.executable, "-c", REMOVING], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    made = Path(child.stdout.readline().strip())
    assert made.parent == tmp_path
    time.sleep(delay)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    if made.exists() and not any(made.iterdir()):
        made_long_ago(made)  # killed between the last two steps
    remove_stale(tmp_path)
    assert not made.exists()


def test_a_directory_whose_owner_file_was_not_written_is_removed(tmp_path: Path) -> None:
    unwritten, foreign = tmp_path / "actiondbg-1", tmp_path / "actiondbg-2"
    for folder in (unwritten, foreign):
        folder.mkdir()
    (unwritten / "pid").touch()
    (foreign / "pid").write_text("of another program")
    remove_stale(tmp_path)
    assert unwritten.exists()  # it may be just being made
    for folder in (unwritten, foreign):
        made_long_ago(folder)
    remove_stale(tmp_path)
    assert not unwritten.exists()
    assert (foreign / "pid").read_text() == "of another program"


def test_a_directory_is_removed_while_others_write_into_it() -> None:
    made = make_directory()
    end = time.monotonic() + 0.05

    def write() -> None:
        number = 0
        while time.monotonic() < end:
            try:
                (made / f"print-{(number := number + 1)}").touch()
            except OSError:
                return

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    remove_directory(made)
    for writer in writers:
        writer.join()
    assert not made.exists()
