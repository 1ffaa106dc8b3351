"""The three ways in give the same actions, folds, changes, ids and texts, on mlir-opt 22.

ACTIONDBG_WAY forces the way. What the native agent says is what the two others have to say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import many_functions
from tests.paths import INPUTS
from tests.tool.targets.script import SESSION, scripted

OTHERS = ["detour", "portable"]
FLAGS = ["--canonicalize", "--cse", "--mlir-disable-threading"]
MLIR = INPUTS / "tools" / "mlir"

# Measured, or the path of this run.
VARYING = {"start_ns", "duration_ns", "self_ns"}

# None of these depends on addresses, as the order of materializations or of bufferization does.
LOWERING = (
    "builtin.module(canonicalize,cse,loop-invariant-code-motion,convert-scf-to-cf,sccp,"
    "expand-strided-metadata,lower-affine,canonicalize,cse)"
)
COMMANDS: dict[str, tuple[str, list[str]]] = {
    "lowering": ("many", [f"--pass-pipeline={LOWERING}"]),
    "greedy": ("integers.mlir", ["--canonicalize", "--cse", "--sccp", "--canonicalize"]),
    "inlining": ("calls.mlir", ["--inline", "--canonicalize", "--symbol-dce"]),
    "conversion": ("branches.mlir", ["--convert-cf-to-llvm", "--convert-func-to-llvm"]),
    "vectors": ("vectors.mlir", ["--convert-vector-to-scf", "--canonicalize"]),
    "linalg": ("linalg.mlir", ["--linalg-generalize-named-ops", "--linalg-fuse-elementwise-ops"]),
    "affine": ("affine.mlir", ["--lower-affine", "--canonicalize", "--loop-invariant-code-motion"]),
}


def _argv(tool: str, name: str, directory: Path) -> list[str]:
    source, flags = COMMANDS[name]
    path = directory / "many.mlir"
    if source == "many":
        many_functions(path, 5)
    else:
        path = MLIR / source
    return [tool, str(path), *flags, "--mlir-disable-threading"]


def _tables(tool: str, name: str, directory: Path) -> dict[str, list[dict[str, Any]]]:
    done = record(_argv(tool, name, directory), directory / "run.adbrec", stdout="/dev/null")
    assert done.path is not None and done.status == 0
    recording = open_recording(done.path)
    return {
        table: [
            {column: value for column, value in row.items() if column not in VARYING}
            for row in recording.table(table).to_pylist()
        ]
        for table in ("actions", "changes", "operations", "reasons")
    }


def first_difference(ours: list[dict[str, Any]], natives: list[dict[str, Any]]) -> str | None:
    """Return in which columns the first rows differ: an assertion would print thousands of rows."""
    for number, (row, native) in enumerate(zip(ours, natives, strict=False)):
        if row != native:
            columns = {
                key: (row.get(key), native[key]) for key in native if row[key] != native[key]
            }
            return f"row {number}, {native}: {columns}"
    return None if len(ours) == len(natives) else f"{len(ours)} rows, not {len(natives)}"


@pytest.mark.parametrize("way", OTHERS)
@pytest.mark.parametrize("name", COMMANDS)
def test_recordings_are_equal(
    mlir_opt: str, name: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    natives = _tables(mlir_opt, name, tmp_path)
    monkeypatch.setenv("ACTIONDBG_WAY", way)
    ours = _tables(mlir_opt, name, tmp_path)
    assert natives["actions"] and natives["changes"]
    for row in (*ours["actions"], *natives["actions"]):
        row.pop("mlir")  # a native agent has one MLIR, whose file it does not look for
    # Detours also see what one file of MLIR calls in itself: some more replacements in conversions.
    extra = _without_inner_calls(ours, natives)
    assert {row["kind"] for row in extra} <= {"replaced", "modified"}
    for table, rows in natives.items():
        assert (table, first_difference(ours[table], rows)) == (table, None)


def _without_inner_calls(
    ours: dict[str, list[dict[str, Any]]], natives: dict[str, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Drop the changes that only `ours` has, and the counts of such changes; return them."""
    for rows in (ours["changes"], natives["changes"]):
        for row in rows:
            row.pop("seq", None)
    left = list(natives["changes"])
    kept: list[dict[str, Any]] = []
    extra: list[dict[str, Any]] = []
    for row in ours["changes"]:
        if row in left:
            left.remove(row)
            kept.append(row)
        else:
            extra.append(row)
    ours["changes"] = kept
    for row in extra:
        ours["actions"][row["ordinal"] - 1][row["kind"]] -= 1
    return extra


@pytest.mark.parametrize("way", OTHERS)
def test_a_session_reads_the_same(
    mlir_opt: str, way: str, folds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    natives = scripted(SESSION, [mlir_opt, folds, *FLAGS])
    assert "@18 arith.addi" in natives and "Catch 4: diagnostic" in natives
    monkeypatch.setenv("ACTIONDBG_WAY", way)
    assert find_tool(mlir_opt).way == way
    ours = scripted(SESSION, [mlir_opt, folds, *FLAGS])
    assert ours == natives
