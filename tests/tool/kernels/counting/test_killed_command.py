"""A counted program does not outlive the command."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.paths import COMMAND
from tests.processes import is_alive, wait_until


def test_the_program_is_killed_with_the_command(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    program = ["sh", "-c", f"echo $$ > {started}.new; mv {started}.new {started}; exec sleep 100"]
    command = subprocess.Popen([COMMAND, "kernels", "count", "--", *program], cwd=tmp_path)
    wait_until(started.exists)
    pid = int(started.read_text())
    command.kill()
    command.wait()
    wait_until(lambda: not is_alive(pid))
