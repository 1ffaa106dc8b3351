"""A Python process that can attach to the MLIR bindings of the package."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from actiondbg.support.user_directories import cache_directory
from tests.conftest import FOLDS

COMPILE = f'''
FOLDS = """{FOLDS}"""

def compile(pipeline="builtin.module(canonicalize)", text=FOLDS):
    from mlir.ir import Context, Module
    from mlir.passmanager import PassManager
    with Context():
        module = Module.parse(text)
        PassManager.parse(pipeline).run(module.operation)
        return str(module)
'''


@pytest.fixture
def attachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Python programs of the test find the cache; skip without the MLIR bindings."""
    if find_spec("mlir") is None or find_spec("mlir.passmanager") is None:
        pytest.skip("the MLIR Python bindings are not installed")
    # A pytest in a test has another home directory.
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_directory().parent))


RunPython = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def python(attachable: None, tmp_path: Path) -> RunPython:
    """Run a Python program that may call ``compile``; its folder is the current one."""

    def run(text: str) -> subprocess.CompletedProcess[str]:
        program = tmp_path / "program.py"
        program.write_text(f"{COMPILE}\n{text}")
        return subprocess.run(
            [sys.executable, str(program)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run
