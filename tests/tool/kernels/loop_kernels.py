"""Kernels lowered to loops, compared with their references."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from actiondbg.kernels.model import Dispatch, Operation
from actiondbg.kernels.providers.registry import make_provider
from actiondbg.kernels.providers.shared_library import load
from actiondbg.kernels.providers.steps import CompilationSteps

_BOUND = 8  # roundings, as many as verification allows


def assert_computes_reference(folder: Path, operation: Operation) -> None:
    """Compile an operation in its default configuration, and compare its result."""
    operation.check()
    random = np.random.default_rng(1)
    inputs = [
        random.integers(-3, 4, each.shape).astype(each.type.dtype) for each in operation.inputs
    ]
    expected = operation.reference(inputs)
    result = _run(folder, operation, inputs)
    assert result.shape == expected.values.shape == operation.result.shape
    if expected.exact:
        assert expected.magnitude.max() < 2**operation.accumulator.precision
        np.testing.assert_array_equal(result, expected.values)
        return
    result_type = operation.result.type
    roundoff = operation.accumulator.unit_roundoff * _BOUND * expected.magnitude
    roundoff += result_type.unit_roundoff * np.abs(expected.values)
    roundoff += np.finfo(result_type.dtype).smallest_subnormal
    assert np.all(np.abs(result - expected.values) <= roundoff)


def _run(folder: Path, operation: Operation, inputs: list[np.ndarray]) -> np.ndarray:
    provider = make_provider("mlir")
    dispatch = Dispatch(operation, provider.default(operation))
    own = folder / operation.name
    own.mkdir()
    (own / "configured.mlir").write_text(provider.source(dispatch))
    compiled = provider.compile(dispatch, own, CompilationSteps(own))
    wide = np.float64 if operation.result.type.is_float else np.int64
    return load(compiled.verify).run(inputs).astype(wide)
