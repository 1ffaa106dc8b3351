"""The examples of docs/python-programs.md, run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

_PAGE = (ROOT / "docs/python-programs.md").read_text()
_BLOCKS = re.findall(r"^```python\n(.*?)^```$", _PAGE, re.M | re.S)
_TESTS = [each for each in _BLOCKS if "def test_" in each]
_PROGRAMS = [each for each in _BLOCKS if each not in _TESTS and "wait=True" not in each]


@pytest.fixture(autouse=True)
def examples(attachable: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a folder with the example."""
    shutil.copy(ROOT / "examples/fold.mlir", tmp_path)
    monkeypatch.chdir(tmp_path)


def test_the_page_has_examples() -> None:
    assert _TESTS and _PROGRAMS


@pytest.mark.parametrize("program", _PROGRAMS)
def test_a_program(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("text", _TESTS)
def test_tests(text: str, tmp_path: Path) -> None:
    (tmp_path / "test_example.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_example.py"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout
    assert f"{text.count('def test_')} passed" in ended.stdout
