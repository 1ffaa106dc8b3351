"""The examples of docs/kernels/report.md, run, and that the page has every column and option."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.commands.cli.kernels.report import KernelReportOptions
from actiondbg.commands.interpreter.options import fields_of
from actiondbg.kernels.results.columns import FIXED
from tests.paths import COMMAND, ROOT

PAGE = (ROOT / "docs/kernels/report.md").read_text()


def _block(language: str) -> str:
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
    return block


def test_the_examples_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", _block("python")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[('matmul_a', 2.0)] True\n"
    first, _, shown = _block("text").partition("\n")
    words = shlex.split(first.removeprefix("$ actiondbg "))
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, shown)


def test_every_column_and_option_is_on_the_page() -> None:
    options = [
        each.option for each in fields_of(KernelReportOptions) if each.option.startswith("--")
    ]
    assert [name for name in FIXED if f"`{name}`" not in PAGE] == []
    assert [name for name in options if name not in PAGE] == []
