"""Random edits at random stops: the tool goes on, with the IR that was written."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.conftest import FOLDS
from tests.fakes import stock_tool as stock
from tests.fakes.random_edits import KINDS, Kind, crashes, edit_randomly

INPUTS = {
    "folds": FOLDS,
    "mixed": stock.MIXED,
}
PIPELINE = "--pass-pipeline=builtin.module(func.func(cse,canonicalize),inline,symbol-dce)"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", list(INPUTS))
def test_random_edits(mlir_opt: str, name: str, kind: Kind, tmp_path: Path) -> None:
    source = stock.write(str(tmp_path / f"{name}.mlir"), INPUTS[name])
    made = 0
    for seed in range(4):
        edit = edit_randomly([mlir_opt, source, PIPELINE], kind, random.Random(seed))
        if edit.fate == "crashed":
            assert crashes(mlir_opt, [PIPELINE], edit.module, tmp_path), edit
        assert edit.is_true, edit
        made += edit.fate in ("ended", "failed")
    assert made, f"no {kind} was made"
