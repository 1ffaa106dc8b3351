"""The examples of docs/suites.md, run on a small lit suite."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.paths import ROOT
from tests.tool.suite.conftest import LIT, write_suite

PAGE = (ROOT / "docs/suites.md").read_text()
BUILDS = ("pypi",)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mlir_opt: str) -> dict[str, str]:
    """The tests of a suite in the working directory, and lit and actiondbg on PATH."""
    if not LIT.exists():
        pytest.skip("lit is not installed")
    monkeypatch.chdir(tmp_path)
    write_suite(tmp_path, mlir_opt)
    return {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path)}


def test_examples(environment: dict[str, str]) -> None:
    examples = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    assert examples
    for example in examples:
        done = subprocess.run(
            ["sh", "-e", "-c", example],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "AddIAddConstant" in done.stdout


def test_the_workflow(environment: dict[str, str], tmp_path: Path) -> None:
    """Its commands pass with a baseline of what is known, and fail where a finding is new."""
    (workflow,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)
    steps = yaml.safe_load(workflow)["jobs"]["patterns"]["steps"]
    commands = [step["run"] for step in steps if "actiondbg " in step.get("run", "")]

    def status(command: str) -> int:
        done = subprocess.run(
            ["sh", "-c", command], env=environment, stdin=subprocess.DEVNULL, capture_output=True
        )
        return done.returncode

    record, coverage, lint = commands[-3:]
    assert status(record) == 0
    assert status(coverage) == 0
    assert (tmp_path / "coverage.html").stat().st_size > 0
    (made,) = re.findall(r"`(actiondbg lint --rerun --write-baseline .*?)`", PAGE)
    assert status(made) == 0
    assert status(lint) == 0
    log = json.loads((tmp_path / "lint.sarif").read_text())
    assert log["runs"][0]["results"] == []
