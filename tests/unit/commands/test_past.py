"""Diffs, attempts, histories, watches and catches, over a fake session."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actiondbg.analysis.attempts import Attempt
from actiondbg.analysis.contrast import Contrast, Difference, Finding
from actiondbg.commands.interpreter.words import take_options
from actiondbg.ir.diff import Diff
from actiondbg.process.stop import Stop
from tests.fakes.session.driver import Driver
from tests.fakes.session.past import attempt, lived


@pytest.fixture
def driver() -> Driver:
    return Driver()


@pytest.fixture
def stopped() -> Driver:
    driver = Driver()
    driver.do("start")
    driver.session.calls.clear()
    return driver


# --- the past --------------------------------------------------------------------


def test_diff_is_unified_or_side_by_side(stopped: Driver) -> None:
    assert stopped.do("diff").splitlines() == [
        "--- before #1 apply-pattern Fold",
        "+++ after",
        "@@ -1,4 +1,4 @@",
        " func.func @main() {",
        "-  %0 = test.a",
        "+  %0 = test.b",
        "   return",
        " }",
    ]
    assert "return" not in stopped.do("diff #17 --module --context 0")
    assert stopped.session.calls == [("diff", None, False), ("diff", 17, True)]
    side = stopped.do("diff --side-by-side").splitlines()
    assert side[0].startswith("before #1 apply-pattern Fold") and side[0].endswith("| after")
    assert re.fullmatch(r"  %0 = test\.a +\|   %0 = test\.b", side[2])
    assert "return" not in stopped.do("diff --side-by-side --context 0")
    assert "give one of them" in stopped.do("diff --side-by-side --unified")
    assert "'x' is not an ordinal, such as #17" in stopped.do("diff x")


def test_empty_diff(stopped: Driver) -> None:
    stopped.session.past.difference = Diff("a", "a", 3, "#3 fold test.a")
    assert stopped.do("diff 3") == "#3 fold test.a did not change the IR.\n"


def test_diff_is_coloured_on_a_terminal_only(stopped: Driver, tmp_path: Path) -> None:
    stopped.console.out.isatty = lambda: True  # type: ignore[method-assign]
    stopped.console._color = True
    lines = (
        "\x1b[31m-  %0 = \x1b[7mtest.a\x1b[27m\x1b[39m\n"
        "\x1b[32m+  %0 = \x1b[7mtest.b\x1b[27m\x1b[39m"
    )
    assert lines in stopped.do("diff")
    stopped.do(f"diff > {tmp_path / 'd'}")
    assert "\x1b" not in (tmp_path / "d").read_text()
    assert "\x1b" not in stopped.do("set style off", "diff")


def test_why_not_groups_attempts(stopped: Driver) -> None:
    reason, where = "not a constant", "@7 arith.addi at in.mlir:3:10"
    stopped.session.past.attempts = [
        attempt(4, "failed", reason),
        attempt(5, "succeeded", changes=2),
        attempt(6, "failed", reason),
        attempt(8, "unchanged"),
    ]
    assert stopped.do("why-not Fold").splitlines() == [
        "4 attempts of Fold: 1 succeeded, 1 succeeded but changed nothing, 2 failed",
        f'  2 x  failed: "not a constant"        first #4 {where}',
        f"  1 x  succeeded                       first #5 {where}",
        f"  1 x  succeeded, but changed nothing  first #8 {where}",
    ]
    assert stopped.do("why-not Fold --all").splitlines()[1:] == [
        "  #4 @7 arith.addi at in.mlir:3:10 in @main: failed: not a constant",
        "  #5 @7 arith.addi at in.mlir:3:10 in @main: succeeded",
        "  #6 @7 arith.addi at in.mlir:3:10 in @main: failed: not a constant",
        "  #8 @7 arith.addi at in.mlir:3:10 in @main: succeeded, but changed nothing",
    ]


def compared(nearest: Attempt | None) -> Contrast:
    finding = Finding(
        statement="the result has one use",
        successes=2,
        failures=1,
        here="3",
        equivalent=["operand 0 is a constant"],
        more=4,
    )
    return Contrast(
        name="FoldA",
        failure=attempt(6, "failed"),
        successes=2 if nearest else 0,
        failures=3,
        findings=[finding] if nearest else [],
        nearest=nearest,
        run=None,
        differences=[Difference(statement="operand 0 is a constant", here=None)],
    )


def test_why_not_compares_a_failure_with_successes(stopped: Driver) -> None:
    past = stopped.session.past
    past.attempts = [attempt(4, "succeeded"), attempt(6, "failed")]
    past.compared = compared(attempt(4, "succeeded"))
    where = "@7 arith.addi at in.mlir:3:10"
    assert stopped.do("why-not Fold").splitlines()[3:] == [
        f"#6 {where}, compared with 2 successes and 3 failures without a reason:",
        "  the result has one use: in all 2 successes and 1 of 3 failures; here: 3",
        "    or operand 0 is a constant",
        "    or 4 more that hold in the same attempts",
        f"The nearest success is #4 {where}; there",
        "  operand 0 is a constant",
    ]
    assert len(stopped.do("why-not Fold --all").splitlines()) == 3
    past.compared = compared(None)
    assert stopped.do("why-not Fold").splitlines()[3:] == [
        "There is nothing to compare 3 failures without a reason with: no attempt of FoldA has "
        "succeeded up to here. Name another run with --against."
    ]


def test_a_contrast_in_json() -> None:
    driver = Driver(json=True)
    driver.session.past.attempts = [attempt(6, "failed")]
    driver.session.past.compared = compared(attempt(4, "succeeded"))
    result = driver.results("start", "why-not Fold")[1]["result"]["contrast"]
    assert (result["failure"], result["nearest"], result["successes"]) == (6, 4, 2)
    assert result["findings"][0]["statement"] == "the result has one use"


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("why-not Fold", ("why_not", "Fold", None, None)),
        ("why-not Fold in.mlir:3", ("why_not", "Fold", "in.mlir:3", None)),
        ("why-not Fold cursor", ("why_not", "Fold", None, 7)),
        ("why-not Fold @12", ("why_not", "Fold", None, 12)),
        ("why-not Fold --next", ("next_attempt", "Fold", None)),
        ("why-not Fold cursor --next", ("next_attempt", "Fold", "in.mlir:3:10")),
        ("history", ("history", "cursor")),
        ("history @12", ("history", "@12")),
        ("history %x#1", ("history", "%x#1")),
    ],
)
def test_questions_about_the_past(stopped: Driver, line: str, call: tuple[Any, ...]) -> None:
    stopped.session.past.attempts = [attempt(4, "failed")]
    stopped.do(line)
    assert stopped.session.calls[0] == call


def test_why_not_continues_without_attempts(stopped: Driver) -> None:
    printed = stopped.do("why-not Inline")
    assert "There was no attempt of Inline so far: continuing to the next." in printed
    assert "Stopped before #2" in printed
    texts = (
        "No attempt of Inline has ended so far.",
        "There was no attempt of Inline: no pattern 'Inline' is known. 'info patterns' lists the "
        "patterns of this run.",
    )
    for when, text in zip(("during", "exit"), texts, strict=True):
        assert isinstance(stopped.session.stop, Stop)
        stopped.session.stop = msgspec.structs.replace(stopped.session.stop, when=when)
        assert stopped.do("why-not Inline") == f"{text}\n"


def test_why_not_names_the_attempts_elsewhere(stopped: Driver) -> None:
    def at(ordinal: int, location: str | None, op: str = "arith.addi") -> Attempt:
        return msgspec.structs.replace(attempt(ordinal, "failed"), location=location, op=op)

    stopped.session.past.attempts = [
        at(4, "in.mlir:3:10"),
        at(5, "other.mlir:18:2"),
        at(6, "in.mlir:17:10"),
        at(7, "in.mlir:17:10"),
        at(8, "in.mlir:17:10", "arith.muli"),
        at(9, "in.mlir:20:1"),
        at(10, None),
    ]
    assert stopped.do("why-not Fold in.mlir:18").splitlines() == [
        "There was no attempt of Fold at in.mlir:18 up to here. There were 7 attempts elsewhere:",
        "  2 x  arith.addi at in.mlir:17:10 in @main",
        "  1 x  arith.muli at in.mlir:17:10 in @main",
        "  1 x  arith.addi at in.mlir:20:1 in @main",
        "  1 x  arith.addi at in.mlir:3:10 in @main",
        "  1 x  arith.addi at other.mlir:18:2 in @main",
        "  and 1 more place",
        "'why-not --next' continues to the next attempt there.",
    ]
    assert "no attempt of Fold on @9 up to here" in stopped.do("why-not Fold @9")
    assert len(stopped.do("why-not Fold in.mlir:3").splitlines()) == 2


def test_why_not_in_json() -> None:
    driver = Driver(json=True)
    driver.session.past.attempts = [attempt(4, "failed", "x"), attempt(5, "failed", "x")]
    result = driver.results("start", "why-not Fold")[1]["result"]
    assert [each["ordinal"] for each in result["attempts"]] == [4, 5]
    assert result["attempts"][0]["outcome"]["reasons"] == ["x"]
    assert result["groups"] == [{"result": "failed", "reason": "x", "count": 2, "first": 4}]


def test_history_is_a_table(stopped: Driver) -> None:
    stopped.session.past.lived = lived()
    assert stopped.do("history @7").splitlines() == [
        "@7 arith.addi",
        "  #0    created             by the parser",
        "  #12   modified: operands  by apply-pattern (FoldA) (a guess)",
        "  #123  replaced            by apply-pattern (FoldA)",
        "  It replaced @3.",
        "  It became @12, @13.",
    ]


def test_lines_of_history_need_the_interactive_prompt(stopped: Driver) -> None:
    assert "There is no place '10:': give %NAME, @ID" in stopped.do("history 10:")


# --- breakpoints, watches, catches --------------------------------------------------


@pytest.mark.parametrize(
    ("line", "text", "listed"),
    [
        (
            "break FoldA --outcome failed,changed",
            "Breakpoint 1: pattern:FoldA, after the action if failed,changed",
            "pattern:FoldA, after the action if failed,changed",
        ),
        (
            "tbreak --outcome skipped --outcome 'reason:*a b*' cse if depth > 1",
            "Temporary breakpoint 1: pass:cse if depth > 1, "
            "after the action if skipped,reason:*a b*",
            "after the action if skipped,reason:*a b*, once",
        ),
        ("watch cursor --exact if depth > 1", "Watch 1: --exact @7 if depth > 1", "watch --exact"),
        ("watch op:arith.* count", "Watch 1: op:arith.* count", "watch op:arith.* count"),
        (
            "watch attribute value of @12",
            "Watch 1: attribute value of @12",
            "watch attribute value of @12",
        ),
        ("catch crash", "Catch 1: crash", "catch crash"),
    ],
)
def test_set_and_list(driver: Driver, line: str, text: str, listed: str) -> None:
    driver.do("start")
    assert driver.do(line) == f"{text}\n"
    assert listed in driver.do("info breakpoints")
    assert driver.do("disable 1", "delete 1", "list") == "There are no breakpoints.\n"


@pytest.mark.parametrize(
    ("line", "glob"),
    [
        ("catch diag *a b*", "*a b*"),
        ("catch diagnostic '*a  b*'", "*a  b*"),
        ("catch diagnostic *can't > x*", "*can't > x*"),
        ("catch failure", None),
    ],
)
def test_catch_takes_the_rest_of_the_line(driver: Driver, line: str, glob: str | None) -> None:
    driver.do(line)
    catch = driver.session.breakpoints.all()[0].catch
    assert catch is not None and catch.glob == glob
    driver.do(driver.session.breakpoints.all()[0].spec)  # as a saved script does
    assert driver.session.breakpoints.all()[1].spec == driver.session.breakpoints.all()[0].spec


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("break x --outcome maybe", "There is no outcome 'maybe'"),
        ("watch nothing", "'nothing' cannot be watched"),
        ("catch nothing", "There is no event 'nothing' to catch: take failure, crash, verify"),
        ("catch crash x", "catch crash takes no glob"),
    ],
)
def test_errors_of_arguments(driver: Driver, line: str, message: str) -> None:
    assert message in driver.do(line)
    assert driver.session.breakpoints.all() == []


def test_verifying_is_a_setting_of_the_sessions(driver: Driver) -> None:
    assert driver.do("set verify on", "show verify-each-action") == "verify-each-action  on\n"
    assert driver.session.options.verify_each_action is True
    driver.session.options.verify_each_action = False
    assert driver.do("show verify-each-action") == "verify-each-action  off\n"


def test_address_randomisation_is_an_option_of_the_session(driver: Driver) -> None:
    assert driver.do("show disable-randomization") == "disable-randomization  on\n"
    driver.do("set disable-r off")
    assert driver.session.options.disable_randomization is False
    assert "disable-randomization  off" in driver.do("show")


@pytest.mark.parametrize(
    ("text", "taken", "rest"),
    [
        ("--exact @1 if a > 1", ["--exact"], "@1 if a > 1"),
        ("@1 --exact if a > 1", ["--exact"], "@1 if a > 1"),
        ("@1 if a > 1 --exact", ["--exact"], "@1 if a > 1"),
        ("x if n ~ '--exact if' --out=a", ["--out=a"], "x if n ~ '--exact if'"),
        ("x --out 'a b' --out c", ["--out=c", "--out=a b"], "x"),
        ("x --outer", [], "x --outer"),
    ],
)
def test_options_are_taken_off_a_text(text: str, taken: list[str], rest: str) -> None:
    assert take_options(text, {"--exact": False, "--out": True}) == (taken, rest)
