"""Rewrites that repeat up to the end of a recording, and others that only look so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("duckdb")

from actiondbg.lint.linter import Linter
from actiondbg.lint.rules import BY_NAME
from actiondbg.recording import open_recording
from actiondbg.recording.capture.endless import Look, look_text, repeated_actions
from tests.fakes.recording.recordings import Action, Change, Operation, write_recording

COUNT = 1500
PASS, ITERATION, FOLD = "pass-execution", "GreedyPatternRewriteIteration", "fold"


def rewrite(name: str, root: int, *made: int, tag: str = "apply-pattern") -> Action:
    """A pattern on an operation, which makes others."""
    changes = [*(Change("inserted", new) for new in made), Change("modified", root)]
    return Action(name, tag, depth=2, operation=root, outcome="succeeded", changes=changes)


def written(path: Path, inside: Sequence[Action], *, ended: bool = False) -> Path:
    """Write a recording of one iteration that was killed in it, or after it."""
    actions = [
        Action("canonicalize", PASS, operation=1, outcome="unfinished"),
        Action(
            "iteration 1",
            ITERATION,
            depth=1,
            operation=1,
            outcome="succeeded" if ended else "unfinished",
        ),
        *inside,
    ]
    for at, action in enumerate(actions):
        action.start, action.duration = 1000 * at, 900
    actions[0].duration = None
    actions[1].duration = 1000 * len(actions) if ended else None
    numbers = {each.operation for each in actions} | {
        change.operation for each in actions for change in each.changes
    }
    operations = [Operation(n, "test.op") for n in sorted(numbers)]
    write_recording(path, actions, operations, killed=True)
    return path


def subjects(path: Path) -> dict[str, int]:
    """Return the findings of no-convergence, each with its number of actions."""
    linter = Linter([BY_NAME["no-convergence"]])
    linter.add(open_recording(path, partial=True), str(path))
    return {each.subject: each.times for each in linter.finish()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.adbrec"


def test_a_fold_of_one_operation(path: Path) -> None:
    once = rewrite("Before", 2)
    folds = [rewrite("arith.addi", 3, tag=FOLD) for _ in range(COUNT)]
    assert subjects(written(path, [once, *folds])) == {"fold (arith.addi)": COUNT}


def test_patterns_that_make_each_others_operations(path: Path) -> None:
    ring = [rewrite("AB"[n % 2], 2 + n, 3 + n) for n in range(2 * COUNT)]
    assert subjects(written(path, ring)) == {"A": COUNT, "B": COUNT}


def test_copies_are_no_endless_rewriting(path: Path) -> None:
    copies = [rewrite("Unroll", 2, *range(3, 3 + COUNT))]
    copies += [rewrite("Copy", 3 + n) for n in range(COUNT)]
    assert subjects(written(path, copies)) == {}


def test_a_round_that_has_few_repetitions_or_ended(path: Path) -> None:
    assert subjects(written(path, [rewrite("A", 2) for _ in range(100)])) == {}
    many = [rewrite("A", 2) for _ in range(COUNT)]
    assert subjects(written(path, [*many, rewrite("B", 3)])) == {}
    assert subjects(written(path, many, ended=True)) == {}
    assert subjects(written(path, many)) == {"A": COUNT}


def test_the_sentence_names_the_names_of_the_round(path: Path) -> None:
    ring = [rewrite("ABCD"[n % 4], 2 + n, 3 + n) for n in range(4 * COUNT)]
    cycle = repeated_actions(written(path, ring))
    assert look_text(Look(10, 70_000, False, cycle)) == (
        "The tool still runs after 10 s: 70,000 actions, and now A, B, C ... at in.mlir:1:1 repeat "
        "endlessly."
    )
    assert look_text(Look(10, 1, False)) == "The tool still runs after 10 s: 1 action up to now."
