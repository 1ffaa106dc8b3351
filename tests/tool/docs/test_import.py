"""The session of docs/import.md, run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.tool.recording.test_import import MLIR_OPT

PAGE = (ROOT / "docs/import.md").read_text()


@pytest.mark.parametrize("block", re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S))
def test_the_session_of_the_page(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples/fold.mlir", ".")
    folders = (Path(sys.executable).parent, Path(MLIR_OPT).parent, os.environ["PATH"])
    environment = {**os.environ, "PATH": os.pathsep.join(map(str, folders))}
    making, importing, opening, *lines = block.splitlines()
    for command in (making, importing):
        subprocess.run(command.removeprefix("$ "), shell=True, check=True, env=environment)
    commands = [
        line.removeprefix("(actiondbg) ") for line in lines if line.startswith("(actiondbg) ")
    ]
    *program, file = opening.removeprefix("$ ").split()
    run = subprocess.run(
        [*program, "-nx", "--batch", "--keep-going", *_ex(commands), file],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=environment,
    )
    assert run.stdout.splitlines() == [
        line for line in lines if not line.startswith("(actiondbg) ")
    ]
    assert len(commands) >= 5


def _ex(commands: list[str]) -> list[str]:
    return [word for command in commands for word in ("-ex", command)]
