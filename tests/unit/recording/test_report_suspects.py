"""What a report says of rewrites that do not converge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("duckdb")

from actiondbg.recording.report.suspects import CHANGING, SETTLED, UNFINISHED, measured
from tests.fakes.recording.recordings import Action, Change, Operation, write_recording
from tests.fakes.recording.report import page_of

PASS, ITERATION, PATTERN, FOLD = (
    "pass-execution",
    "GreedyPatternRewriteIteration",
    "apply-pattern",
    "fold",
)


def rewrite(name: str, root: int, *made: int, erase: bool = True, **more: Any) -> Action:
    """A pattern on an operation that makes others, and erases its own."""
    changes = [Change("inserted", new) for new in made]
    changes += [Change("erased", root)] if erase else [Change("modified", root)]
    return Action(name, depth=2, operation=root, outcome="succeeded", changes=changes, **more)


def suspects(
    path: Path, iterations: Sequence[Sequence[Action]], *, killed: bool = False
) -> dict[str, Any]:
    """Return what the page of one pass with these iterations says; if killed, in the last one."""
    actions = [Action("canonicalize", PASS, operation=1, outcome="succeeded")]
    for number, inside in enumerate(iterations, 1):
        changed = any(each.outcome == "succeeded" for each in inside)
        outcome = "succeeded" if changed else "unchanged"
        outer = Action(f"iteration {number}", ITERATION, depth=1, operation=1, outcome=outcome)
        actions += [outer, *inside]
    # An action is open until the next one at its depth.
    for at, action in enumerate(actions):
        action.start = 1000 * at
    for at, action in enumerate(actions):
        after = (n for n in range(at + 1, len(actions)) if actions[n].depth <= action.depth)
        action.duration = 1000 * (next(after, len(actions)) - at) - 100
    outermost = [action for action in actions if action.tag == ITERATION]
    for action in (actions[0], outermost[-1]) if killed else ():
        action.duration, action.outcome = None, "unfinished"
    numbers = {each.operation for action in actions for each in action.changes}
    operations = [Operation(n, f"test.op{n % 2}") for n in {1, *numbers}]
    page = page_of(write_recording(path, actions, operations, killed=killed))
    names = ("drivers", "repeated", "chains", "pairs")
    found: dict[str, Any] = {name: page.rows("suspects", name) for name in names}
    return {**found, "name": page.name}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.adbrec"


def test_converging_run_has_no_suspects(path: Path) -> None:
    found = suspects(path, [[rewrite("A", 2, 3), rewrite("B", 4, 5)], [rewrite("A", 6, 7)], []])
    assert [found[name] for name in ("drivers", "repeated", "chains", "pairs")] == [[]] * 4


@pytest.mark.slow
def test_drivers_with_many_iterations(path: Path) -> None:
    settled = suspects(path, [[rewrite("A", n, n + 1)] for n in range(2, 8, 2)] + [[]])
    [driver] = settled["drivers"]
    assert (driver["iterations"], driver["state"], driver["doing"]) == (4, SETTLED, [])
    assert (driver["group"], driver["parent"]) == ("canonicalize", 1)
    unsettled = suspects(path, [[rewrite("A", 2, 3)], [rewrite("A", 4, 5), rewrite("B", 6, 7)]])
    [driver] = unsettled["drivers"]
    assert (driver["iterations"], driver["state"]) == (2, CHANGING)
    assert [(unsettled["name"](n), times) for n, times in driver["doing"]] == [("A", 1), ("B", 1)]


def test_drivers_of_one_pass_are_distinguished(path: Path) -> None:
    actions = [Action("canonicalize", PASS, operation=1, outcome="succeeded", duration=100_000)]
    for number in (1, 2, 1, 2, 1, 2):  # three drivers that converge, one after the other
        outcome = "succeeded" if number == 1 else "unchanged"
        name = f"iteration {number}"
        actions.append(Action(name, ITERATION, depth=1, operation=1, outcome=outcome))
    page = page_of(write_recording(path, actions, [Operation(1)]))
    assert page.rows("suspects", "drivers") == []


def test_pattern_that_succeeds_repeatedly_on_one_operation(path: Path) -> None:
    again = [rewrite("Loop", 2, erase=False) for _ in range(3)]
    nothing = [Action("NoOp", depth=2, operation=3, outcome="unchanged") for _ in range(4)]
    failed = [Action("Never", depth=2, operation=4, outcome="failed") for _ in range(9)]
    found = suspects(path, [[*again, *nothing, *failed]])
    assert [(row["group"], row["times"], row["operation"]) for row in found["repeated"]] == [
        ("NoOp", 4, 3),
        ("Loop", 3, 2),
    ]
    assert (found["repeated"][0]["first"], found["repeated"][0]["last"]) == (6, 9)


def test_repetition_in_different_passes_is_no_suspect(path: Path) -> None:
    actions: list[Action] = []
    for _ in range(5):
        actions += [
            Action("canonicalize", PASS, operation=1, outcome="succeeded", duration=2500),
            Action(
                "iteration 1", ITERATION, depth=1, operation=1, outcome="succeeded", duration=1400
            ),
            rewrite("A", 2, erase=False),
        ]
    page = page_of(write_recording(path, actions, [Operation(1), Operation(2)]))
    assert page.rows("suspects", "repeated") == []


def test_folds_of_an_analysis_are_no_rewrites(path: Path) -> None:
    actions = [Action("sccp", PASS, operation=1, outcome="succeeded", duration=100_000)]
    for _ in range(5):
        actions.append(
            Action("a.b", FOLD, depth=1, operation=2, outcome="succeeded", fold="values")
        )
    page = page_of(write_recording(path, actions, [Operation(1), Operation(2)]))
    assert page.rows("suspects", "repeated") == []


def test_two_patterns_that_undo_each_other(path: Path) -> None:
    # A makes 3 of 2, B makes 4 of 3, A makes 5 of 4 ...
    ring = [rewrite("AB"[n % 2], 2 + n, 3 + n) for n in range(20)]
    other = [rewrite("C", 100, 101), rewrite("D", 101, 102)]
    found = suspects(path, [[*ring, *other], []])
    [chain] = found["chains"]
    name = found["name"]
    assert (chain["length"], chain["first"], chain["last"]) == (20, 3, 22)
    assert [(name(n), times) for n, times in chain["counts"]] == [("A", 10), ("B", 10)]
    assert [name(n) for n in chain["end"]] == ["A", "B"] * 6
    [pair] = found["pairs"]
    assert (pair["one"], pair["other"], pair["made"], pair["unmade"]) == ("A", "B", 10, 9)
    assert (pair["op"], pair["back"]) == ("test.op1", "test.op0")


def test_merging_pattern_makes_no_chain(path: Path) -> None:
    # Each is applied to an operation of the input, though it erases what the one before made.
    merged: list[Action] = []
    for n in range(20):
        action = rewrite("Merge", 2 + n, 100 + n)
        merged.append(action)
    assert suspects(path, [merged])["chains"] == []


@pytest.mark.slow
def test_killed_endless_rewriting(path: Path) -> None:
    ring = [rewrite("AB"[n % 2], 2 + n, 3 + n) for n in range(3000)]
    found = suspects(path, [ring], killed=True)
    [driver] = found["drivers"]
    assert (driver["state"], driver["times"]) == (UNFINISHED, 1000)
    assert [found["name"](n) for n in driver["round"]] == ["A", "B"]
    [chain] = found["chains"]
    assert (chain["length"], chain["first"], chain["last"]) == (3000, 3, 3002)


def test_unfinished_iteration_is_no_suspect(path: Path) -> None:
    found = suspects(path, [[rewrite("A", 2, 3)]], killed=True)
    assert found["drivers"] == []


def test_iteration_limit_reached(path: Path) -> None:
    [driver] = suspects(path, [[rewrite("A", 2, 3)]])["drivers"]
    assert (driver["iterations"], driver["state"], driver["times"]) == (1, CHANGING, 0)


def test_the_lengths_of_chains() -> None:
    before = np.array([-1, 0, 1, -1, 3, 2, 1], np.int64)
    lengths, firsts = measured(before)
    assert lengths.tolist() == [1, 2, 3, 1, 2, 4, 3]
    assert firsts.tolist() == [0, 0, 0, 3, 3, 0, 0]
    line = np.arange(-1, 99_999, dtype=np.int64)
    assert measured(line)[0].tolist() == list(range(1, 100_001))
    assert [each.tolist() for each in measured(before[:0])] == [[], []]
