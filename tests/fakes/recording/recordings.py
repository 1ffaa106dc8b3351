"""A writer of recordings in Python: what the readers are tested on without a tool.

It is written from the page of the format (docs/recordings.md), not from the reader.
``write_recording`` writes what is listed, ``fake_recording`` one that looks like a real one.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.fakes.functions import returning
from tests.fakes.recording.actions import (
    Action,
    Change,
    Operation,
    begin_times,
    close,
    flush,
    gather,
    usual_header,
    write_recording,
)
from tests.fakes.recording.chunks import (
    ACTIONS,
    CHANGES,
    FOLDS,
    FUNCTION,
    IR,
    OPERATIONS,
    REASONS,
    SAMPLES,
    Thread,
    Writer,
)

__all__ = ["Action", "Change", "Operation", "fake_recording", "write_recording"]

_PATTERNS = ("AddIAddConstant", "SimplifyAffineOp", "RemoveDeadLoop", "NeverMatches")
_REASONS = ("not a constant", "more than one use", "no such loop")
_SHIFTED: dict[
    int, tuple[list[str], list[str]]
] = {  # what names a row, or an operation, in a section
    OPERATIONS: (["row"], ["operation"]),
    ACTIONS: ([], ["operation"]),
    CHANGES: (["row"], ["operation", "by"]),
    REASONS: (["row"], []),
    IR: (["row"], ["operation"]),
    SAMPLES: (["row"], []),
}
_PER_BLOCK = 8  # functions
_DIFFERENT = 8  # blocks; then they come again, with other operations and functions
_OPERATIONS = 40  # numbers for a function


def fake_recording(
    path: str | os.PathLike[str],
    actions: int = 1000,
    seed: int = 0,
    *,
    threads: bool = False,
    ir: str = "none",
    events: Sequence[str] = (),
    killed: bool = False,
) -> Path:
    """Write a recording of a tool that canonicalizes many functions, and eliminates duplicates.

    Args:
        path: of the file.
        actions: how many, exactly; 3,000,000 take seconds.
        seed: of what is random.
        threads: the passes of the functions run in the threads 1 and 2.
        ir: "none", or "changed": the texts of functions before and after.
        events: the names of the samples.
        killed: there is no END, and the first action is unfinished.
    """
    dice = random.Random(seed)
    writer = Writer(path, usual_header(events, ir) | {"threads": threads})
    all_threads = [Thread(number, len(events)) for number in ((0, 1, 2) if threads else (0,))]
    main, workers = all_threads[0], all_threads[1:] or all_threads
    outer = Action("Pipeline Collection : ['func.func']", "pass-execution", operation=1, start=0)
    outer.patched, outer.outcome = not killed, "succeeded"
    outer.duration = None if killed else 0
    outer.samples = [0] * len(events) if events else None
    gather(writer, main, [outer], [Operation(1, "builtin.module", line=1, function="")], 0)
    flush(writer, main, main.take_rows(), (), 0, 0)
    made: dict[tuple[int, int], tuple[Any, list[str | None], int]] = {}
    left, at = actions - 1, 0
    while left > 0:
        worker, which = workers[at % len(workers)], at // len(workers) % _DIFFERENT
        key, first, base = (worker.number, which), worker.row, 1000 + at * 2_000_000
        again = key in made
        if not again:
            block = _Block(dice, at, 0 if threads else 1, ir == "changed", len(events))
            begin_times(block.actions, base)
            texts = gather(writer, worker, block.actions, block.operations, base)
            made[key] = worker.take_rows(), texts, at
        rows, texts, origin = made[key]
        rows = _shifted(worker, rows, first, at - origin) if again else rows
        rows = _cut(rows, first, left)
        worker.row = first + len(rows[ACTIONS])
        left -= len(rows[ACTIONS])
        writer.now = base + 1_990_000
        flush(writer, worker, rows, texts, first, base)
        at += 1
    main.patches = [(*patch[:-1], writer.now) for patch in main.patches]
    close(writer, all_threads, {} if killed else {"ended": "exit", "status": 0})
    return writer.path


def _shifted(thread: Thread, rows: Mapping[int, Any], first: int, blocks: int) -> dict[int, Any]:
    """Return a block's sections, for other rows, operations and functions."""
    shifted = {kind: each.copy() for kind, each in rows.items() if kind in _SHIFTED}
    was = shifted[OPERATIONS]["row"][0]
    for kind, each in shifted.items():
        for name in _SHIFTED[kind][0]:
            each[name] += np.uint32(first) - was
        for name in _SHIFTED[kind][1]:
            each[name][each[name] > 0] += blocks * _PER_BLOCK * _OPERATIONS
    functions = shifted[OPERATIONS]["function"]
    names = {old: f"g{first}_{old}" for old in np.unique(functions).tolist()}
    for old, new in [(old, thread.string(FUNCTION, name)) for old, name in names.items()]:
        functions[rows[OPERATIONS]["function"] == old] = new
    return shifted


