"""A debugger that is killed leaves no process, and no file that the tool did not write."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import PYPI
from tests.paths import COMMAND
from tests.processes import descendants, kill_family, wait_for_end
from tests.tool.targets.scene import Scene, scene_of
from tests.tool.targets.targets import TARGETS

FRONT_ENDS = {
    "session": ["-nx", "--batch", "-ex", "run", "--tool-stdout", os.devnull, "--"],
    "record": ["record", "--quiet", "-o", "run.adbrec", "--"],
}
# Of the duration of the whole run.
PARTS = [0.3, 0.6, 0.9]


def _argv(scene: Scene, directory: Path) -> list[str]:
    argv = scene.long(directory)
    return argv if scene.is_program else [*argv, "-o", "out.mlir"]


def _written(directory: Path) -> dict[str, bytes]:
    """Return the files that the tool writes; the recording is the debugger's."""
    ours = {".adbrec", ".cache"}
    files = (path for path in directory.glob("*") if path.is_file() and path.suffix not in ours)
    return {path.name: path.read_bytes() for path in files}


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize(
    "name", [pytest.param(target.name, marks=target.marks) for target in TARGETS.values()]
)
def test_a_killed_debugger_leaves_nothing(name: str, front_end: str, tmp_path: Path) -> None:
    scene = scene_of(name)
    argv = [COMMAND, *FRONT_ENDS[front_end], *_argv(scene, tmp_path)]
    env = scene.target.env()
    whole = tmp_path / "whole"
    whole.mkdir()
    begin = time.monotonic()
    subprocess.run(argv, cwd=whole, env=env, check=True, stdout=subprocess.DEVNULL)
    duration = time.monotonic() - begin
    expected = _written(whole)
    assert bool(expected) == (name not in ("jax", "catalyst"))  # which print what they make
    for part in PARTS:
        directory = tmp_path / str(part)
        directory.mkdir()
        with subprocess.Popen(
            argv, cwd=directory, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(part * duration)
            family = descendants(process.pid)
            process.send_signal(signal.SIGKILL)
        wait_for_end(family)
        # There may be no file yet.
        written = _written(directory)
        assert [file for file in written if not expected[file].startswith(written[file])] == []


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_killed_debugger_leaves_no_tool_that_waits_for_its_input(
    front_end: str, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "in.mlir")
    argv = [COMMAND, *FRONT_ENDS[front_end], str(PYPI / "mlir-opt"), "in.mlir"]
    with subprocess.Popen(
        argv, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        tool = _process_of("mlir-opt", process.pid)
        time.sleep(0.2)  # from its start to the open of its input
        process.kill()
    try:
        wait_for_end([tool])
    finally:
        kill_family(tool)


def _process_of(name: str, parent: int) -> int:
    """Wait for a child with a name; return its pid."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for pid in descendants(parent):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text().strip() == name:
                    return pid
        time.sleep(0.01)
    raise AssertionError(f"{name} has not been started")
