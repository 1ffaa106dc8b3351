"""The three ways in give the same actions, folds, changes, ids and texts, on mlir-opt 22.

ACTIONDBG_WAY forces the way. What the native agent says is what the two others have to say.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import actiondbg
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from scripts.benchmarks.inputs import PIPELINE, many_functions
from tests.paths import COMMAND, INPUTS

OTHERS = ["detour", "portable"]
MLIR = INPUTS / "tools" / "mlir"

# Measured, or the path of this run.
VARYING = {"start_ns", "duration_ns", "self_ns"}

COMMANDS: dict[str, tuple[str, list[str]]] = {
    "lowering": ("many", [f"--pass-pipeline={PIPELINE}"]),
    "greedy": ("integers.mlir", ["--canonicalize", "--cse", "--sccp", "--canonicalize"]),
    "inlining": ("calls.mlir", ["--inline", "--canonicalize", "--symbol-dce"]),
    "conversion": ("branches.mlir", ["--convert-cf-to-llvm", "--convert-func-to-llvm"]),
    "bufferization": (
        "linalg.mlir",
        ["--one-shot-bufferize=bufferize-function-boundaries", "--convert-linalg-to-loops"],
    ),
    "affine": ("affine.mlir", ["--lower-affine", "--canonicalize", "--loop-invariant-code-motion"]),
}

SESSION = """\
break pattern:AddIAddConstant
break fold:arith.* if depth > 1 and line == 8
run
info action
backtrace
context
print
print function
print --generic cursor
info cursor
cursor-parent
cursor-child 0
cursor-defs
cursor-users
cursor-function
cursor-goto action
around 3
continue
next
info outcome
info changes
diff
finish
info changes --count 3
delete all
start
step
step 3
next
next-change
info changes
why-not AddIAddConstant
history cursor
info actions --count 12
info pipeline
goto #5
reverse-step
goto #11
skip
goto #11
apply
info timeline
watch op:arith.addi count
goto #1
continue
catch diagnostic
delete all
break-on-tag pass-execution
continue
count op:arith.*
list @9
reverse-continue
advance #14
reverse-finish
info folds arith.* --sort attempts
info patterns AddI*
"""


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


def _first_difference(ours: list[Any], theirs: list[Any]) -> tuple[Any, Any] | None:
    """Return the first rows that differ: an assertion over all would print thousands."""
    pairs = zip([*ours, None], [*theirs, None], strict=False)
    return next(((one, other) for one, other in pairs if one != other), None)


@pytest.mark.parametrize("way", OTHERS)
@pytest.mark.parametrize("name", COMMANDS)
def test_recordings_are_equal(
    mlir_opt: str, name: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    natives = _tables(mlir_opt, name, tmp_path)
    monkeypatch.setenv("ACTIONDBG_WAY", way)
    ours = _tables(mlir_opt, name, tmp_path)
    assert natives["actions"] and natives["changes"]
    for table, rows in natives.items():
        assert _first_difference(ours[table], rows) is None, table


def _scripted(tool: str, source: str) -> list[str]:
    """Return the lines that a session prints, without durations and the columns that they widen."""
    words = [COMMAND, "-nx", "--batch", "--keep-going", "-x", "script", tool, source]
    done = subprocess.run(
        [*words, "--canonicalize", "--cse", "--mlir-disable-threading"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return [
        re.sub(r" +", " ", re.sub(r"[\d.]+ ms", "T", line)) for line in done.stdout.splitlines()
    ]


@pytest.mark.parametrize("way", OTHERS)
def test_a_session_reads_the_same(
    mlir_opt: str, way: str, folds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("script").write_text(SESSION)
    natives = _scripted(mlir_opt, folds)
    assert "@18 arith.addi" in natives and "Catch 4: diagnostic" in natives
    monkeypatch.setenv("ACTIONDBG_WAY", way)
    with actiondbg.launch([mlir_opt, folds, "--canonicalize"]) as session:
        session.start()
        hello = session.target.hello
        assert hello is not None and hello.agent == way
    assert _first_difference(_scripted(mlir_opt, folds), natives) is None
