"""Random sessions: nothing hangs, nothing is left, and the tool's output is its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.random_dap_session import RandomSession
from tests.tool.dap.conftest import MLIR_OPT


@pytest.mark.parametrize("seed", range(8))
def test_a_random_session_ends_and_leaves_nothing(seed: int, tmp_path: Path) -> None:
    RandomSession(seed, tmp_path, MLIR_OPT).run()
