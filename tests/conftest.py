"""What the tests share: the tools of both builds, and inputs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import actiondbg

pytest_plugins = ["tests.fakes.agent.fixtures"]

DEBIAN = Path("/usr/lib/llvm-22/bin")
PYPI = Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages/mlir/bin"

FOLDS = """\
func.func @sum(%a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %x = arith.addi %a, %c0 : i32
  %y = arith.addi %x, %c3 : i32
  %z = arith.addi %y, %c4 : i32
  return %z : i32
}
func.func @twice(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %x = arith.addi %a, %c1 : i32
  %y = arith.addi %x, %c2 : i32
  return %y : i32
}
"""


def _path(build: str, name: str) -> Path:
    return (PYPI if build == "pypi" else DEBIAN) / name


@pytest.fixture(params=["pypi", "debian"])
def mlir_opt(request: pytest.FixtureRequest) -> str:
    """The mlir-opt of the build with assertions, and of the one without."""
    path = _path(request.param, "mlir-opt")
    if not path.exists():
        pytest.skip(f"{path.name} of {request.param} is not installed")
    return str(path)


@pytest.fixture
def debian() -> Callable[[str], str]:
    """Find a tool of Debian's build, or skip."""

    def find(name: str) -> str:
        path = DEBIAN / name
        if not path.exists():
            pytest.skip(f"Debian's {name} is not installed (scripts/install-debian-mlir)")
        return str(path)

    return find


@pytest.fixture
def folds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two functions in which canonicalize folds and merges additions."""
    (tmp_path / "folds.mlir").write_text(FOLDS)
    monkeypatch.chdir(tmp_path)
    return "folds.mlir"


@pytest.fixture
def launch(mlir_opt: str, folds: str) -> Iterator[Callable[..., actiondbg.Session]]:
    """Launch mlir-opt on the folds; every session is closed at the end."""
    sessions: list[actiondbg.Session] = []

    def start(*args: str, source: str = folds) -> actiondbg.Session:
        session = actiondbg.launch([mlir_opt, source, *(args or ("--canonicalize",))])
        sessions.append(session)
        return session

    yield start
    for session in sessions:
        session.close()


@pytest.fixture
def bare(mlir_opt: str, folds: str) -> Callable[..., str]:
    """Run the tool alone and return what it wrote to its stdout."""

    def run(*args: str) -> str:
        return subprocess.run(
            [mlir_opt, folds, *args], capture_output=True, text=True, check=True
        ).stdout

    return run


@pytest.fixture
def gdb() -> str:
    path = shutil.which("gdb")
    if path is None:
        pytest.skip("gdb is not installed")
    return path
