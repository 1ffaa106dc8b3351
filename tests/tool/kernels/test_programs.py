"""Kernels that are cut out of a program compute their references."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actiondbg.kernels.errors import NoReference
from actiondbg.kernels.problems.model import operations_of
from tests.fakes.kernels.program import PROGRAM
from tests.tool.kernels.loop_kernels import assert_computes_reference

pytest.importorskip("mlir.ir")


def test_kernels_of_a_program_compute_their_references(tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAM)
    *operations, gather = operations_of(program)
    for operation in operations:
        assert_computes_reference(tmp_path, operation)
    with pytest.raises(NoReference, match=r"does not interpret tensor.extract"):
        gather.reference([np.zeros(each.shape, each.type.dtype) for each in gather.inputs])
