"""Standing skip rules: in each run, across time travel and branches, in files."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.stop import Stop
from tests.conftest import LIBRARY
from tests.fakes import command_line
from tests.fakes import stock_tool as stock

BUILDS = LIBRARY

Launch = Callable[..., actiondbg.Session]

RULE = "pattern:AddIAddConstant"


def skipped(session: actiondbg.Session) -> list[int]:
    """Return the ordinals of the skipped actions of the timeline, up to its end."""
    found = session.past.actions(count=10**6).actions
    return [one.ordinal for one in found if one.outcome and one.outcome.result == "skipped"]


def test_a_rule_skips_in_each_run(launch: Launch) -> None:
    session = launch()
    session.run()
    plain = session.target.output()
    rule = session.skips.rules.add(RULE, "line > 1")
    assert session.skips.rules.add(RULE, "line > 1") is rule
    for _ in range(2):
        assert session.run().when == "exit"
        assert session.target.output() != plain
        assert {one.name for one in session.past.actions(RULE).actions} == {"AddIAddConstant"}
        attempts = session.past.why_not("AddIAddConstant").attempts
        assert attempts and {one.outcome.result for one in attempts} == {"skipped"}
    session.skips.rules.remove([rule.id])
    session.run()
    assert session.target.output() == plain


def test_a_rule_takes_a_bare_name_or_line(launch: Launch) -> None:
    session = launch()
    assert session.skips.rules.add("sum and 6").spec == "func:sum and folds.mlir:6"
    assert session.skips.rules.add("func:sum and folds.mlir:6").id == 1
    session.breakpoints.add("6 and tag:apply-pattern")
    assert session.run().skipped


def test_a_stop_reports_that_a_rule_skips_the_action(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add(RULE)
    stop = session.run()
    assert not stop.skipped
    session.skips.rules.add(RULE)
    assert session.stop is not None and session.stop.skipped
    after = session.step()
    assert after.outcome is not None and after.outcome.result == "skipped"
    assert session.continue_().skipped


def test_applying_an_action_in_spite_of_a_rule_begins_a_branch(launch: Launch) -> None:
    session = launch()
    session.run()
    plain = session.target.output()
    session.skips.rules.add(RULE)
    session.run()
    ruled, ordinals = session.target.output(), skipped(session)
    stop = session.timeline.goto(ordinals[0])
    assert stop.skipped
    while stop.when != "exit":
        stop = session.apply()
        if stop.when != "exit" or not skipped(session):
            break
        stop = session.timeline.goto(skipped(session)[0])
    assert session.target.output() == plain
    assert len(session.timeline.branches().branches) > 1
    # The first timeline is as it was.
    session.skips.rules.remove([1])
    session.skips.rules.add(RULE)
    session.run()
    assert (session.target.output(), skipped(session)) == (ruled, ordinals)


def test_a_rule_applies_from_the_stop_on(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add(RULE)
    first = session.run().ordinal
    middle = session.continue_().ordinal
    session.skips.rules.add(RULE)
    assert middle in skipped(session) and first not in skipped(session)
    session.breakpoints.disable([1])
    assert session.continue_().when == "exit"
    output, ordinals = session.target.output(), skipped(session)
    assert ordinals[0] == middle
    assert session.timeline.goto(first).skipped is False
    assert session.continue_().when == "exit"
    assert (session.target.output(), skipped(session)) == (output, ordinals)
    session.timeline.goto(first)
    session.skips.rules.remove([1])
    assert session.continue_().when == "exit"
    assert skipped(session) == []


@pytest.mark.parametrize("seed", range(4))
def test_time_travel_leads_to_the_same_places(launch: Launch, seed: int) -> None:
    """Whatever is done with rules, an event of a timeline is the same each time."""
    choose = random.Random(seed)
    flags = "--pass-pipeline=builtin.module(func.func(cse,canonicalize),canonicalize)"
    session = launch(flags, source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    known: dict[tuple[int, int], tuple[int, str, str, bool]] = {}

    def check(stop: Stop) -> None:
        if stop.when == "exit":
            return
        branch = session.timeline.branches().current
        place = (stop.ordinal, stop.when, stop.name, stop.skipped and stop.when == "after")
        assert known.setdefault((branch, stop.event), place) == place

    for _ in range(25):
        rules = session.skips.rules
        if choose.random() < 0.2:
            rules.add(choose.choice(["tag:fold", "pattern:*", "pass:cse", "func:f*"]))
        elif choose.random() < 0.2 and rules.all():
            rules.remove([choose.choice(rules.all()).id])
        if session.state == "exited" or choose.random() < 0.4:
            check(session.timeline.goto(choose.randint(1, 12)))
        elif session.stop and session.stop.when == "before" and choose.random() < 0.3:
            check(choose.choice([session.skip, session.apply])())
        else:
            check(session.step(choose.randint(1, 6)))
    if session.state == "stopped":
        session.continue_()
    output, ordinals = session.target.output(), skipped(session)
    session.timeline.goto(1)
    session.continue_()
    assert (session.target.output(), skipped(session)) == (output, ordinals)


def test_rules_are_saved_and_loaded(launch: Launch) -> None:
    session = launch()
    session.skips.rules.add("pattern:Add* and func:twice", "line > 1")
    session.run()
    output = session.target.output()
    assert session.skips.save("my.skips") == 1
    again = launch()
    assert again.skips.load("my.skips") == 1
    assert [one.text for one in again.skips.rules.all()] == [
        "pattern:Add* and func:twice if line > 1"
    ]
    again.run()
    assert again.target.output() == output
    Path("my.skips").write_text(Path("my.skips").read_text() + '{"rule": 3}\n')
    with pytest.raises(errors.UsageError, match=r"my.skips:3 is not a saved skip"):
        again.skips.load("my.skips")


def test_mistakes(launch: Launch) -> None:
    rules = launch().skips.rules
    with pytest.raises(errors.UsageError, match="cannot depend on 'hits'"):
        rules.add("pattern:*", "line > 3 and hits == 2")
    with pytest.raises(errors.UsageError, match="There is no skip rule 3: there are none"):
        rules.remove([3])
    with pytest.raises(errors.UsageError, match="Nothing follows pattern"):
        rules.add("pattern:")
    assert rules.all() == []


def test_commands(mlir_opt: str, folds: str) -> None:
    words = (
        "set skip pattern:AddIAdd* if line > 1",
        "show skip",
        "run > /dev/null",
        "info actions pattern:AddIAdd* --count 1",
        "delete skip all",
        "show skip",
        "set skip",
    )
    options = [word for line in words for word in ("-ex", line)]
    argv = ["-nx", "--batch", "--skip", "fold:a", *options, mlir_opt, folds]
    run = command_line.run(*argv, "--canonicalize")
    assert (run.returncode, "an argument is missing" in run.stderr) == (1, True)
    lines = run.stdout.splitlines()
    assert lines[:3] == [
        "Skip rule 2: pattern:AddIAdd* if line > 1",
        "1: fold:a",
        "2: pattern:AddIAdd* if line > 1",
    ]
    assert any(line.endswith(": skipped") for line in lines)
    assert lines[-1] == "There are no skip rules."
