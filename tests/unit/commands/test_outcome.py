"""Outcomes and changes in stops and ``info``, over a fake session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from actiondbg.protocol import Culprit, Outcome, StopCursor, ValueRef
from tests.fakes.session.driver import Driver
from tests.fakes.session.past import change
from tests.fakes.session.session import ADDI

HEAD = "Stopped after #2 apply-pattern (Fold) in @main at in.mlir:3:10: "
IR = "  %0 = arith.addi %arg0, %arg0 : i32"


@pytest.fixture
def driver() -> Driver:
    return Driver()


@pytest.fixture
def stopped() -> Driver:
    driver = Driver()
    driver.do("start")
    driver.session.calls.clear()
    return driver


def after(driver: Driver, result: Any = "succeeded", **fields: Any) -> None:
    """Make the next stop one after an action."""
    outcome = Outcome(result=result, reasons=fields.pop("reasons", []))
    outcome.how, outcome.values = fields.pop("how", None), fields.pop("values", [])
    changes = fields.pop("changes", [])
    driver.session.next_stop = {
        "when": "after",
        "outcome": outcome,
        "changes": changes,
        "change_count": len(changes),
        **fields,
    }


# --- stops -------------------------------------------------------------------


def test_stop_shows_outcome_changes_and_operation(stopped: Driver) -> None:
    block = change("inserted", 3, what="block", op="func.func", ordinal=2)
    after(stopped, changes=[change("erased", 7, ordinal=2), change("replaced", 7, 12, 3), block])
    assert stopped.do("step").splitlines() == [
        f"{HEAD}succeeded",
        "  erased    @7 arith.addi",
        "  replaced  @7 arith.addi by @12 arith.constant, in #3",
        "  inserted  a block of @3 func.func",
        IR,
    ]


def test_stop_shows_eight_changes_and_counts_the_others(stopped: Driver) -> None:
    changes = [change("modified", id, ordinal=2) for id in range(1, 101)]
    after(stopped, changes=changes, change_count=101)
    lines = stopped.do("set print-stop off", "step").splitlines()
    assert len(lines) == 10
    assert lines[-2:] == ["  modified  @8 arith.addi", "  ... and 93 more: info changes"]


@pytest.mark.parametrize(
    ("fields", "words", "lines"),
    [
        (
            {"result": "failed", "reasons": ["no use", "b"]},
            "failed",
            ["no match: no use", "no match: b"],
        ),
        ({"result": "unchanged"}, "succeeded, but changed nothing", []),
        ({"result": "skipped", "skipped": True}, "skipped", []),
        (
            {"how": "constants", "values": ["0 : i32", "1 : i32"]},
            "succeeded",
            ["folded to constants: 0 : i32, 1 : i32"],
        ),
        ({"how": "values", "values": ["%3 of @12"]}, "succeeded", ["folded to values: %3 of @12"]),
        ({"how": "constants"}, "succeeded", ["folded to constants"]),
        ({"how": "in-place"}, "succeeded", ["folded in place"]),
        ({"how": "legalized 12 operations"}, "succeeded", ["legalized 12 operations"]),
    ],
)
def test_outcomes(stopped: Driver, fields: dict[str, Any], words: str, lines: list[str]) -> None:
    after(stopped, **fields)
    assert stopped.do("step").splitlines() == [HEAD + words, *(f"  {each}" for each in lines), IR]


def test_failed_pattern_that_changed_the_ir(stopped: Driver) -> None:
    after(stopped, "failed", changes=[change("erased", 9, ordinal=2, guess=True)])
    assert stopped.do("step").splitlines()[:2] == [
        f"{HEAD}failed, with changes",
        "  erased    @9 arith.addi (a guess)",
    ]


def test_replacement_values_are_named(stopped: Driver) -> None:
    argument = ValueRef(id=3, op="block argument", result=1)
    results = [ValueRef(id=12, op="test.two", result=n) for n in (0, 1)]
    changes = [msgspec.structs.replace(change("replaced", 7, ordinal=2), by=[argument, *results])]
    after(stopped, changes=changes)
    assert "  replaced  @7 arith.addi by block argument 1 of @3, @12 test.two\n" in stopped.do("s")


def test_stop_shows_the_cursor(stopped: Driver) -> None:
    unit = msgspec.structs.replace(ADDI, id=45, name="arith.constant")
    stopped.session.cursor_unit = unit
    cursor = StopCursor(kind="operation", id=45, op="arith.constant", by="replaced")
    after(stopped, changes=[change("replaced", 7, 45, 2)], cursor=cursor)
    printed = stopped.do("step")
    assert "The cursor is on @45 arith.constant, which replaced @7.\n" in printed
    after(stopped, cursor=msgspec.structs.replace(cursor, by="around"))
    assert "The cursor is on @45 arith.constant; @7 no longer exists.\n" in stopped.do("step")
    after(stopped, cursor=None)
    assert "@7 was erased.\n" in stopped.do("step")
    after(stopped)
    assert "cursor" not in stopped.do("step")


def test_watch_shows_event_and_culprit(driver: Driver) -> None:
    driver.do("start", "break x", "watch cursor")
    culprit = Culprit(ordinal=9, tag="apply-pattern", name="Bad", guess=True)
    fields = {"message": "@7 arith.addi was erased", "culprit": culprit, "reason": "watch"}
    after(driver, breakpoints=[1, 2], **fields)
    lines = driver.do("continue").splitlines()
    assert lines[0].startswith("Breakpoint 1, watch 2, stopped after #2")
    assert lines[1] == "  @7 arith.addi was erased, by #9 apply-pattern (Bad) (a guess)"
    after(
        driver,
        breakpoints=[2],
        **fields | {"culprit": Culprit(ordinal=3, tag="t", name="n", guess=False)},
    )
    lines = driver.do("continue").splitlines()
    assert lines[1:] == ["  @7 arith.addi was erased", IR]
    assert lines[0].startswith("Watch 2, stopped after #3")


def test_simultaneous_watches_have_a_line_each(driver: Driver) -> None:
    driver.do("start", "watch cursor", "watch op:x count", "watch @7")
    culprit = Culprit(ordinal=1, tag="fold", name="x", guess=False)
    message = "@7 was erased; the number of x changed from 2 to 1; @7 was erased"
    fields = {"message": message, "culprit": culprit, "reason": "watch"}
    after(driver, breakpoints=[1, 2, 3], **fields)
    lines = driver.do("continue").splitlines()
    assert lines[0].startswith("Watches 1, 2, 3, stopped after #2")
    assert lines[1:-1] == [
        "  @7 was erased",
        "  the number of x changed from 2 to 1",
        "  by #1 fold (x)",
    ]


def test_a_catch_with_a_condition_is_read_from_its_script(driver: Driver, tmp_path: Path) -> None:
    script = tmp_path / "saved.adbg"
    driver.do("start", "catch failure cs* if depth > 1", "catch crash")
    driver.do("condition 2 line == 3", f"save breakpoints {script}", "delete 1 2")
    assert driver.do(f"source {script}") == (
        "Catch 3: failure cs* if depth > 1\nCatch 4: crash if line == 3\n"
    )


def test_a_watch_of_a_quoted_attribute_is_read_from_its_script(
    driver: Driver, tmp_path: Path
) -> None:
    script = tmp_path / "saved.adbg"
    watch = "attribute 'a\"b' of @3"
    driver.do("start", f"watch {watch} if depth > 1", f"save breakpoints {script}", "delete 1")
    assert driver.do(f"source {script}").startswith(f"Watch 2: {watch} if depth > 1\n")


def test_stop_inside_an_action_or_outside_of_any(driver: Driver) -> None:
    driver.do("start", "catch diagnostic *bad*")
    fields = {"when": "during", "reason": "catch", "breakpoints": [1], "message": "error: bad op"}
    driver.session.next_stop = fields
    lines = driver.do("continue").splitlines()
    assert lines[0].startswith("Catch 1, stopped inside #2 apply-pattern (Fold)")
    assert lines[1] == "  error: bad op"
    fields |= {"ordinal": 0, "tag": "", "name": ""}
    place = {"id": None, "op": None, "location": None, "function": None, "cursor": None}
    driver.session.next_stop = {**fields, **place}
    assert driver.do("continue").startswith("Catch 1, stopped outside of any action\n")
    culprit = Culprit(ordinal=3, tag="pass-execution", name="cse", guess=False)
    cursor = StopCursor(kind="operation", id=9, op="arith.muli", by="failing")
    driver.session.next_stop = {**fields, "culprit": culprit, "id": 9, "cursor": cursor}
    lines = driver.do("continue").splitlines()
    assert lines[0] == (
        "Catch 1, stopped outside of any action in @main at in.mlir:3:10, after #3 "
        "pass-execution (cse)"
    )
    assert lines[1] == "  error: bad op"
    assert "The cursor is on @9 arith.muli, which the error is about." in lines


def test_verification_that_fails_is_the_reason(stopped: Driver) -> None:
    after(stopped, reason="verify", message="operand #0 must be i32")
    lines = stopped.do("continue").splitlines()
    assert lines[0].startswith("The IR does not verify, stopped after #")
    assert lines[1] == "  operand #0 must be i32"


def test_json_of_a_stop_has_outcome_and_changes() -> None:
    driver = Driver(json=True)
    driver.do("start")
    culprit = Culprit(ordinal=1, tag="fold", name="x", guess=False)
    after(driver, changes=[change("replaced", 7, 12)], message="m", culprit=culprit)
    result = driver.results("step")[0]["result"]
    assert result["outcome"] == {
        "result": "succeeded",
        "reasons": [],
        "how": None,
        "values": [],
        "unheard": False,
    }
    assert result["changes"] == [
        {
            "kind": "replaced",
            "what": "operation",
            "op": "arith.addi",
            "id": 7,
            "by": [{"id": 12, "op": "arith.constant", "result": 0}],
            "location": "in.mlir:3:10",
            "ordinal": 1,
            "guess": False,
        }
    ]
    assert (result["id"], result["message"], result["culprit"]["name"]) == (7, "m", "x")


# --- info ----------------------------------------------------------------------


def test_info_outcome_and_changes(stopped: Driver) -> None:
    assert "'next' runs it to its end" in stopped.do("info outcome")
    after(stopped, "failed", reasons=["no use"])
    stopped.do("step")
    assert stopped.do("info o").splitlines() == [
        "#2 apply-pattern (Fold): failed",
        "  no match: no use",
        "  0 changes",
    ]
    assert stopped.do("info changes") == "#2 has changed nothing so far.\n"
    stopped.session.found_changes = [change("erased", 7, ordinal=2), change("erased", 8, ordinal=9)]
    assert stopped.do("info changes --own --count 1").splitlines() == [
        "#2 made 2 changes: 2 erased",
        "  erased    @7 arith.addi  at in.mlir:3:10",
        "  ... and 1 more: info changes --own --count 2",
    ]
    assert stopped.session.calls[-1] == ("changes", False, 1)


def _names(printed: str) -> list[str]:
    return [line.split()[-1] for line in printed.splitlines()[1:-1]]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("", ["FoldB", "Other", "FoldA"]),
        ("--sort name", ["FoldA", "FoldB", "Other"]),
        ("--sort t", ["FoldA", "FoldB", "Other"]),
        ("--sort changes", ["Other", "FoldA", "FoldB"]),
        ("--sort succ Fold*", ["FoldA", "FoldB"]),
        ("Fold*", ["FoldB", "FoldA"]),
        ("Fold[^A]", ["FoldB"]),  # as the globs of breakpoints
    ],
)
def test_info_patterns_is_sorted_and_filtered(
    stopped: Driver, options: str, names: list[str]
) -> None:
    assert _names(stopped.do(f"info patterns {options}")) == names


def test_info_patterns_has_a_total(stopped: Driver) -> None:
    lines = stopped.do("info patterns Fold*").splitlines()
    head, first, *_, total = (" ".join(line.split()) for line in lines)
    assert head == "attempts succeeded unchanged failed changes time name"
    assert first == "30 2 1 28 1 250.000 ms FoldB"
    assert total == "40 6 2 34 8 750.000 ms total of 2 names"
    assert len({line.index("ms") for line in lines[1:]}) == 1
    assert stopped.do("info folds") == "No fold has ended so far.\n"
    assert "The [ in 'Fold[' is not closed" in stopped.do("info patterns Fold[")
    assert "'bytes' is not one of attempts" in stopped.do("info patterns --sort bytes")


def test_info_patterns_is_redirected(stopped: Driver, tmp_path: Path) -> None:
    stopped.do(f"info patterns > {tmp_path / 'table'}")
    assert "Other" in (tmp_path / "table").read_text()


def test_info_patterns_in_json() -> None:
    driver = Driver(json=True)
    result = driver.results("start", "info patterns Fold*")[1]["result"]
    assert [row["name"] for row in result["rows"]] == ["FoldB", "FoldA"]
    assert result["total"]["attempts"] == 40
    assert set(result["total"]) == set(result["rows"][0]) - {"tag", "name"}


def test_info_cycles(stopped: Driver) -> None:
    cycle = pytest.importorskip("actiondbg.analysis.cycles")
    assert stopped.do("info cycles").startswith("No cycle was found")
    applied = [
        cycle.Applied(ordinal=n, tag="apply-pattern", name=name, op="t.a", id=n, location=None)
        for n, name in ((5, "A"), (6, "B"))
    ]
    stopped.session.past.cycle = cycle.Cycle(
        round=applied, times=9, diffs=[stopped.session.past.difference]
    )
    lines = stopped.do("info cycles").splitlines()
    assert lines[:3] == [
        "A cycle of 2 actions was repeated 9 times so far; one round:",
        "  #5 apply-pattern (A) on @5 t.a",
        "  #6 apply-pattern (B) on @6 t.a",
    ]
    assert lines[4:6] == ["--- before #1 apply-pattern Fold", "+++ after"]


def test_count(stopped: Driver) -> None:
    assert stopped.do("count op:arith.*") == "3 arith.* in the module\n"
    assert (
        stopped.do("count arith.addi --function") == "3 arith.addi in the function of the cursor\n"
    )
    assert stopped.session.calls == [("count", "arith.*", False), ("count", "arith.addi", True)]


@pytest.mark.parametrize("glob", ['There\'s "x"', "a\\*b", "a b if c", "plain*"])
def test_an_outcome_with_quotes_is_read_from_its_script(
    driver: Driver, tmp_path: Path, glob: str
) -> None:
    script = tmp_path / "saved.adbg"
    driver.session.breakpoints.add("pattern:A", "depth > 1", outcome=f"reason:{glob}")
    driver.do(f"save breakpoints {script}", "delete 1", f"source {script}")
    (read,) = driver.session.breakpoints.all()
    assert (read.outcome, read.condition) == (f"reason:{glob}", "depth > 1")


def test_a_value_in_double_quotes_may_have_escaped_ones(driver: Driver) -> None:
    driver.do('break --outcome "reason:a \\"b\\" c" pattern:A')
    assert [one.outcome for one in driver.session.breakpoints.all()] == ['reason:a "b" c']
