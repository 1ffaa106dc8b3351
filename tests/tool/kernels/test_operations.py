"""Each kind of operation, compiled by a lowering to loops, computes its reference."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from actiondbg.kernels.model import Operation
from tests.fakes.kernels.operations import OPERATIONS
from tests.tool.kernels.loop_kernels import assert_computes_reference

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_a_kernel_computes_the_reference(tmp_path: Path, operation: Operation) -> None:
    assert_computes_reference(tmp_path, operation)
