"""Programs whose debugger is killed: nothing of them is left; after their own end, daemons are."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording.capture.recorder import start_recording
from scripts.benchmarks.inputs import additions
from tests.paths import COMMAND
from tests.processes import is_alive

FRONT_ENDS = {
    "session": ["-nx", "--batch", "-ex", "run", "--"],
    "record": ["record", "--quiet", "-o", "run.adbrec", "--"],
}
# Leaves the process group, the parent, and all of its environment but LD_PRELOAD.
DAEMON = """(env -i LD_PRELOAD="$LD_PRELOAD" \\
  setsid sh -c 'exec sleep 1000' < /dev/null > /dev/null 2>&1 &)"""


@pytest.fixture
def script(mlir_opt: str, tmp_path: Path) -> Path:
    """A script that runs three tools, each for a while, and starts a daemon before the second.

    Then it runs its argument, ``sleep`` or ``true``.
    """
    source = additions(tmp_path / "many.mlir", 2000)
    tool = f"{mlir_opt} {source} --canonicalize --cse -o"
    path = tmp_path / "build.sh"
    path.write_text(
        f"{tool} 0.mlir\n{DAEMON}\n{tool} 1.mlir\n(sh -c '{tool} 2.mlir; true')\n$1 1000\n"
    )
    return path


def processes_in(directory: Path) -> list[int]:
    """Return the processes that run in a directory."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").resolve() == directory:
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if is_alive(pid)]


def wait_for_the_end_in(directory: Path) -> None:
    deadline = time.monotonic() + 30
    while left := processes_in(directory):
        assert time.monotonic() < deadline, f"processes are left: {left}"
        time.sleep(0.05)


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_killed_debugger_leaves_nothing_of_a_program(
    front_end: str, script: Path, tmp_path: Path
) -> None:
    directory = (tmp_path / "run").resolve()
    directory.mkdir()
    argv = [COMMAND, *FRONT_ENDS[front_end], "bash", str(script)]
    begin = time.monotonic()
    subprocess.run([*argv, "true"], cwd=directory, check=True, capture_output=True)
    duration = time.monotonic() - begin
    # The daemon runs on after the program's own end.
    (daemon,) = processes_in(directory)
    os.kill(daemon, signal.SIGKILL)
    for part in (0.3, 0.6, 0.9, 1.2):
        with subprocess.Popen(
            [*argv, "sleep"], cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(part * duration)
            process.send_signal(signal.SIGKILL if part != 0.6 else signal.SIGTERM)
        wait_for_the_end_in(directory)
    known = {"0.mlir", "1.mlir", "2.mlir", "run.adbrec", "run.p1.adbrec", "run.p2.adbrec"}
    assert {path.name for path in directory.iterdir()} <= known


def test_a_closed_session_leaves_nothing_of_a_program(script: Path, tmp_path: Path) -> None:
    directory = (tmp_path / "run").resolve()
    directory.mkdir()
    with actiondbg.launch(["bash", str(script), "sleep"], cwd=directory) as s:
        s.breakpoints.add("pass:cse")
        assert s.run().name == "cse"
        s.continue_()
        assert len(processes_in(directory)) > 2
    wait_for_the_end_in(directory)


def test_a_closed_recording_leaves_nothing_of_a_program(script: Path, tmp_path: Path) -> None:
    directory = (tmp_path / "run").resolve()
    directory.mkdir()
    with start_recording(["bash", str(script), "sleep"], tmp_path / "run.adbrec", cwd=directory):
        deadline = time.monotonic() + 30
        while not (tmp_path / "run.p1.adbrec").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(processes_in(directory)) > 2
    wait_for_the_end_in(directory)
    assert not (directory / "2.mlir").exists()
