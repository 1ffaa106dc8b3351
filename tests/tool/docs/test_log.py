"""docs/log.md: its examples are run, and it names all options."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.commands.cli.log import run
from tests.paths import ROOT

DOCS = (ROOT / "docs/log.md").read_text()


def examples() -> list[tuple[str, str]]:
    """Return the commands and what they print."""
    blocks = "".join(re.findall(r"^```text\n(.*?)^```$", DOCS, re.M | re.S))
    parts = re.split(r"^\$ (.*\n)", blocks, flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def without_times(lines: str) -> str:
    return re.sub(r"(?m)^(#\d+ +t\d+ +[a-z]+) +[\d.]+[num]?s ", r"\1 ... ", lines)


@pytest.mark.parametrize(("command", "printed"), examples())
def test_examples_print_their_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, printed: str
) -> None:
    shutil.copy(ROOT / "examples/fold.mlir", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert without_times(done.stdout) == without_times(printed)


def test_page_has_examples() -> None:
    assert len(examples()) > 3
    assert all(" ... " in without_times(lines) or "[thread" in lines for _, lines in examples())


def test_options_are_named() -> None:
    actions = run.build_parser()._actions  # pyright: ignore[reportPrivateUsage]
    options = [action.option_strings for action in actions if action.option_strings]
    assert len(options) > 10
    known = {"--help", "--randomize", "--partial"}
    documented = [names for names in options if any(f"`{name}" in DOCS for name in names)]
    assert [names for names in options if names not in documented and not known & set(names)] == []
