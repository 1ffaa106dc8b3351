"""Every compiler writes byte for byte what it writes alone: attached, counted, and recorded."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording import open_recording
from tests.paths import COMMAND
from tests.tool.targets.run_lines import Command, commands
from tests.tool.targets.targets import TARGETS

# What a compiler keeps for itself between runs; the code for a processor that XLA's threads emit,
# in which the names of functions differ from one run to the next.
_CACHES = {"cache"}
_UNSTABLE = {".ll", ".o"}


@dataclass(frozen=True)
class Written:
    """All that a command wrote."""

    stdout: bytes
    stderr: bytes
    status: int
    files: dict[str, bytes]


def _files(directory: Path) -> dict[str, bytes]:
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    names = {path: path.relative_to(directory) for path in paths}
    return {
        str(name): path.read_bytes()
        for path, name in names.items()
        if name.parts[0] not in _CACHES and name.suffix not in _UNSTABLE
    }


def _run(argv: list[str], command: Command, directory: Path) -> Written:
    directory.mkdir()
    done = subprocess.run(argv, capture_output=True, cwd=directory, env=command.target.env())
    return Written(done.stdout, done.stderr, done.returncode, _files(directory))


def _attached(command: Command, directory: Path, counts: bool) -> tuple[Written, int]:
    """Return what it writes with the agent in it, and how many actions there were.

    Args:
        command: the command.
        directory: made for what it writes.
        counts: whether outcomes are counted, and a condition is evaluated for each action.
    """
    directory.mkdir()
    env = command.target.env()
    with actiondbg.launch(command.argv, cwd=directory, env=env) as session:
        if counts:
            session.options.count_actions = True
            session.breakpoints.add("pattern:*", condition="depth > 1000", outcome="succeeded")
        stop = session.run()
        actions = stop.actions or 0
        while stop.status is None:
            stop = session.continue_()
            actions += stop.actions or 0
        written = session.target.output().encode(), session.target.errors().encode(), stop.status
        return Written(*written, _files(directory)), actions


EACH = [(target, command) for target in TARGETS.values() for command in commands(target)]
CASES = [pytest.param(command, id=command.name, marks=target.marks) for target, command in EACH]


@pytest.mark.parametrize("command", CASES)
def test_output_is_byte_identical(command: Command, tmp_path: Path) -> None:
    alone = _run(command.argv, command, tmp_path / "alone")
    attached, actions = _attached(command, tmp_path / "attached", counts=False)
    assert attached == alone
    counted, _ = _attached(command, tmp_path / "counted", counts=True)
    assert counted == alone
    recording = tmp_path / "run.adbrec"
    record = [COMMAND, "record", "--quiet", "-o", str(recording), "--", *command.argv]
    assert _run(record, command, tmp_path / "recorded") == alone
    # A program that compiles in several processes has a recording of each.
    recorded = sum(open_recording(path).count for path in tmp_path.glob("run*.adbrec"))
    assert (recorded > 0) == (actions > 0)
    if command.target.inputs == "mlir":  # with threads, others have a few more or fewer
        assert recorded == actions


def test_inputs_are_as_many_as_promised() -> None:
    """A file whose RUN lines are not found would not be missed otherwise."""
    counts = {target.name: len(commands(target)) for target in TARGETS.values()}
    assert counts["mlir-opt"] >= 40 and counts["torch-mlir"] >= 1
    assert counts["triton"] >= 3 and counts["jax"] >= 3
    assert len({command.source for command in commands(TARGETS["iree"])}) >= 10
