"""docs/kernels/count.md: its commands are run, and it names all that there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.commands.cli.kernels.count import run
from actiondbg.kernels.counting.measurement import COLUMNS
from tests.conftest import PYPI
from tests.paths import ROOT

pytest.importorskip("mlir.runtime", reason="needs MLIR's Python bindings")

DOCS = (ROOT / "docs/kernels/count.md").read_text()
WORDS = set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", DOCS, flags=re.S)))
LLVM = PYPI.parent.parent / "llvm" / "bin"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCS, re.M | re.S)


@pytest.mark.skipif(not (LLVM / "llc").exists(), reason=f"there is no llc in {LLVM}")
def test_commands_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (source,), (program,) = blocks("mlir"), blocks("python")
    Path("saxpy.mlir").write_text(source)
    Path("calls.py").write_text(program)
    folders = [str(Path(sys.executable).parent), str(PYPI), str(LLVM)]
    monkeypatch.setenv("PATH", os.pathsep.join(folders), prepend=os.pathsep)
    commands = "".join(blocks("sh")).splitlines()
    assert len(commands) == 9
    errors = ""
    for command in commands:
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)
        errors += done.stderr
    (example,) = blocks("py")
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True)
    assert done.returncode == 0 and "saxpy " in done.stdout, done.stderr
    # By the command, and by the library alone.
    assert errors.count("1,000 calls of 1 function in 1 thread: ") == 2
    assert (tmp_path / "counts/functions.csv").exists()


def test_options_variables_and_columns_are_named() -> None:
    named = {word.split()[0] for word in WORDS} | set(DOCS.split())
    actions = run.build_parser()._actions  # pyright: ignore[reportPrivateUsage]
    options = [set(action.option_strings) for action in actions if action.option_strings]
    assert [each for each in options if not each & (named | {"--help"})] == []
    assert len(options) > 5
    assert set(COLUMNS) <= WORDS
