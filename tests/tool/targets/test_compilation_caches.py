"""Triton's cache of compiled kernels: a debugged program neither reads it nor writes it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.support.user_directories import cache_directory
from tests.paths import INPUTS, ROOT
from tests.tool.targets.targets import TARGETS, TOOLS

pytestmark = [*TARGETS["triton"].marks]

PYTHON = str(TOOLS / "triton/bin/python")
PATTERN = "pattern:*::BlockedToMMA"
COMPILE = f"""
import os, sys
sys.path[:0] = [{str(INPUTS / "tools/triton")!r}, {str(ROOT)!r}]
given = "TRITON_ALWAYS_COMPILE" in os.environ
import kernels
if not given:
    del os.environ["TRITON_ALWAYS_COMPILE"]  # which the kernels have set
def compile():
    print(kernels.compile_kernel("matmul").asm["ptx"].count("mma.sync"), flush=True)
"""

# A cache of the user's own, whose files have other names.
MANAGER = """
from triton.runtime.cache import FileCacheManager
class Manager(FileCacheManager):
    def _make_path(self, filename):
        return super()._make_path("mine." + filename)
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory for Triton's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_directory().parent))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    return tmp_path


def write(home: Path, text: str) -> str:
    program = home / "program.py"
    program.write_text(COMPILE + text)
    return str(program)


def output(program: str) -> list[int]:
    done = subprocess.run(
        [PYTHON, program], check=True, stdout=subprocess.PIPE, text=True, timeout=120
    )
    return [int(line) for line in done.stdout.split()]


def test_a_kernel_without_a_pattern_is_in_no_cache(home: Path) -> None:
    program = write(home, "compile()\n")
    for _ in range(2):
        with actiondbg.launch([PYTHON, program]) as s:
            s.skips.rules.add(PATTERN)
            assert s.run().status == 0
            assert s.target.output() == "0\n"
    assert not (home / ".triton").exists()
    [count] = output(program)
    assert count > 0
    with actiondbg.launch([PYTHON, program]) as s:
        s.breakpoints.add(PATTERN)
        assert s.run().tag == "apply-pattern"  # which is not found in the cache either


def test_a_cache_that_the_user_names_is_left_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(home / "kernels"))
    program = write(home, "compile()\n")
    with actiondbg.launch([PYTHON, program]) as s:
        s.skips.rules.add(PATTERN)
        assert s.run().status == 0
        assert s.target.output() == "0\n"
    assert not (home / "kernels").exists()
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "0")
    [count] = output(program)
    assert count > 0
    files = sorted(home.glob("kernels/*/*"))
    assert files
    # Neither a cache that is read nor one of a class of the user's.
    (home / "managers.py").write_text(MANAGER)
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "managers:Manager")
    for _ in range(2):
        with actiondbg.launch([PYTHON, program]) as s:
            s.skips.rules.add(PATTERN)
            assert s.run().status == 0
            assert s.target.output() == "0\n"
    assert sorted(home.glob("kernels/*/*")) == files
    assert output(program) == [count]
    assert sorted(home.glob("kernels/*/*")) != files


def test_a_block_without_a_pattern_leaves_the_cache_as_it_was(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = f"""
import actiondbg
variables = dict(os.environ)
compile()
with actiondbg.attach(skip=[{PATTERN!r}]) as actions:
    compile()
assert actions.find("tag:pass-execution")
assert os.environ == variables
compile()
"""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(home / "kernels"))
    first, without, last = output(write(home, body))
    assert (without, first) == (0, last) and last > 0
