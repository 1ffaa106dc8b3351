"""A small recording for the tests of the session over one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actiondbg.recording.session import open_session
from actiondbg.recording.session.recorded_session import RecordedSession
from tests.fakes.recording.recordings import Action, Change, Operation, write_recording

ITERATION = "GreedyPatternRewriteIteration"
BEFORE = "func.func @f() {\n  %0 = arith.addi %a, %b : i32\n  return %0 : i32\n}\n"
FOLDED = BEFORE.replace("addi %a, %b", "constant 7")
AFTER = BEFORE.replace("addi", "muli")

OPERATIONS = [
    Operation(1, "func.func", line=1, column=1, function="f"),
    Operation(2, "arith.addi", line=2, column=8, function="f"),
    Operation(3, "arith.addi", line=3, column=8, function="f"),
    Operation(9, "arith.constant", line=2, column=8, function="f"),
    Operation(10, "arith.muli", line=3, column=8, function="f"),
]

#    #1 canonicalize [ #2 [ #3 #4 #5 ] #6 [ #7 ] ] #8 cse
#    events: 1 2 3-4 5-6 7-8 9 10 11-12 13 14 15-16
EVENTS = 16


def actions() -> list[Action]:
    """The actions: two iterations in a pass, and a pass that fails."""
    folded = [Change("inserted", 9), Change("replaced", 2, by=9), Change("erased", 2)]
    multiplied = [Change("inserted", 10), Change("replaced", 3, by=10), Change("erased", 3)]
    return [
        Action("canonicalize", "pass-execution", operation=1, outcome="succeeded"),
        Action("iteration 1", ITERATION, depth=1, operation=1, outcome="succeeded"),
        Action(
            "arith.addi",
            "fold",
            depth=2,
            operation=2,
            outcome="succeeded",
            fold="constants",
            changes=folded,
            ir=[(1, BEFORE, FOLDED)],
        ),
        Action("A", depth=2, operation=3, outcome="failed", reasons=["no constant"]),
        Action(
            "B",
            full_name="(anonymous namespace)::B",
            labels=["one", "two"],
            depth=2,
            operation=3,
            outcome="succeeded",
            changes=multiplied,
            ir=[(1, FOLDED, AFTER)],
        ),
        Action("iteration 2", ITERATION, depth=1, operation=1),
        Action("A", depth=2, operation=10, outcome="failed", reasons=["no constant", "again"]),
        Action("cse", "pass-execution", operation=1, outcome="failed"),
    ]


def recorded_session(path: Path, **how: Any) -> RecordedSession:
    """Write the recording, and open it."""
    how.setdefault("ir", "function")
    write_recording(path / "run.adbrec", how.pop("actions", actions()), OPERATIONS, **how)
    return open_session(path / "run.adbrec")
