"""``actiondbg log`` in a terminal: colours and the pager."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pexpect
import pytest

from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock
from tests.fakes.recording.recordings import (
    fake_recording,
)
from tests.paths import COMMAND

BUILDS = LIBRARY


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, "log", *map(str, words)], capture_output=True, text=True)


# --- the command ---------------------------------------------------------------------------


@pytest.mark.parametrize("pager", ["no-such-pager -R", ""])
def test_missing_pager_hides_no_log(tmp_path: Path, pager: str) -> None:
    path = fake_recording(tmp_path / "run.adbrec", 100)
    # Without PAGER it is less, which is not in that PATH either.
    environment = {**os.environ, "PAGER": pager, "PATH": str(tmp_path), "TERM": "xterm"}
    (tmp_path / "sh").symlink_to("/bin/sh")
    words = ["log", "--no-color", str(path)]
    child: pexpect.spawn[str] = pexpect.spawn(
        COMMAND, words, env=environment, encoding="utf-8", timeout=60
    )
    log = child.read()
    child.close()
    lines = log.splitlines()
    told = lines.pop(0) if pager else ""
    assert ("The pager 'no-such-pager' was not found, the output is not paged" in told) == bool(
        pager
    )
    assert (child.exitstatus, lines) == (0, run(path).stdout.splitlines())


@pytest.fixture
def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return stock.write("mixed.mlir", stock.MIXED)


# --- a run ------------------------------------------------------------------------------


def test_a_terminal_has_colours_and_a_pager(mlir_opt: str, mixed: str) -> None:
    environment = {**os.environ, "PAGER": "sed 's/^/| /'", "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    words = ["log", "--", mlir_opt, mixed, "--canonicalize"]
    for more, outcome in (([], "\x1b[31mfailed     \x1b[39m"), (["--no-color"], "failed     ")):
        child: pexpect.spawn[str] = pexpect.spawn(
            COMMAND, [words[0], *more, *words[1:]], env=environment, encoding="utf-8", timeout=60
        )
        text = child.read()
        child.close()
        assert child.exitstatus == 0
        assert any(line.startswith(f"| #3       t0  {outcome}") for line in text.splitlines())
