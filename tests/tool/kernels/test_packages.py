"""The commands on kernels without the optional packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# The packages of the extra are not found; the test's process has them.
_PROGRAM = """
import sys
from importlib.machinery import PathFinder

class Blocked(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in ("numpy", "ml_dtypes", "yaml", "optuna", "pyarrow"):
            return None
        return PathFinder.find_spec(name, path, target)

sys.meta_path = [f for f in sys.meta_path if f is not PathFinder] + [Blocked]
from actiondbg.cli import main
sys.exit(main(sys.argv[1:]))
"""
_SIZES = ("--operation-kind", "matmul", *(f"--problem-{name}=8" for name in "mnk"))


def _kernels(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _PROGRAM, "kernels", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_generating_and_compiling_need_no_numpy(tmp_path: Path) -> None:
    assert _kernels(tmp_path, "generate", *_SIZES, "--default-config").returncode == 0
    done = _kernels(tmp_path, "compile", "--dispatches", "*_mlir_default")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("1 dispatch: 1 not verified.\n")


@pytest.mark.parametrize("command", ["run", "search", "bisect"])
def test_running_kernels_names_the_install_command(tmp_path: Path, command: str) -> None:
    done = _kernels(tmp_path, command, *_SIZES)
    assert done.returncode == 1
    assert done.stderr == (
        "actiondbg: Running kernels needs the package numpy: pip install 'actiondbg[kernels]'.\n"
    )


def test_a_file_of_problems_names_the_install_command(tmp_path: Path) -> None:
    done = _kernels(tmp_path, "generate", "--problems", "problems.yaml")
    assert done.returncode == 1
    assert done.stderr == (
        "actiondbg: --problems needs the package yaml: pip install 'actiondbg[kernels]'.\n"
    )
