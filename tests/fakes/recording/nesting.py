"""Random actions with every kind of nesting, for traces."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from tests.fakes.recording.actions import begin_times, close, flush, gather, usual_header
from tests.fakes.recording.chunks import PATCHES, Thread, Writer
from tests.fakes.recording.recordings import Action, Change, Operation

ODD = 'say "no"\\ \t\x01 é \U0001f600 </script>'


class ActionGenerator:
    """Generates actions of a thread at random: short, empty, failed and unfinished ones.

    Args:
        seed: of the random numbers.
        count: the approximate number of actions.
    """

    def __init__(self, seed: int, count: int, thread: int = 0) -> None:
        self._random = random.Random(seed)
        self._left = count
        self._thread = thread
        self._now = 0
        self._created = 1000 * (thread + 1)
        self.actions: list[Action] = []
        self.operations: dict[int, Operation] = {}

    def make(self) -> list[Action]:
        while self._left > 0:
            self._pass(0)
        return self.actions

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _operation(self) -> int:
        number = 1 + self._random.randrange(12) + 100 * self._thread
        names = ("arith.addi", "scf.for", ODD)
        file = "" if number % 5 == 4 else f"{ODD if number % 7 == 3 else 'in'}.mlir"
        self.operations[number] = Operation(
            number, names[number % 3], file, number if file else 0, number % 9, f"f{number % 4}"
        )
        return number

    def _begin(self, name: str, tag: str, depth: int, **more: object) -> Action:
        self._now += self._random.choice((0, 0, 1, 40))
        action = Action(name, tag, depth=depth, start=self._now, thread=self._thread, **more)  # type: ignore[arg-type]
        self.actions.append(action)
        self._left -= 1
        return action

    def _end(self, action: Action, outcome: str) -> None:
        self._now += self._random.choice((0, 0, 3, 900))
        action.outcome = outcome
        action.duration = self._now - (action.start or 0)
        # What holds others may be written before it is over: then a patch tells how it ended.
        action.patched = self.actions[-1] is not action

    def _pass(self, depth: int) -> None:
        action = self._begin("canonicalize", "pass-execution", depth, operation=self._operation())
        for number in range(self._random.randrange(1, 4)):
            self._iteration(number + 1, depth + 1)
        if self._chance(0.2):
            self._pass(depth + 1)
        self._end(action, self._random.choice(("succeeded", "unchanged", "failed")))

    def _iteration(self, number: int, depth: int) -> None:
        tag = "GreedyPatternRewriteIteration"
        action = self._begin(f"iteration {number}", tag, depth, operation=self._operation())
        for _ in range(self._random.randrange(5)):
            self._attempts(depth + 1)
        self._end(action, "succeeded")

    def _attempts(self, depth: int) -> None:
        operation = self._operation() if self._chance(0.9) else 0
        for _ in range(self._random.randrange(7)):
            self._attempt(depth, operation)
        if self._chance(0.5):
            self._success(depth, operation or 1)

    def _attempt(self, depth: int, operation: int) -> None:
        tag = self._random.choice(("apply-pattern", "apply-pattern", "fold"))
        name = self._random.choice(("Fold", "Merge", "", ODD)) if tag != "fold" else "arith.addi"
        reasons = self._random.choice(([], ["no constant"], [ODD], ["one", "two"], ["a", "a"]))
        action = self._begin(name, tag, depth, operation=operation, reasons=reasons)
        if self._chance(0.05):
            self._attempts(depth + 1)
        action.rolled_back = self._chance(0.05)
        action.changed = self._chance(0.05)
        self._end(action, "failed")

    def _success(self, depth: int, operation: int) -> None:
        self._created += 1
        made = self._created
        before = self._random.randrange(1000 * (self._thread + 1), made)
        self.operations[made] = Operation(made, "arith.constant")
        changes = [Change("inserted", made), Change("replaced", operation, made)]
        if before in self.operations and self._chance(0.5):
            changes.append(Change(self._random.choice(("erased", "modified", "moved")), before))
        action = self._begin(
            "Rewrite", "apply-pattern", depth, operation=operation, changes=changes
        )
        fold = self._random.choice((None, "in-place", "constants"))
        action.fold = fold
        self._end(action, "succeeded")


def leave_open(actions: list[Action]) -> list[Action]:
    """Return the actions as they are when the tool is killed in the last of them."""
    depth = actions[-1].depth + 1
    for action in reversed(actions):
        if action.depth < depth:
            depth = action.depth
            action.duration, action.outcome, action.patched = None, "unfinished", False
            action.changed = False
    return actions


def write_chunks(
    path: Path,
    actions: Sequence[Action],
    operations: Sequence[Operation],
    *,
    chunk: int = 7,
    killed: bool = False,
) -> Path:
    """Write a recording of one thread as the agent does: a patch soon follows an action's end.

    Args:
        path: of the file.
        actions: all of one thread; those that hold others are ``patched``, if they are over.
        operations: that they name.
        chunk: how many actions a chunk has at most.
        killed: there is no end.
    """
    writer, thread = Writer(path, usual_header()), Thread(0)
    begin_times(actions)
    patches: dict[int, tuple[int, ...]] = {}
    for first in range(0, len(actions), chunk):
        part = actions[first : first + chunk]
        texts = gather(writer, thread, part, operations, part[0].start or 0)
        patches |= {patch[0]: patch for patch in thread.patches}
        thread.patches = []
        for row in sorted(patches):
            if _nested_end(actions, row) <= first + len(part):
                thread.add(PATCHES, *patches.pop(row))
        flush(writer, thread, thread.take_rows(), texts, first, part[0].start or 0)
    close(writer, [thread], {} if killed else {"ended": "exit", "status": 0})
    return path


def _nested_end(actions: Sequence[Action], row: int) -> int:
    for after in range(row + 1, len(actions)):
        if actions[after].depth <= actions[row].depth:
            return after
    return len(actions)
