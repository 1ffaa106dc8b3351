"""Recording with closed standard streams, and in a directory that is gone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import LIBRARY
from tests.fakes.recording.recordings import Action, write_recording
from tests.paths import COMMAND

BUILDS = LIBRARY


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_recording("run.adbrec", [Action("canonicalize", "pass-execution")])


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", f"{COMMAND} {line}"], capture_output=True, text=True)


def test_a_pipe_that_is_closed(mlir_opt: str, folds: str) -> None:
    """The tool is killed while it prints, when its actions are over."""
    shell(f"record -q -o all.adbrec -- {mlir_opt} {folds} --canonicalize -o all.mlir")
    reader, writer = os.pipe()
    os.close(reader)
    line = [COMMAND, "record", "-q", "-o", "cut.adbrec", "--", mlir_opt, folds, "--canonicalize"]
    cut = subprocess.run(line, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert "killed by SIGPIPE" in cut.stderr
    counts = [
        shell(f"query --format csv {name}.adbrec 'select count(*) from actions'").stdout
        for name in ("all", "cut")
    ]
    assert counts[0] == counts[1] != ""


def test_a_directory_that_is_gone(mlir_opt: str, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    line = f"cd gone; rmdir ../gone; {COMMAND} {mlir_opt} a.mlir"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("actiondbg: The current directory has been removed")


RECORD = "record -q -o out.adbrec"
RUN = "-nx --batch --return-child-result -ex run"


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&-", "<&- >&-"])
@pytest.mark.parametrize(("command", "source"), [(RECORD, "-"), (RECORD, ""), (RUN, "")])
def test_a_closed_stream_is_closed_for_the_tool(
    mlir_opt: str, folds: str, command: str, source: str, streams: str
) -> None:
    """Else the recording would be in its place, and the tool print into it."""
    tool = f"{mlir_opt} {source or folds} --canonicalize {streams}"
    if source and "<&-" not in streams:
        tool += f" < {folds}"
    alone = subprocess.run(["sh", "-c", tool], capture_output=True, text=True)
    done = shell(f"{command} -- {tool}")
    assert done.returncode == alone.returncode
    assert alone.stderr in done.stderr


def test_the_recording_is_not_in_place_of_a_closed_stream(mlir_opt: str, folds: str) -> None:
    shell(f"{RECORD} -- {mlir_opt} {folds} --canonicalize <&- >&- 2>&-")
    assert shell("query out.adbrec 'select count(*) > 3 as n from actions'").returncode == 0