def _cut(rows: Mapping[int, Any], first: int, count: int) -> dict[int, Any]:
    cut = {k: r[r["row"] < first + count] if "row" in r.dtype.names else r for k, r in rows.items()}
    return cut | {ACTIONS: rows[ACTIONS][:count]}


class _Block:
    """The actions of some functions, in order; their starts are given later, 1 us apart."""

    def __init__(
        self, dice: random.Random, number: int, depth: int, texts: bool, events: int
    ) -> None:
        self.actions: list[Action] = []
        self.operations: list[Operation] = []
        self._dice, self._depth, self._texts, self._events = dice, depth, texts, events
        for index in range(number * _PER_BLOCK, (number + 1) * _PER_BLOCK):
            self._function(f"f{index}", 2 + index * _OPERATIONS)

    def _function(self, name: str, first: int) -> None:
        line = 2 + first // 4
        self.operations.append(Operation(first, "func.func", line=line, column=3, function=name))
        for i in range(1, _OPERATIONS):
            kind = self._dice.choice(("arith.addi", "arith.constant", "scf.for"))
            self.operations.append(Operation(first + i, kind, "in.mlir", line + i, 8, name))
        self._pass("canonicalize", "Canonicalizer", first, self._iterations)
        self._pass("cse", "CSE", first, returning(None))

    def _pass(self, name: str, full: str, first: int, inside: Any) -> None:
        outer = self._add(Action(name, "pass-execution", full, depth=0, operation=first))
        inside(first)
        self._end(outer)

    def _iterations(self, first: int) -> None:
        for number in range(1, self._dice.randint(2, 4)):
            name = f"iteration {number}"
            outer = Action(name, "GreedyPatternRewriteIteration", depth=1, operation=first)
            self._add(outer)
            for _ in range(self._dice.randint(20, 60)):
                self._attempt(first, first + self._dice.randrange(1, _OPERATIONS))
            self._end(outer)

    def _attempt(self, function: int, operation: int) -> None:
        name, roll = self._dice.choice(_PATTERNS), self._dice.random()
        action = Action(name, "apply-pattern", f"(anonymous namespace)::{name}", ["greedy"], 2)
        action.operation, action.duration = operation, self._dice.randint(100, 900)
        if roll < 0.3:
            action.name, action.tag, action.labels = "arith.addi", "fold", ()
            action.full_name = None
            action.fold = self._dice.choice(FOLDS)
        if roll < 0.1 or (roll > 0.8 and name != "NeverMatches"):
            self._succeed(action, function)
        elif roll > 0.5:
            action.outcome, action.reasons = "failed", [self._dice.choice(_REASONS)]
        else:
            action.fold = None
        self._add(action)

    def _succeed(self, action: Action, function: int) -> None:
        action.outcome = "succeeded"
        if self._dice.random() < 0.1:
            action.changed = False
            return
        new = function + self._dice.randrange(1, _OPERATIONS)
        replaced = Change("replaced", action.operation, new)
        action.changes = [Change("inserted", new), replaced, Change("erased", action.operation)]
        if self._texts:
            body = "".join(f"  %{i} = arith.constant {i}\n" for i in range(self._dice.randrange(9)))
            before, after = (f"func.func @f() {{\n{body}{end}}}\n" for end in ("  return\n", ""))
            action.ir = [(function, before, after)]

    def _add(self, action: Action) -> Action:
        action.depth += self._depth
        if self._events:
            action.samples = [self._dice.randrange(10_000) for _ in range(self._events)]
        self.actions.append(action)
        return action

    def _end(self, outer: Action) -> None:
        inside = len(self.actions) - self.actions.index(outer)
        outer.duration, outer.outcome = inside * 1000 - 100, "succeeded"
