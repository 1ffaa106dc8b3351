"""The manifest of generated kernels."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.generated import add_to_manifest, read_manifest
from actiondbg.kernels.model import Configuration, Dispatch, ElementType
from actiondbg.kernels.operations.matmul import Matmul

_TILED = Configuration("mlir", "mlir_tile_8x8", {"tile": [8, 8], "unroll": True, "cpu": "any"})


def test_dispatches_are_restored_in_order(tmp_path: Path) -> None:
    half = Matmul(8, 16, 32, ElementType.F16, ElementType.F16, ElementType.F32, rhs_layout="n")
    dispatches = [
        Dispatch(half, _TILED),
        Dispatch(half, Configuration("mlir", "mlir_default")),
        Dispatch(Matmul(1, 2, 3), _TILED),
    ]
    add_to_manifest(tmp_path / "manifest.json", dispatches)
    assert read_manifest(tmp_path / "manifest.json") == dispatches


def test_a_dispatch_of_the_same_name_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    wider = Configuration("mlir", "mlir_tile_8x8", {"tile": [8, 16]})
    add_to_manifest(path, [Dispatch(Matmul(1, 2, 3), _TILED)])
    add_to_manifest(path, [Dispatch(Matmul(1, 2, 3), wider)])
    assert [each.configuration for each in read_manifest(path)] == [wider]


def test_runs_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"

    def add(first: int) -> None:
        for size in range(first, first + 10):
            add_to_manifest(path, [Dispatch(Matmul(size, 1, 1), _TILED)])

    threads = [threading.Thread(target=add, args=(first,)) for first in (10, 20, 30, 40)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(read_manifest(path)) == 40


@pytest.mark.parametrize("content", ["", "{", '{"version": 1, "entries": [{}]}', "[]"])
def test_a_damaged_manifest_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content)
    with pytest.raises(ActiondbgError, match=r"manifest.json is damaged .*generate again"):
        read_manifest(path)


@pytest.mark.parametrize("content", ['{"version": 2}', '{"version": 2, "entries": []}'])
def test_a_manifest_of_another_version_is_not_damaged(tmp_path: Path, content: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content)
    with pytest.raises(ActiondbgError, match=r"has version 2, .* remove the folder and generate"):
        read_manifest(path)


def test_a_manifest_of_an_unknown_kind_is_named(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    add_to_manifest(path, [Dispatch(Matmul(1, 2, 3), _TILED)])
    path.write_text(path.read_text().replace('"kind": "matmul"', '"kind": "outer"'))
    with pytest.raises(ActiondbgError, match="Unknown kind of operation 'outer'"):
        read_manifest(path)


def test_a_missing_manifest_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ActiondbgError, match="kernels generate"):
        read_manifest(tmp_path / "manifest.json")
