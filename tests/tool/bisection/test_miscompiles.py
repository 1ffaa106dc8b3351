"""Each of examples/miscompiles, bisected from the command line with its own test."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LIBRARY
from tests.paths import ROOT

BUILDS = LIBRARY

Bisected = Callable[[str, str], tuple[dict[str, Any], Path]]

FOLDER = "examples/miscompiles"
COPY = "--pass-pipeline=builtin.module(func.func(cse,affine-data-copy-generate{fast-mem-space=0}))"
HOIST = ["--canonicalize", "--affine-loop-invariant-code-motion", "--cse"]

# file, options of mlir-opt, the culprit's ordinal, tag, name and operation
GUILTY = [
    ("while-if", ["--canonicalize"], 8, "apply-pattern", "WhileMoveIfDown", "scf.while"),
    ("masked-write", ["--canonicalize"], 6, "fold", "vector.transfer_write", None),
    ("hoisted-store", HOIST, 15, "pass-execution", "affine-loop-invariant-code-motion", None),
    ("index-casts", ["--canonicalize=max-iterations=1"], 18, "apply-pattern", None, None),
    ("unfilled-copy", [COPY], 3, "pass-execution", "affine-data-copy-generate", "func.func"),
    ("index-compare", ["--canonicalize"], 6, "apply-pattern", None, "index.cmp"),
    ("wide-switch", ["--convert-scf-to-cf"], 1, "pass-execution", "convert-scf-to-cf", None),
]


def bisect(mlir_opt: str, name: str, flags: list[str], output: Path, *words: str) -> dict[str, Any]:
    oracle = ["--test", f"{FOLDER}/{name}.test {{}}"]
    if name == "index-compare":
        oracle = ["--filecheck", f"{FOLDER}/{name}.check"]
    tools = Path(mlir_opt).parent
    command = [sys.executable, "-m", "actiondbg", "bisect", "--json", *oracle, "-o", str(output)]
    done = subprocess.run(
        [*command, *words, "--", mlir_opt, f"{FOLDER}/{name}.mlir", *flags],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def bisected(tmp_path_factory: pytest.TempPathFactory) -> Bisected:
    """Bisect an example, once for all tests; return the result and its folder."""

    @functools.cache
    def find(mlir_opt: str, name: str) -> tuple[dict[str, Any], Path]:
        folder = tmp_path_factory.mktemp(name) / "found"
        (flags,) = (row[1] for row in GUILTY if row[0] == name)
        return bisect(mlir_opt, name, flags, folder), folder

    return find


@pytest.mark.parametrize(
    ("name", "ordinal", "tag", "pattern", "op"),
    [(name, *rest) for name, _, *rest in GUILTY],
    ids=[row[0] for row in GUILTY],
)
def test_culprit_is_found(
    mlir_opt: str,
    bisected: Bisected,
    name: str,
    ordinal: int,
    tag: str,
    pattern: str | None,
    op: str | None,
) -> None:
    result, folder = bisected(mlir_opt, name)
    assert (result["verdict"], result["ordinal"], result["tag"]) == ("found", ordinal, tag)
    assert pattern in (None, result["name"]) and op in (None, result["op"])
    assert result["confirmed"] == "good"
    assert result["location"].startswith(f"{FOLDER}/{name}.mlir:")
    assert result["reproducer_verified"] is True
    alone = subprocess.run(["sh", str(folder / "repro.sh")], capture_output=True, text=True)
    assert alone.returncode == 0, alone.stdout + alone.stderr


def test_conversion_lists_its_applied_patterns(mlir_opt: str, bisected: Bisected) -> None:
    result, _ = bisected(mlir_opt, "wide-switch")
    assert any("#4 apply-pattern (IndexSwitchLowering)" in note for note in result["notes"])


def test_culprits_that_act_together(mlir_opt: str, tmp_path: Path) -> None:
    flags = ["--canonicalize=max-iterations=1"]
    result = bisect(mlir_opt, "index-casts", flags, tmp_path / "found", "--mode", "minimize")
    assert [each["name"] for each in result["applied"]] == [
        "IndexCastOfExtSI",
        "IndexCastOfIndexCast",
    ]
    assert [each["ordinal"] for each in result["applied"]] == [12, 18]
    result = bisect(mlir_opt, "index-casts", flags, tmp_path / "skip", "--mode", "skip")
    assert [each["ordinal"] for each in result["skips"]] == [18]
