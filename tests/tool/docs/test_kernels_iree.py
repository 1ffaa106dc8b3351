"""docs/kernels/iree.md: its example is run, and it names all parameters."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.kernels.providers.iree.configurations import PARAMETERS
from tests.paths import ROOT

pytest.importorskip("iree.runtime", reason="needs the extra iree")

DOCS = (ROOT / "docs/kernels/iree.md").read_text()


def test_the_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", DOCS, re.M | re.S)
    (shown,) = re.findall(r"^prints\n\n```\n(.*?)^```$", DOCS, re.M | re.S)

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout == shown


def test_all_parameters_are_described() -> None:
    table = DOCS.partition("| parameter | meaning |")[2].partition("\n\n")[0]
    first = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]

    assert {name for cell in first for name in re.findall(r"`(\w+)`", cell)} == PARAMETERS
