"""Session against a fake agent: outcomes, changes, watches, catches, statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from actiondbg.errors import NoSuchUnit, NotStopped, UsageError

if TYPE_CHECKING:
    from tests.fakes.agent.fixtures import Launch


def test_stop_after_an_action_has_outcome_and_changes(fake: Launch) -> None:
    session = fake()
    session.breakpoints.add("FoldB", outcome="changed")
    stop = session.run()
    assert (stop.when, stop.ordinal, stop.id, stop.cursor_id) == ("after", 3, 12, 12)
    assert stop.outcome is not None and stop.outcome.result == "succeeded"
    assert [(one.kind, one.id) for one in stop.changes] == [
        ("inserted", 14),
        ("replaced", 12),
        ("modified", 13),
    ]
    assert stop.change_count == 3
    told = stop.as_json()
    assert told["outcome"] == {
        "result": "succeeded",
        "reasons": [],
        "how": None,
        "values": [],
        "unheard": False,
    }
    assert told["changes"][1] == {
        "kind": "replaced",
        "what": "operation",
        "op": "arith.addi",
        "id": 12,
        "by": [{"id": 14, "op": "arith.muli", "result": 0}],
        "location": None,
        "ordinal": 3,
        "guess": False,
    }
    assert told["id"] == 12 and told["message"] is None and told["culprit"] is None
    assert "changeCount" not in told and "change_count" not in told


def test_breakpoints_on_outcomes(fake: Launch) -> None:
    session = fake()
    failed = session.breakpoints.add("Fold*", outcome="failed,reason:*and no use*")
    assert (failed.kind, failed.outcome, failed.after) == (
        "breakpoint",
        "failed,reason:*and no use*",
        True,
    )
    assert session.run().ordinal == 2
    session.breakpoints.delete([failed.id])
    session.breakpoints.add("Fold*", outcome="reason:*and no use*")
    stop = session.continue_()
    assert stop.ordinal == 5
    assert stop.outcome is not None and stop.outcome.reasons == ["no constant", "and no use"]
    with pytest.raises(UsageError, match="There is no outcome 'filed'"):
        session.breakpoints.add("FoldA", outcome="filed")
    assert len(session.breakpoints.all()) == 1


def test_next_change_and_next_attempt(fake: Launch) -> None:
    session = fake()
    session.start()
    stop = session.next_change()
    assert (stop.when, stop.ordinal, stop.reason) == ("after", 3, "until")
    session.start()
    assert session.next_attempt("FoldA", "in.mlir:3").when == "after"
    with pytest.raises(UsageError, match="'op:x' is not a location"):
        session.next_attempt("FoldA", "op:x")
    assert session.next_change().ordinal == 3
    assert session.next_change().when == "exit"


def test_a_watch_names_an_operation_by_its_id(fake: Launch) -> None:
    session = fake()
    session.start()
    watch = session.breakpoints.watch("cursor", condition="depth > 0")
    assert (watch.kind, watch.spec, watch.condition) == ("watch", "watch @12", "depth > 0")
    stop = session.continue_()
    assert (stop.when, stop.ordinal, stop.breakpoints) == ("after", 2, [watch.id])
    assert stop.message == "@12 arith.addi was modified: operands"
    assert stop.culprit is not None and stop.culprit.ordinal == 2
    assert session.breakpoints.get(watch.id).hits == 1
    session.breakpoints.disable([watch.id])
    assert session.continue_().when == "exit"
    session.breakpoints.enable([watch.id])
    assert session.run().ordinal == 2, "it is kept for the next run"


@pytest.mark.parametrize("at", ["operation", "block", "action"])
def test_a_watch_of_a_value_leaves_the_cursor(fake: Launch, at: str) -> None:
    session = fake()
    session.start()
    if at == "block":
        session.cursor.move("child", index=0)
    if at == "operation":
        session.cursor.move("function")
    before = session.cursor.get()
    assert (
        session.breakpoints.watch("attribute value of %0#1").spec == "watch attribute value of @12"
    )
    with pytest.raises(NoSuchUnit, match="%none"):
        session.breakpoints.watch("%none")
    with pytest.raises(UsageError, match=r"%arg0 is a block argument, not an operation.* @7"):
        session.breakpoints.watch("%arg0")
    assert session.cursor.get() == before
    if at == "block":
        with pytest.raises(UsageError, match="cursor is on a block"):
            session.breakpoints.watch("cursor")
    assert len(session.breakpoints.all()) == 1


def test_watches_before_the_tool_runs(fake: Launch) -> None:
    session = fake()
    assert session.breakpoints.watch("@12", exact=True).spec == "watch --exact @12"
    assert session.breakpoints.watch("op:arith.* count").watch is not None
    assert session.breakpoints.catch("failure", "canonical*").kind == "catch"
    for target in ("cursor", "%3"):
        with pytest.raises(NotStopped, match="start it"):
            session.breakpoints.watch(target)
    with pytest.raises(UsageError, match="no event"):
        session.breakpoints.catch("everything")
    assert [one.id for one in session.breakpoints.all()] == [1, 2, 3]


def test_changes_statistics_and_counts(fake: Launch) -> None:
    session = fake()
    session.start()
    session.breakpoints.add("#3", after=True)
    session.continue_()
    changes = session.outcome.changes()
    assert (len(changes.changes), changes.total, changes.counts) == (3, 3, {"inserted": 1})
    assert len(session.outcome.changes(nested=False, limit=1).changes) == 1
    with pytest.raises(UsageError, match="-1 changes"):
        session.outcome.changes(limit=-1)
    assert [row.name for row in session.past.statistics()] == ["FoldA", "FoldB"]
    assert session.past.statistics("pass") == []
    assert session.ir.count("arith.*") == 7
    assert session.ir.count("arith.*", function=True) == 1
    with pytest.raises(UsageError, match="not closed"):
        session.ir.count("[")


def test_verification_is_kept_over_runs(fake: Launch) -> None:
    session = fake()
    assert not session.options.verify_each_action
    session.start()
    session.options.verify_each_action = True
    assert session.status().tracked == 1  # the fake tells it so
    session.restart()
    assert session.options.verify_each_action and session.status().tracked == 1
    session.options.verify_each_action = False
    assert session.status().tracked == 0
    session.restart()
    assert session.status().tracked == 0
