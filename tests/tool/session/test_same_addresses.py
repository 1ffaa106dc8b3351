"""What the agent does must not move the tool's memory: the order of some passes depends on it.

Bufferization and the fusion of affine loops keep operations in tables by address. A run, its replay
that records the lineage, and a recording of the same command have to be the same to the last id.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record

Launch = Callable[..., actiondbg.Session]


PIPELINE = (
    "--pass-pipeline=builtin.module(canonicalize,linalg-fuse-elementwise-ops,"
    "one-shot-bufferize{bufferize-function-boundaries},func.func(convert-linalg-to-affine-loops),"
    "func.func(affine-loop-fusion),canonicalize)"
)
TYPE = "tensor<8x16xf32>"


def program(seed: int, functions: int = 20) -> str:
    """Return functions of random elementwise operations on tensors, of which each is a loop."""
    dice = random.Random(seed)
    return "\n".join(_function(dice, number) for number in range(functions))


def _function(dice: random.Random, number: int) -> str:
    lines, values = list[str](), ["%a", "%b"]
    for made in range(dice.randint(3, 9)):
        inputs = [dice.choice(values) for _ in range(dice.randint(1, 2))]
        name = "exp" if len(inputs) == 1 else dice.choice(["add", "mul", "sub", "max"])
        types = ", ".join([TYPE] * len(inputs))
        lines.append(
            f"  %e{made} = tensor.empty() : {TYPE}\n"
            f"  %v{made} = linalg.{name} ins({', '.join(inputs)} : {types}) "
            f"outs(%e{made} : {TYPE}) -> {TYPE}"
        )
        values.append(f"%v{made}")
    body = "\n".join(lines)
    head = f"func.func @f{number}(%a: {TYPE}, %b: {TYPE}) -> {TYPE} {{"
    return f"{head}\n{body}\n  return {values[-1]} : {TYPE}\n}}"


def actions_of(path: Path) -> list[tuple[object, ...]]:
    """List the actions of a recording with the ids of their operations."""
    rows = open_recording(path).table("actions").to_pylist()
    return [(row["tag"], row["name"], row["operation"], row["outcome"]) for row in rows]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_a_replay_and_a_recording_are_the_same(
    launch: Launch, tmp_path: Path, seed: int
) -> None:
    source = tmp_path / "program.mlir"
    source.write_text(program(seed))
    session = launch(PIPELINE, "--mlir-disable-threading", source=str(source))
    session.start()
    session.breakpoints.add("pass:canonicalize#2", after=True)
    session.continue_()
    with session.past.recorded(end="end") as replayed:  # compared with the run up to this stop
        replay = actions_of(replayed)
    done = record(session.target.argv, tmp_path / "run.adbrec", stdout="/dev/null")
    assert done.path is not None
    assert len(replay) > 1000
    assert actions_of(done.path) == replay
