"""Wheels with an MLIR of their own: scripts/test --wheels."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import ToolGone
from actiondbg.recording import open_recording
from tests.paths import COMMAND, INPUTS, ROOT

LINES = (ROOT / "scripts/wheels.txt").read_text().splitlines()
NAMES = [line.split()[0] for line in LINES if line and not line.startswith("#")]
REFUSED = {  # what is said of the MLIR in these
    "cannbot-0.7": "is stripped of the names of MLIR's functions",
    "concrete-2.11": "has an MLIR before LLVM 17, which has no actions",
    "cutlass-4.8": "is stripped of the names of MLIR's functions",
}
pytestmark = pytest.mark.all_tools


@pytest.fixture
def command(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """A Python with the wheel, and a program that compiles with it."""
    name = str(request.param)
    python = ROOT / ".venv-tools/wheels" / name / "bin/python"
    if not (python.parent.parent / "installed").exists():
        pytest.skip(f"scripts/setup-wheels {name} installs it")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    word = name.split("-")[0]
    program = INPUTS / "wheels" / f"{word}_program.py"
    if program.exists():
        return [str(python), str(program)]
    return [str(python), str(INPUTS / "wheels/bindings_program.py"), word]


observed = pytest.mark.parametrize(
    "command", [name for name in NAMES if name not in REFUSED], indirect=True
)


def _recorded(
    command: list[str], tmp_path: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    """Record a program, which does what it does alone."""
    alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    record = [COMMAND, "record", *options, "-o", str(tmp_path / "run.adbrec"), "--", *command]
    done = subprocess.run(record, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, alone)
    return done


@observed
@pytest.mark.parametrize("options", [(), ("--checks",)])
def test_a_program_is_recorded(
    command: list[str], options: tuple[str, ...], tmp_path: Path
) -> None:
    """Something was seen, in a process of it."""
    _recorded(command, tmp_path, *options)
    assert sum(open_recording(file).count for file in tmp_path.glob("*.adbrec")) > 0


@observed
def test_a_program_is_debugged(command: list[str]) -> None:
    """It stops at a pass, which has IR and a stack, and ends as without one skipped."""
    with actiondbg.launch(command) as session:
        first = session.breakpoints.add("pass:*", temporary=True)
        stop = session.run()
        assert (stop.reason, first.id) == ("breakpoint", 1)
        assert session.stack[0].ordinal == stop.ordinal
        assert "module" in session.ir.print("module").text
        hello = session.target.hello
        assert hello is not None
        # The linker has left functions for them out of some others.
        if Path(command[1]).stem in ("circt_program", "jax_program", "triton_program"):
            assert {"outcomes", "changes", "cursor"} <= hello.capabilities
        stop = session.next()
        assert stop.when == "after"
        assert stop.outcome is not None
        # Without it the others work, too.
        session.breakpoints.add("pass:canonicalize", temporary=True)
        stop = session.continue_()
        if stop.status is None:
            stop = session.skip()
        while stop.status is None:
            stop = session.continue_()
        assert stop.status == 0


@pytest.mark.parametrize(
    "command", [name for name in NAMES if name.startswith("triton-")], indirect=True
)
def test_a_program_goes_back(command: list[str]) -> None:
    """Its pass managers write reproducers: some versions run their passes in another thread."""
    with actiondbg.launch(command) as session:
        session.breakpoints.add("pass:*")
        session.run()
        stop = session.continue_()
        text = session.ir.print("module").text
        after = session.continue_()
        back = session.timeline.reverse_continue()
        assert (back.ordinal, session.ir.print("module").text) == (stop.ordinal, text)
        assert session.continue_().ordinal == after.ordinal


@pytest.mark.parametrize(
    "command", [name for name in NAMES if name.startswith("jax-")], indirect=True
)
def test_a_program_ends_after_it_has_gone_back(command: list[str]) -> None:
    """A fork lacks the threads of its pools, which some versions join at the end."""
    with actiondbg.launch(command) as session:
        session.breakpoints.add("pass:*", temporary=True)
        session.run()
        session.next()
        with contextlib.suppress(ToolGone):  # the way back may need another thread, too
            session.timeline.reverse_step()
        stop = session.continue_()
        assert stop.status is not None
        endings = {0: "", -signal.SIGKILL: "has only one of its threads"}
        assert endings[stop.status] in str(stop.message)


@pytest.mark.parametrize(("command", "why"), REFUSED.items(), indirect=["command"])
def test_a_program_runs_unobserved(command: list[str], why: str, tmp_path: Path) -> None:
    """One sentence names the library and what is wrong with it."""
    done = _recorded(command, tmp_path)
    assert done.stderr.count("actiondbg:") == 1
    assert why in done.stderr
    assert not list(tmp_path.glob("*.adbrec"))
