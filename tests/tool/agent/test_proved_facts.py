"""What one process has proved of a build, the next one does not prove again.

A preloaded library lets the printer crash in forks, when a variable says so: whether a proof was
made again shows in what is missing.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording import open_recording
from tests.conftest import PYPI
from tests.elements import some
from tests.paths import COMMAND
from tests.tool.agent.test_refuted_facts import CRASHING

Missing = Callable[[bool], "dict[str, str]"]


@pytest.fixture
def missing(folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Missing:
    """Return a function that starts the tool, and returns the capabilities that are missing."""
    source, library = tmp_path / "crashing.c", tmp_path / "crashing.so"
    text = CRASHING.replace("getpid() != tool", 'getpid() != tool && getenv("CRASH")')
    source.write_text(text.replace("<unistd.h>", "<unistd.h>\n#include <stdlib.h>"))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LD_PRELOAD", str(library))

    def start(crashes: bool) -> dict[str, str]:
        with monkeypatch.context() as patch:
            if crashes:
                patch.setenv("CRASH", "1")
            with actiondbg.launch([str(PYPI / "mlir-opt"), folds, "--canonicalize"]) as session:
                session.breakpoints.add("pattern:*")
                session.run()
                assert session.target.hello is not None
                return session.target.hello.missing

    return start


def test_a_proof_holds_for_the_next_process(missing: Missing) -> None:
    assert "print" in missing(True)
    assert "print" in missing(True)  # what was refuted is tried again
    assert "print" not in missing(False)
    assert "print" not in missing(True)


def test_proofs_of_others_and_of_other_files_are_not_taken(
    missing: Missing, tmp_path: Path
) -> None:
    assert "print" not in missing(False)
    (proofs,) = (tmp_path / "cache" / "actiondbg").glob("proofs-*")
    proofs.chmod(0o666)
    assert "print" in missing(True)
    proofs.chmod(0o600)
    assert "print" not in missing(True)
    os.utime(tmp_path / "crashing.so", (1, 1))
    assert "print" in missing(True)


@pytest.mark.parametrize("content", ["", "\n\n", "1 print", "\0" * 10_000, "print\nlines\n"])
def test_a_damaged_file_of_proofs_proves_nothing(
    missing: Missing, tmp_path: Path, content: str
) -> None:
    assert "print" not in missing(False)
    (proofs,) = (tmp_path / "cache" / "actiondbg").glob("proofs-*")
    proofs.write_text(content)
    assert "print" in missing(True)


@pytest.mark.parametrize("byte", [0, 0x41])
def test_damaged_places_of_functions_are_looked_up_anew(
    byte: int, folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that lost power may keep the size of a file, and lose what is in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tool = [str(PYPI / "mlir-opt"), folds, "--canonicalize"]

    def recorded() -> tuple[int, str, int]:
        record = [COMMAND, "record", "-o", str(tmp_path / "run.adbrec"), "--", *tool]
        done = subprocess.run(record, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, open_recording(tmp_path / "run.adbrec").count

    alone = subprocess.run(tool, capture_output=True, text=True, check=True).stdout
    first = recorded()
    assert first[:2] == (0, alone)
    for places in some((tmp_path / "cache" / "actiondbg").glob("symbols-*")):
        places.write_bytes(bytes([byte]) * places.stat().st_size)
    assert recorded() == first


KERNEL = """\
gpu.module @kernels {
  gpu.func @kernel(%x: i32) kernel {
    gpu.return
  }
}
"""


def test_the_first_use_of_a_tool_reads_a_unit_attribute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLIR prints a unit attribute of a dictionary without its value."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "in.mlir").write_text(KERNEL)
    tool = [str(PYPI / "mlir-opt"), str(tmp_path / "in.mlir"), "--canonicalize", "-o", os.devnull]
    with actiondbg.launch(tool) as session:
        session.breakpoints.add("func:kernel")
        stop = session.run()
        assert (stop.op, stop.function) == ("gpu.func", "kernel")
