"""The examples of docs/bisect.md, run, and what each of examples/miscompiles is bisected to."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LIBRARY
from tests.paths import ROOT

BUILDS = LIBRARY

PAGE = (ROOT / "docs/bisect.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mlir_opt: str) -> dict[str, str]:
    """The tools of the build are on PATH, and the examples where the page has them."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "examples/fold.mlir", tmp_path)
    monkeypatch.chdir(tmp_path)
    ours, tools = Path(sys.executable).parent, Path(mlir_opt).parent
    return {**os.environ, "PATH": f"{tools}:{ours}:{os.environ['PATH']}"}


@pytest.mark.parametrize("example", _blocks("sh"))
def test_example(environment: dict[str, str], example: str) -> None:
    done = subprocess.run(
        ["sh", "-e", "-c", example],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("Found: ")
    assert "verified: shows good and bad" in done.stdout


@pytest.mark.parametrize("example", _blocks("python"))
def test_example_of_the_api(environment: dict[str, str], example: str) -> None:
    subprocess.run([sys.executable, "-c", example], check=True, env=environment)


def test_comparison_reports_a_lowering_with_the_same_bug(
    environment: dict[str, str],
) -> None:
    words = "--json --execute -- mlir-opt examples/miscompiles/wide-switch.mlir --convert-scf-to-cf"
    done = subprocess.run(
        ["actiondbg", "bisect", *words.split()],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (1, "not-bad")


def test_every_option_and_verdict_is_on_the_page() -> None:
    from typing import get_args

    from actiondbg.bisection.result import Result
    from actiondbg.bisection.verdict import Found
    from actiondbg.commands.interpreter.options import fields_of
    from actiondbg.commands.shell.bisection import BisectOptions

    missing = [each.option for each in fields_of(BisectOptions) if each.option not in PAGE]
    missing += [verdict for verdict in get_args(Found) if f"`{verdict}`" not in PAGE]
    missing += [key for key in Result(verdict="flaky").as_json() if f"`{key}`" not in PAGE]
    # These are in the tables by another name, or one says it in words.
    assert sorted(missing) == ["--input", "--jobs", "--output"]
