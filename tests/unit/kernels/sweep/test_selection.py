"""The dispatches that a command works on."""

from __future__ import annotations

import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.sweep.generation import DispatchFilter

_DISPATCHES = [
    Dispatch(Matmul(size, 64, 64), Configuration(provider, f"{provider}_tile_{tile}"))
    for size in (64, 128)
    for provider in ("mlir", "iree")
    for tile in ("8x8", "16x16")
]


@pytest.mark.parametrize(
    ("names", "count"),
    [
        ("", 8),
        ("matmul_64x*", 4),
        ("matmul_64x64x64_f32t_f32t_f32t", 4),
        ("*_mlir_tile_8x8,*_iree_tile_16x16", 4),
        (r"matmul_(64|128)x.*_8x8", 4),
        (r"matmul_\d{2,3}x.*_mlir.*", 4),
        ("*_tile_[18]*", 8),
        ("mlir", 0),
    ],
)
def test_names_are_globs_or_regular_expressions(names: str, count: int) -> None:
    chosen = DispatchFilter(names=names)
    assert len([each for each in _DISPATCHES if chosen(each)]) == count


def test_kinds_and_providers_select() -> None:
    assert len(DispatchFilter(["matmul"], ["iree"]).select(_DISPATCHES)) == 4
    assert not any(map(DispatchFilter(["conv_2d"]), _DISPATCHES))


def test_an_empty_selection_names_what_there_is() -> None:
    with pytest.raises(UsageError, match=r"No dispatch matches 'conv\*'; there are 8, such as ma"):
        DispatchFilter(names="conv*").select(_DISPATCHES)
    with pytest.raises(UsageError, match="No dispatch is generated"):
        DispatchFilter().select([])


def test_a_pattern_that_is_neither_is_named() -> None:
    with pytest.raises(UsageError, match=r"'\(' is neither a glob nor a regular expression"):
        DispatchFilter(names="(")
