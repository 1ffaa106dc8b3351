"""Python programs that fork, use multiprocessing, start programs or become another one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording import open_recording
from tests.paths import COMMAND, INPUTS
from tests.processes import descendants
from tests.tool.targets.targets import TARGETS

TARGET = TARGETS["triton"]
pytestmark = TARGET.marks

# The kernels of each recording, in the order of the processes' first contexts.
MODES = {
    "fork-before": [["add"], ["softmax"]],
    "fork-after": [["softmax"], ["add"]],
    "pool-fork": [["add"], ["softmax"]],
    "pool-spawn": [["add"], ["softmax"]],
    "pool-forkserver": [["add"], ["softmax"]],
    "program-before": [["add"], ["softmax"]],
    "program-after": [["softmax"], ["add"]],
    "exec": [["softmax"], ["add"]],
}
SESSIONS = ["fork-before", "fork-after", "pool-fork", "exec"]


def _argv(mode: str) -> list[str]:
    return [str(TARGET.programs["python"]), str(INPUTS / "tools/triton/processes.py"), mode]


def _written(directory: Path) -> dict[str, bytes]:
    kinds = (".ttir", ".ttgir", ".llir", ".ptx")
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix in kinds}


def _kernels(path: Path) -> list[str]:
    recording = open_recording(path)
    assert recording.cut is None
    assert recording.ending.ended == "exit"
    functions = recording.table("actions", ["function"])["function"].unique().to_pylist()
    return sorted(name for name in functions if name in ("add", "softmax"))


@pytest.mark.parametrize("mode", MODES)
def test_recordings_of_its_processes(mode: str, tmp_path: Path) -> None:
    alone, recorded = tmp_path / "alone", tmp_path / "recorded"
    for directory, front_end in (
        (alone, []),
        (recorded, [COMMAND, "record", "-o", "run.adbrec", "--"]),
    ):
        directory.mkdir()
        subprocess.run(
            [*front_end, *_argv(mode)], cwd=directory, env=TARGET.env(), check=True, timeout=120
        )
    assert _written(recorded) == _written(alone)
    assert {"add.ptx", "softmax.ptx"} <= _written(alone).keys()
    names = ["run.adbrec", *(f"run.p{number}.adbrec" for number in range(1, len(MODES[mode])))]
    assert sorted(path.name for path in recorded.glob("*.adbrec")) == names
    assert [_kernels(recorded / name) for name in names] == MODES[mode]


@pytest.mark.parametrize("mode", SESSIONS)
def test_a_session_with_its_processes(mode: str, tmp_path: Path) -> None:
    with actiondbg.launch(_argv(mode), cwd=tmp_path, env=TARGET.env()) as s:
        s.breakpoints.add("pass:tritongpu-coalesce")
        found: list[str] = []
        stop = s.run()
        while stop.when != "exit":
            found.append(stop.name)
            stop = s.continue_()
        assert stop.status == 0
        assert found == ["tritongpu-coalesce"] * 2
        assert [process.state for process in s.processes] == ["exited"] * 2
        pid = s.processes[0].pid
    assert not descendants(pid)
