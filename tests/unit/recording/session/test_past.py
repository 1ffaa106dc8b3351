"""What a session over a recording tells: actions, changes, lives, statistics, IR."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from actiondbg.errors import NoSuchUnit, NotRecorded, UnitErased, UsageError
from actiondbg.recording.session import open_session
from actiondbg.recording.session.recorded_session import RecordedSession
from tests.fakes.recording.recordings import Action, Change, fake_recording, write_recording
from tests.fakes.recording.session import (
    AFTER,
    BEFORE,
    FOLDED,
    OPERATIONS,
    actions,
    recorded_session,
)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[RecordedSession]:
    with recorded_session(tmp_path) as opened:
        yield opened


# --- stops and the stack -------------------------------------------------------------


def test_stop_describes_its_action(session: RecordedSession) -> None:
    stop = session.timeline.goto(5)
    assert (stop.tag, stop.name, stop.op, stop.id) == ("apply-pattern", "B", "arith.addi", 3)
    assert (stop.location, stop.function, stop.depth) == ("in.mlir:3:8", "f", 2)
    assert (stop.nth, stop.outcome, stop.changes) == (2, None, [])
    stop = session.next()
    assert stop.outcome is not None
    assert (stop.outcome.result, stop.change_count, stop.cursor_id) == ("succeeded", 3, 10)
    assert [(each.kind, each.op, each.id) for each in stop.changes] == [
        ("inserted", "arith.muli", 10),
        ("replaced", "arith.addi", 3),
        ("erased", "arith.addi", 3),
    ]
    by = stop.changes[1].by
    assert by is not None and [(each.id, each.op) for each in by] == [(10, "arith.muli")]


def test_reasons_and_how_are_in_the_outcome(session: RecordedSession) -> None:
    outcome = session.timeline.goto(7, "after").outcome
    assert outcome is not None
    assert (outcome.result, outcome.reasons) == ("failed", ["no constant", "again"])
    stop = session.timeline.goto(3, "after")
    assert stop.outcome is not None and stop.outcome.how == "constants"
    # Its caller has not put it in place yet.
    assert (stop.change_count, stop.cursor_id) == (0, 2)


def test_the_stack_and_its_frames(session: RecordedSession) -> None:
    session.timeline.goto(5)
    frames = session.stack.frames()
    assert [(frame.index, frame.ordinal, frame.depth) for frame in frames] == [
        (0, 5, 2),
        (1, 2, 1),
        (2, 1, 0),
    ]
    assert session.stack.select(1).ordinal == 2
    assert (session.stack.selected, session.stack.action().ordinal) == (1, 2)
    with pytest.raises(NoSuchUnit, match="no frame 3: the outermost frame is 2"):
        session.stack.select(3)
    session.step()
    assert session.stack.selected == 0


def test_an_action_in_full(session: RecordedSession) -> None:
    session.timeline.goto(5)
    action = session.stack.action()
    assert (action.full_name, action.labels) == ("(anonymous namespace)::B", ["one", "two"])
    assert (action.iteration, action.when) == (1, "before")
    assert action.full_location == 'loc("in.mlir":3:8)'
    session.timeline.goto(7, "after")
    assert (session.stack.action().iteration, session.stack.action().when) == (2, "after")


def test_a_conversion_counts_its_patterns(tmp_path: Path) -> None:
    ran = [
        Action("", "apply-conversion", operation=1, outcome="succeeded"),
        Action("A", depth=1, operation=2, outcome="succeeded"),
        Action("A", depth=1, operation=3, outcome="failed", rolled_back=True),
        Action("B", depth=1, operation=3, outcome="succeeded"),
    ]
    with recorded_session(tmp_path, actions=ran) as session:
        outcome = session.timeline.goto(1, "after").outcome
        assert outcome is not None
        assert outcome.how == "legalized 2 operations, rolled back 1 pattern"


# --- the cursor ----------------------------------------------------------------------


def test_cursor_follows_the_replacement_of_its_operation(session: RecordedSession) -> None:
    session.timeline.goto(5)
    assert (session.cursor.get().unit.id, session.cursor.get().function) == (3, "f")
    session.next()
    assert (session.cursor.get().unit.id, session.cursor.get().unit.name) == (10, "arith.muli")
    [unit] = session.stack.context()
    assert (unit.id, unit.state, unit.name) == (10, "replaced", "arith.muli")


def test_cursor_moves_to_the_parent_of_an_erased_operation(tmp_path: Path) -> None:
    ran = [
        Action("canonicalize", "pass-execution", operation=1, outcome="succeeded"),
        Action(depth=1, operation=2, outcome="succeeded", changes=[Change("erased", 2)]),
    ]
    with recorded_session(tmp_path, actions=ran) as session:
        stop = session.timeline.goto(2, "after")
        assert (stop.id, stop.cursor_id) == (2, 1)
        [unit] = session.stack.context()
        assert (unit.id, unit.state, unit.text) == (2, "erased", None)
        with pytest.raises(UnitErased, match="is erased"):
            session.cursor.move("context", index=0)


def test_the_cursor_moves_by_id(session: RecordedSession) -> None:
    session.timeline.goto(5)
    assert session.cursor.move("id", index=9).unit.name == "arith.constant"
    for id in (2, 10, 77):  # was erased, comes later, never was
        with pytest.raises(NoSuchUnit, match=f"no operation @{id} now"):
            session.cursor.move("id", index=id)
    assert session.cursor.move("action").unit.id == 3
    assert session.cursor.move("context", index=0).unit.id == 3
    with pytest.raises(NoSuchUnit, match="no IR unit 1"):
        session.cursor.move("context", index=1)


# --- what was done -------------------------------------------------------------------


def test_changes_are_those_so_far(session: RecordedSession) -> None:
    session.timeline.goto(4)
    session.stack.select(2)
    found = session.outcome.changes()
    assert (found.total, found.counts["inserted"]) == (3, 1)
    assert [(each.id, each.ordinal, each.guess) for each in found.changes] == [
        (9, 3, True),
        (2, 3, True),
        (2, 3, True),
    ]
    session.timeline.goto(1, "after")
    assert [each.ordinal for each in session.outcome.changes().changes] == [3, 3, 3, 5, 5, 5]
    assert session.outcome.changes(limit=2).total == 6
    assert session.outcome.changes(nested=False).total == 0


def test_changes_of_an_outer_action_are_in_order(tmp_path: Path) -> None:
    ran = [
        Action("cse", "pass-execution", operation=1, outcome="succeeded"),
        Action(depth=1, operation=2, outcome="succeeded", changes=[Change("modified", 2)]),
        Action(depth=1, operation=3, outcome="succeeded", changes=[Change("modified", 3)]),
    ]
    ran[0].changes = [Change("erased", 9)]  # before both, as it is written
    with recorded_session(tmp_path, actions=ran) as session:
        session.timeline.goto(2)
        session.stack.select(1)
        assert session.outcome.changes().total == 0  # it is not certain yet
        session.timeline.goto(2, "after")
        session.stack.select(1)
        assert [each.id for each in session.outcome.changes().changes] == [9, 2]


def test_statistics_count_finished_actions(session: RecordedSession) -> None:
    session.timeline.goto(5)
    [row] = session.past.statistics("pattern")
    assert (row.name, row.attempts, row.failed, row.succeeded) == ("A", 1, 1, 0)
    session.continue_()
    rows = {row.name: row for row in session.past.statistics()}
    assert (rows["A"].attempts, rows["A"].failed) == (2, 2)
    assert (rows["B"].succeeded, rows["B"].unchanged, rows["B"].changes) == (1, 0, 3)
    assert (rows[""].attempts, rows[""].unchanged, rows[""].changes) == (2, 1, 6)
    assert (rows["canonicalize"].changes, rows["arith.addi"].changes) == (6, 0)
    assert rows["B"].seconds == pytest.approx(500e-9)
    assert [row.name for row in session.past.statistics("pass")] == ["canonicalize", "cse"]


def test_attempts_are_grouped_by_result_and_reasons(session: RecordedSession) -> None:
    session.timeline.goto(6)
    assert len(session.past.why_not("A").attempts) == 1
    session.continue_()
    found = session.past.why_not("A")
    assert [each.ordinal for each in found.attempts] == [4, 7]
    assert [(each.result, each.reason, each.count) for each in found.grouped()] == [
        ("failed", "no constant", 1),
        ("failed", "no constant; again", 1),
    ]
    assert [each.ordinal for each in found.attempts[1:]] == [7]
    assert [each.ordinal for each in session.past.why_not("*", op_id=3).attempts] == [4, 5]
    assert [each.ordinal for each in session.past.why_not("*", "in.mlir:3").attempts] == [4, 5, 7]
    assert session.past.why_not("Z").grouped() == []
    with pytest.raises(UsageError, match="The name of the pattern is empty"):
        session.past.why_not("")
    with pytest.raises(UsageError, match="is not a location"):
        session.past.why_not("A", "nowhere")


def test_attempts_of_a_large_recording(tmp_path: Path) -> None:
    fake_recording(tmp_path / "run.adbrec", 3000)
    with open_session(tmp_path / "run.adbrec") as session:
        session.continue_()
        found = session.past.why_not("*")
        groups = found.grouped()
        assert sum(each.count for each in groups) == len(found.attempts)
        assert [each.count for each in groups] == sorted((g.count for g in groups), reverse=True)
        for group in groups:
            same = [
                each.ordinal
                for each in found.attempts
                if (each.outcome.result, "; ".join(each.outcome.reasons))
                == (group.result, group.reason)
            ]
            assert (len(same), same[0]) == (group.count, group.first.ordinal)


def test_the_life_of_an_operation(session: RecordedSession) -> None:
    session.timeline.goto(6)
    life = session.past.history("@3")
    assert [(each.ordinal, each.kind) for each in life.events] == [
        (0, "created"),
        (5, "replaced"),
    ]
    assert life.events[1].message == "@3 arith.addi was replaced by @10 arith.muli"
    assert (life.op, life.became) == ("arith.addi", [10])
    made = session.past.history("@10")
    assert [(each.ordinal, each.kind) for each in made.events] == [(5, "created")]
    assert made.made_from == [3]
    session.timeline.goto(4)
    assert [each.kind for each in session.past.history("@3").events] == ["created"]
    for id in (10, 99):  # comes later, never was
        with pytest.raises(NoSuchUnit, match=f"no operation @{id} in this run up to now"):
            session.past.history(f"@{id}")


def test_actions_that_undo_each_other_are_a_cycle(tmp_path: Path) -> None:
    ran = [Action("canonicalize", "pass-execution", operation=1, outcome="succeeded")]
    for turn in range(20):
        name = "There" if turn % 2 == 0 else "Back"
        changes = [Change("modified", 2)]
        ran.append(Action(name, depth=1, operation=2, outcome="succeeded", changes=changes))
    with recorded_session(tmp_path, actions=ran, ir="none") as session:
        session.continue_()
        found = session.past.cycles()
        assert found is not None
        assert [each.name for each in found.round] == ["There", "Back"]
        assert (found.times, found.diffs) == (10, [])
        session.start()
        assert session.past.cycles() is None


def test_names_are_those_of_the_recording(session: RecordedSession) -> None:
    assert session.names.get("pattern") == ["A", "B"]
    assert session.names.get("pass") == ["canonicalize", "cse"]
    assert "fold" in session.names.get("tag")
    assert session.names.get("op") == ["arith.addi", "arith.constant", "arith.muli", "func.func"]


def test_the_timeline_has_one_branch(session: RecordedSession) -> None:
    session.timeline.goto(5)
    timeline = session.timeline.branches()
    assert (timeline.when, timeline.ordinal, timeline.event) == ("before", 5, 7)
    [branch] = timeline.branches
    assert (branch.actions, branch.ended) == (8, True)


# --- IR ------------------------------------------------------------------------------


def test_the_diff_of_an_action(session: RecordedSession) -> None:
    session.continue_()
    diff = session.past.diff(5)
    assert (diff.before, diff.title) == (FOLDED, "#5 apply-pattern B")
    assert [line for line in diff.unified() if line[0] in "+-"] == [
        "-  %0 = arith.constant 7 : i32",
        "+  %0 = arith.muli %a, %b : i32",
    ]
    assert session.past.diff(4).is_empty
    with pytest.raises(UsageError, match="not stopped after an action"):
        session.past.diff()
    with pytest.raises(NotRecorded, match="leave --module out"):
        session.past.diff(5, module=True)
    session.timeline.goto(5)
    with pytest.raises(UsageError, match="#5 has not ended"):
        session.past.diff(5)
    with pytest.raises(UsageError, match="#7 has not begun"):
        session.past.diff(7)
    assert session.next().when == "after"
    assert session.past.diff().ordinal == 5


def test_a_function_is_printed_as_it_was(session: RecordedSession) -> None:
    def printed(ordinal: int, when: str = "before") -> str:
        session.timeline.goto(ordinal, when)  # pyright: ignore[reportArgumentType]
        with session.ir.print("function") as text:
            return text.text

    assert printed(1) == printed(3) == BEFORE
    assert printed(3, "after") == BEFORE  # what it found is put in place later
    assert printed(4) == printed(4, "after") == printed(5) == FOLDED
    assert printed(5, "after") == printed(7) == printed(8, "after") == AFTER


def test_missing_data_is_reported(session: RecordedSession) -> None:
    session.timeline.goto(5)
    with pytest.raises(NotRecorded, match="holds no IR of the module"):
        session.ir.print("module")
    with pytest.raises(NotRecorded, match="leave out --generic"):
        session.ir.print("function", generic=True)
    with pytest.raises(NotRecorded, match="does not hold the IR of @3 here"):
        session.ir.print("cursor")


def test_ir_that_an_outer_action_may_have_changed_is_not_guessed(tmp_path: Path) -> None:
    ran = actions()
    ran[5].changes = [Change("modified", 10)]  # before or after #7, which is nested in it
    with recorded_session(tmp_path, actions=ran) as session:
        session.timeline.goto(6)
        with session.ir.print("function") as printed:
            assert printed.text == AFTER
        session.timeline.goto(7)
        with pytest.raises(
            NotRecorded, match="not hold the IR of @f here: it holds this IR after #5"
        ):
            session.ir.print("function")


def test_missing_ir_names_the_option_that_records_it(tmp_path: Path) -> None:
    with recorded_session(tmp_path, ir="none", actions=_without_ir()) as session:
        session.timeline.goto(5, "after")
        assert not session.holds_ir
        for ask in (lambda: session.ir.print(), lambda: session.past.diff(5)):
            with pytest.raises(NotRecorded, match="holds no IR: record it with --ir function"):
                ask()
        assert session.past.diff(4).is_empty


def _without_ir() -> list[Action]:
    ran = actions()
    for each in ran:
        each.ir = ()
    return ran


def test_lines_of_operations(tmp_path: Path) -> None:
    ran = _without_ir()
    ran[4].ir = [(3, "%3 = arith.addi(%1, %2)", None), (10, None, "%10 = arith.muli(%1, %2)")]
    with recorded_session(tmp_path, actions=ran, ir="changed") as session:
        session.timeline.goto(5)
        with session.ir.print("cursor") as printed:
            assert printed.text == "%3 = arith.addi(%1, %2)"
        [unit] = session.stack.context()
        assert unit.text == "%3 = arith.addi(%1, %2)"
        session.next()
        assert session.past.diff().unified() == [
            "@@ -1 +1 @@",
            "-%3 = arith.addi(%1, %2)",
            "+%10 = arith.muli(%1, %2)",
        ]
        with pytest.raises(NotRecorded, match="no functions: record it with --ir function"):
            session.ir.print("function")
        with pytest.raises(NotRecorded, match="with the nested actions"):
            session.past.diff(3)


def test_files_are_removed_with_the_session(tmp_path: Path) -> None:
    with recorded_session(tmp_path) as session:
        printed = session.ir.print("function")
        assert printed.text == BEFORE
        directory = session.ir._new_file().parent  # pyright: ignore[reportPrivateUsage]
        assert directory.is_dir()
    assert not directory.exists()
    write_recording(tmp_path / "other.adbrec", actions(), OPERATIONS)
