"""Lineages of random programs against planted constants, which MLIR itself follows through values.

scripts/lineage_truth.py does the same with new seeds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.lineage.planted_programs import KINDS, Kind
from tests.fakes.lineage.planted_runs import measured
from tests.fakes.lineage.planted_truth import Locations

BUILDS = ("pypi",)
SEEDS = (1, 2)
# The least recall of --exact and of all evidence, where each operation has its own location.
# FoldScalarOrSplatConstant makes constants anew: only locations and values show of which. mem2reg
# gives constants to operations that loaded them.
RECALL = {
    "named: fused, vectorised": (0.5, 0.95),
    "control: memory to values, blocks to LLVM": (0.9, 0.9),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("locations", ["own", "one line", "unknown"])
def test_what_became_what_is_right(
    kind: Kind, seed: int, locations: Locations, mlir_opt: str, tmp_path: Path
) -> None:
    found = measured(mlir_opt, kind, seed, locations, tmp_path)
    exact, every = RECALL.get(kind.name, (0.94, 0.95))
    assert found.exact.planted > 20
    assert not found.exact.wrong
    assert found.default.precision >= (0.95 if locations == "one line" else 0.99)
    assert found.exact.recall >= exact
    if locations == "own":
        assert found.default.recall >= every
