"""Programs with several MLIRs of different versions in one process."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording import open_recording
from actiondbg.session.session import Session
from tests.paths import INPUTS, ROOT
from tests.tool.targets.targets import TARGETS

PROGRAM = str(INPUTS / "tools/two_mlirs.py")
FILES = {"iree": "libIREECompiler.so", "triton": "libtriton.so"}
ACTIONDBG = str(ROOT / ".venv/bin/actiondbg")
PYTHON = str(TARGETS["triton"].programs["python"])
pytestmark = TARGETS["triton"].marks


@pytest.fixture(autouse=True)
def _packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Triton's Python finds IREE, too, and writes files into a folder of the test."""
    monkeypatch.setenv("PYTHONPATH", sysconfig.get_path("purelib"))
    monkeypatch.chdir(tmp_path)


def _argv(*mlirs: str) -> list[str]:
    return [PYTHON, PROGRAM, *mlirs]


def _recorded(*mlirs: str) -> Counter[tuple[str, ...]]:
    """Return the number of actions by MLIR, tag, name and outcome; the output is a plain run's."""
    argv = _argv(*mlirs)
    plain = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    record = [ACTIONDBG, "record", "-o", "run.adbrec", "--", *argv]
    done = subprocess.run(record, capture_output=True, text=True, check=True)
    assert done.stdout == plain
    columns = ("mlir", "tag", "name", "outcome")
    actions = open_recording(Path("run.adbrec")).table("actions", columns)
    return Counter(zip(*(actions[name].to_pylist() for name in columns), strict=True))


def test_all_are_recorded() -> None:
    """A program with both has the actions of the programs with one."""
    alone = {name: _recorded(name, name) for name in FILES}
    both = _recorded("iree", "triton", "iree", "triton")
    assert {mlir for mlir, *_ in both} == set(FILES.values())
    assert both == alone["iree"] + alone["triton"]


@pytest.mark.parametrize("order", [("iree", "triton"), ("triton", "iree")])
def test_stops_name_the_mlir(order: tuple[str, str]) -> None:
    """Each MLIR has stops, with its own IR, outcomes and changes, whatever ran before."""
    first, second = order
    with actiondbg.launch(_argv(*order, *order)) as session:
        for name in (second, first, second):
            session.breakpoints.add(f"pass:cse and mlir:{FILES[name]}", temporary=True)
            _expect_cse(session, name)
        session.breakpoints.add("pass:cse", condition="mlir ~ '*.none'")
        assert session.continue_().status == 0


def _expect_cse(session: Session, name: str) -> None:
    stop = session.run() if session.stop is None else session.continue_()
    assert (stop.name, stop.when) == ("cse", "before")
    text = session.ir.print("module").text
    assert f"@{name}" in text and text.count("arith.addi") == 2
    stop = session.next()
    assert stop.mlir == FILES[name] or len(session.contexts) == 1
    assert "erased" in [change.kind for change in stop.changes]
    assert session.ir.print("module").text.count("arith.addi") == 1


def test_a_skip_reaches_the_right_mlir() -> None:
    with actiondbg.launch(_argv("triton", "iree", "triton")) as session:
        session.breakpoints.add(f"pass:cse and mlir:{FILES['iree']}")
        session.run()
        assert {one.mlir for one in session.contexts} == set(FILES.values())
        assert session.skip().status == 0
        # Triton's canonicalizer has nothing to merge.
        assert session.target.output().count("arith.addi") == 1 + 2 + 1


def test_time_travel_crosses_mlirs() -> None:
    """The past is in one MLIR, the present in another."""
    with actiondbg.launch(_argv("iree", "triton", "iree")) as session:
        session.breakpoints.add("pass:cse")
        assert "@iree0" in (session.run() and session.ir.print("module").text)
        assert "@triton1" in (session.continue_() and session.ir.print("module").text)
        session.timeline.reverse_continue()
        assert "@iree0" in session.ir.print("module").text
        assert session.continue_().mlir == FILES["triton"]
        assert "@triton1" in session.ir.print("module").text


def test_attached_programs_observe_all(tmp_path: Path) -> None:
    """A part of a program has the actions of the second MLIR: no assertion passes falsely."""
    program = tmp_path / "program.py"
    program.write_text(
        "import runpy, sys\n"
        "import actiondbg\n"
        "def run(*words):\n"
        "    sys.argv[1:] = words\n"
        f"    runpy.run_path({PROGRAM!r})\n"
        "run('triton')\n"
        "for name in ('iree', 'triton', 'iree'):\n"
        "    with actiondbg.attach() as actions:\n"
        "        run(name)\n"
        "    print(len(actions.find('pass:cse', outcome='changed')), 'changed')\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{ROOT}"}
    done = subprocess.run(
        [PYTHON, str(program)], capture_output=True, text=True, check=False, env=environment
    )
    found = [line for line in done.stdout.splitlines() if line.endswith("changed")]
    assert found == ["1 changed"] * 3, done.stderr
