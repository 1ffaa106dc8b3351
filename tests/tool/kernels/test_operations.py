"""Each kind of operation, compiled by a lowering to loops, computes its reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.providers.mlir.shared_library import load
from actiondbg.kernels.providers.registry import make_provider
from actiondbg.kernels.providers.steps import CompilationSteps
from tests.fakes.kernels.operations import OPERATIONS

_BOUND = 8  # roundings, as many as verification allows


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_a_kernel_computes_the_reference(tmp_path: Path, operation: Operation) -> None:
    operation.check()
    random = np.random.default_rng(1)
    inputs = [
        random.integers(-3, 4, each.shape).astype(each.type.dtype) for each in operation.inputs
    ]
    expected = operation.reference(inputs)
    result = _run(tmp_path, operation, inputs)
    assert result.shape == expected.values.shape == operation.result.shape
    if expected.exact:
        assert expected.magnitude.max() < 2**operation.accumulator.precision
        np.testing.assert_array_equal(result, expected.values)
        return
    roundoff = operation.accumulator.unit_roundoff * _BOUND * expected.magnitude
    result_type = operation.result.type
    roundoff += result_type.unit_roundoff * np.abs(expected.values)
    roundoff += np.finfo(result_type.dtype).smallest_subnormal
    assert np.all(np.abs(result - expected.values) <= roundoff)


def _run(folder: Path, operation: Operation, inputs: list[np.ndarray]) -> np.ndarray:
    provider = make_provider("mlir")
    dispatch = Dispatch(operation, provider.default(operation))
    (folder / "configured.mlir").write_text(provider.source(dispatch))
    compiled = provider.compile(dispatch, folder, CompilationSteps(folder))
    wide = np.float64 if operation.result.type.is_float else np.int64
    return load(compiled.verify).run(inputs).astype(wide)
