"""The Triton examples of docs/tools.md print what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.elements import some
from tests.paths import ROOT
from tests.tool.targets.targets import TARGETS

TRITON = TARGETS["triton"]
PAGE = (ROOT / "docs" / "tools.md").read_text().partition("## Triton, without a GPU")[2]
EXAMPLES = [
    (command, shown)
    for block in re.findall(r"```\n(\$ .*?)```", PAGE, re.DOTALL)
    for command, _, shown in (part.partition("\n") for part in block.split("$ ")[1:])
]
READER = "/home/me/actiondbg"  # the clone of the page


@pytest.mark.parametrize(
    ("command", "shown"), [pytest.param(*one, marks=TRITON.marks) for one in EXAMPLES]
)
def test_an_example_prints_what_the_page_shows(command: str, shown: str, tmp_path: Path) -> None:
    found = os.pathsep.join(
        str(Path(each).parent) for each in (TRITON.programs["python"], sys.executable)
    )
    env = {
        **TRITON.env(),
        "PATH": f"{found}{os.pathsep}{os.environ['PATH']}",
        "TRITON_CACHE_DIR": str(tmp_path),
    }
    run = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    printed = iter(run.stdout.replace(str(ROOT), READER).splitlines())
    # The lines come in this order; the page leaves some out at each "...".
    for line in some(one for one in shown.splitlines() if one != "..."):
        assert line in printed, (line, run.stdout)


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) == 3
