"""What the fake tool does: its actions, their outcomes, its IR. It imports nothing of ours."""

from __future__ import annotations

import fnmatch
from typing import Any

Action = tuple[int, str, str, int]

# Ordinal, tag, name, depth; a pass holds two patterns. Each is dispatched before those of a
# greater depth that follow.
ACTIONS = [
    (1, "pass-execution", "canonicalize", 0),
    (2, "apply-pattern", "FoldA", 1),
    (3, "apply-pattern", "FoldB", 1),
    (4, "pass-execution", "cse", 0),
    (5, "apply-pattern", "FoldA", 1),
]
CAPABILITIES = [
    "interrupt",
    "skip",
    "print",
    "location",
    "cursor",
    "outcomes",
    "changes",
    "folds",
    "reasons",
    "threads-off",
    "ordinals-stable",
    "fork",
    "watch",
    "catch",
    "values",
    "record",
    "lineage",
    "edit",
    "legalizations",
    "alternatives",
    "statistics",
]
HELLO = {
    "protocol": 5,
    "parent": 0,
    "capabilities": CAPABILITIES,
    "role": "tool",
    "ordinal": 0,
    "event": 0,
    "when": None,
}
UNIT = {
    "kind": "operation",
    "name": "arith.addi",
    "state": "alive",
    "text": "%0 = arith.addi %a, %b",
    "location": "in.mlir:3:5",
    "id": 12,
}
FUNCTION = {**UNIT, "name": "func.func", "text": "func.func @f", "id": 7}
BLOCK = {**UNIT, "kind": "block", "name": "func.func", "text": "^bb0", "id": 7}
ABOUT = {"op": "arith.addi", "location": "in.mlir:3:5", "function": "f", "id": 12}
MODULE = '"builtin.module"() ({\n  "foo.bar"() : () -> ()\n  "foo.é"() : () -> ()\n}) : () -> ()\n'
SUM = "func.func @f() {\n  %0 = foo.old\n  foo.use %0\n}\n"

# What the actions do: @12 is replaced by @14 in FoldB.
RESULTS = {1: "succeeded", 2: "failed", 3: "succeeded", 4: "unchanged", 5: "failed"}
REASONS = {2: ["no constant"], 5: ["no constant", "and no use"]}
BY = [{"id": 14, "op": "arith.muli", "result": 0}]
CHANGED = [("inserted", 14, None), ("replaced", 12, BY), ("modified", 13, None)]
CHANGES = [
    {"kind": kind, "what": "operation", "op": "arith.muli" if id == 14 else "arith.addi"}
    | {"id": id, "by": by, "location": None, "ordinal": 3, "guess": False}
    for kind, id, by in CHANGED
]
CHANGERS = (3, 1)  # after these the changes are told
WATCHED = {  # what is told of an operation after an action
    (12, 2): "@12 arith.addi was modified: operands",
    (12, 3): "@12 arith.addi was replaced by @14 arith.muli; @12 arith.addi was erased",
    (14, 3): "@14 arith.muli was created",
}


def events() -> list[tuple[str, Action]]:
    """List the actions' beginnings and ends, in order."""
    result: list[tuple[str, Action]] = []
    running: list[Action] = []
    for action in ACTIONS:
        while running and running[-1][3] >= action[3]:
            result.append(("after", running.pop()))
        result.append(("before", action))
        running.append(action)
    return result + [("after", action) for action in reversed(running)]


def nth_of(ordinal: int) -> int:
    """Return an action's number among those of its tag, from 1."""
    return sum(one[1] == ACTIONS[ordinal - 1][1] for one in ACTIONS[:ordinal])


def outcome_matches(wanted: dict[str, Any] | None, outcome: dict[str, Any], changed: bool) -> bool:
    """Tell whether an action with this outcome is one to stop after."""
    if wanted is None or not (wanted["results"] or wanted["reason"]):
        return True
    held: set[str] = {outcome["result"]} | ({"changed"} if changed else set())
    held |= {"succeeded"} if outcome["result"] == "unchanged" else set()
    reasons: list[str] = fnmatch.filter(outcome["reasons"], wanted["reason"] or "")
    return bool(held & set(wanted["results"]) or reasons)
