"""A counted program does not outlive the command."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.paths import COMMAND

_SECONDS = 20.0


def test_the_program_is_killed_with_the_command(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    program = ["sh", "-c", f"echo $$ > {started}.new; mv {started}.new {started}; exec sleep 100"]
    command = subprocess.Popen([COMMAND, "kernels", "count", "--", *program], cwd=tmp_path)
    _wait_until(started.exists)
    pid = int(started.read_text())
    command.kill()
    command.wait()
    _wait_until(lambda: not _runs(pid))


def _runs(pid: int) -> bool:
    """Whether a process runs: one that has ended may wait for its new parent."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def _wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + _SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
