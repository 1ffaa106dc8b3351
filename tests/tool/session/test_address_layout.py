"""The address space layout of the tool: the same in each run, or random."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.log.tally import Tally
from tests.elements import some
from tests.fakes import command_line
from tests.fakes.branches import PASS, last_printed, write_branches
from tests.fakes.privileges import without_personality
from tests.paths import COMMAND

Launch = Callable[..., actiondbg.Session]
RUNS = 12
MOST_RUNS = 60  # outputs differ after a few, seldom after 12


@pytest.fixture
def branches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return write_branches(Path("branches.mlir"))


def mappings(session: actiondbg.Session) -> list[str]:
    """Start the tool; return the addresses of what is mapped before its first action."""
    session.start()
    lines = Path(f"/proc/{session.target.pid}/maps").read_text().splitlines()
    return [line.split()[0] for line in lines if line.endswith(("[heap]", "[stack]", ".so.6"))]


def test_each_run_has_the_same_layout(launch: Launch) -> None:
    first, second = launch(), launch()
    assert first.options.disable_randomization
    assert mappings(first) == mappings(second) == mappings(first)


def test_randomisation_is_a_setting_of_the_next_start(launch: Launch) -> None:
    session = launch()
    fixed = mappings(session)
    session.options.disable_randomization = False
    randomized = mappings(session)
    assert randomized != fixed
    assert mappings(session) != randomized
    session.options.disable_randomization = True
    assert mappings(session) == fixed


def test_our_own_layout_is_kept(launch: Launch) -> None:
    before = Path("/proc/self/personality").read_text()
    launch().start()
    assert Path("/proc/self/personality").read_text() == before


def printed(tool: str, source: str, *options: str) -> str:
    """Debug the tool; return the value that its output prints last."""
    words = ["--batch", "-nx", *options, "-ex", "run", tool, source, PASS]
    return last_printed(command_line.run(*words, check=True).stdout)


def differs(tool: str, source: str, *options: str) -> bool:
    """Whether the outputs of the debugged tool differ."""
    first = printed(tool, source, *options)
    return any(printed(tool, source, *options) != first for _ in range(MOST_RUNS))


def test_a_bug_that_depends_on_addresses_is_the_same_in_each_run(
    mlir_opt: str, branches: str
) -> None:
    assert len({printed(mlir_opt, branches) for _ in range(RUNS)}) == 1
    assert differs(mlir_opt, branches, "--randomize")
    assert differs(mlir_opt, branches, "-ex", "set disable-randomization off")


def test_recordings_of_it_have_the_same_actions(mlir_opt: str, branches: str) -> None:
    counts: set[int] = set()
    for number in some(range(RUNS)):
        done = record([mlir_opt, branches, PASS], f"{number}.adbrec", stdout=subprocess.DEVNULL)
        assert done.path is not None
        tally = Tally(done.path)
        tally.update()
        counts.add(tally.actions)
    assert len(counts) == 1


def test_a_kernel_that_refuses_is_reported_once(branches: str) -> None:
    words = [COMMAND, "--batch", "-nx", "-ex", "run", "-ex", "run", "mlir-opt", branches]
    done = without_personality(*words)
    assert done.returncode == 0
    assert done.stdout.count("The tool ended with status 0") == 2
    assert done.stderr.count("Address randomisation could not be turned off (Operation not") == 1
    randomized = without_personality(COMMAND, "log", "--randomize", "mlir-opt", branches)
    assert "Address randomisation could not be turned on" in randomized.stderr
    assert (randomized.returncode, "Traceback" in randomized.stderr) == (0, False)
