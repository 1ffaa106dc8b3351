"""Names in breakpoints: what they mean to a real tool, and which breakpoints were never hit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import UsageError
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.query.database import open_database
from actiondbg.recording.session.recorded_session import RecordedSession
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import stock_tool as stock

BUILDS = LIBRARY

Launch = Callable[..., actiondbg.Session]


def specs(session: actiondbg.Session) -> list[tuple[str, bool]]:
    return [(one.spec, one.pending is not None) for one in session.breakpoints.hits()]


def test_names_of_the_input_are_known_before_the_tool_starts(launch: Launch) -> None:
    session = launch()
    wanted = {"sum": "func:sum", "arith.addi": "op:arith.addi", "canonicalize": "pass:canonicalize"}
    wanted |= {"8": "folds.mlir:8", "folds.mlir": "folds.mlir", "fold": "tag:fold"}
    for name, spec in wanted.items():
        one = session.breakpoints.add(name)
        assert (one.spec, one.pending) == (spec, None)
    for _ in stock.each(session):
        pass
    for one in some(session.breakpoints.all()):
        assert one.hits > 0, one.spec


def test_each_name_stops_where_its_kind_does(launch: Launch) -> None:
    session = launch()
    pairs = [("twice", "func:twice"), ("AddIAddConstant", "pattern:AddIAddConstant")]
    pairs += [("arith.addi", "op:arith.addi"), ("5", "folds.mlir:5"), ("zzz*", "tag:zzz*")]
    for pair in pairs:
        for spec in pair:
            session.breakpoints.add(spec)
    for _ in stock.each(session):
        pass
    hits = [one.hits for one in session.breakpoints.all()]
    assert hits[::2] == hits[1::2] and all(hits[:8]) and not any(hits[8:])


def test_a_pending_name_is_looked_up_when_it_turns_up(launch: Launch, tmp_path: Path) -> None:
    # The tool alone can read the functions of bytecode.
    tool = launch().target.argv[0]
    subprocess.run([tool, "folds.mlir", "--emit-bytecode", "-o", "folds.mlirbc"], check=True)
    session = launch(source="folds.mlirbc")
    one, other = session.breakpoints.add("twice"), session.breakpoints.add("nosuchname")
    assert one.pending == "nothing named 'twice' is known yet"
    stop = session.run()
    assert (stop.breakpoints, stop.function) == ([one.id], "twice")
    assert specs(session) == [("func:twice", False), ("nosuchname", True)]
    third = session.breakpoints.add("twcie")
    assert third.pending == "nothing named 'twcie' is known yet; did you mean func:twice?"
    assert session.breakpoints.add("op:arith.addj").pending is not None
    session.breakpoints.delete([one.id])
    assert session.continue_().never_hit == [other.id, third.id, 4]


def test_a_pending_name_is_looked_up_when_the_breakpoints_are_listed(launch: Launch) -> None:
    tool = launch().target.argv[0]
    subprocess.run([tool, "folds.mlir", "--emit-bytecode", "-o", "folds.mlirbc"], check=True)
    session = launch(source="folds.mlirbc")
    session.breakpoints.add("twice")
    session.start()
    assert specs(session) == [("func:twice", False)]
    assert session.continue_().function == "twice"


def test_the_end_lists_what_was_never_hit(launch: Launch) -> None:
    session = launch()
    for spec in ("tag:fold", "pattern:Nothing", "folds.mlir:99", "op:no.such"):
        session.breakpoints.add(spec)
    session.breakpoints.catch("crash")
    session.breakpoints.disable([4])
    stops = list(stock.each(session))
    assert stops and not any(stop.never_hit for stop in stops)
    assert session.stop is not None
    assert session.stop.never_hit == [2, 3]
    assert session.stop.as_json()["never_hit"] == [2, 3]
    session.timeline.reverse_continue()
    assert session.continue_().never_hit == [2, 3]


def test_the_end_says_why_a_breakpoint_was_never_hit(launch: Launch, tmp_path: Path) -> None:
    live = launch()
    path = tmp_path / "run.adbrec"
    record(live.target.argv, path)
    with open_database(open_recording(path)) as database:
        rows = database.sql("SELECT 1 FROM actions WHERE name = 'AddIAddConstant'").fetchall()
    tried = len(rows)
    assert tried > 1
    for session in (live, RecordedSession(open_recording(path))):
        with session:
            add = session.breakpoints.add
            found = [
                add("pattern:AddIAddConstant", condition="line == 999"),
                add("pattern:AddIAddConstant", outcome="skipped"),
                add("pattern:AddIAddConstant", condition="line == 999", outcome="skipped"),
                add("pattern:Nothing"),
                add("pattern:AddIAddConstant"),
            ]
            session.breakpoints.set_ignore(5, 1000)
            assert session.run().never_hit == [1, 2, 3, 4]
            counts = [0 if one.spec == "pattern:Nothing" else tried for one in found]
            assert [one.matched for one in found] == counts
            assert [one.why_never_hit for one in found[:4]] == [
                f"{tried} actions matched its SPEC, none its condition",
                f"{tried} actions matched its SPEC, none its outcome",
                f"{tried} actions matched its SPEC, none its condition and outcome",
                "no action matched its SPEC",
            ]


def test_a_hit_on_a_timeline_that_was_left_is_a_hit(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("pattern:Nothing")
    one = session.breakpoints.add("pattern:AddIAddConstant")
    assert session.run().breakpoints == [one.id]
    session.timeline.goto(1)
    assert (session.breakpoints.hits()[1].hits, one.hits) == (0, 0)
    stop = session.skip()  # the pass, so that no pattern is applied
    assert (stop.when, stop.never_hit, one.hits) == ("exit", [1], 0)


def test_nothing_is_listed_if_nothing_could_be_hit(launch: Launch) -> None:
    session = launch("--no-such-option")
    session.breakpoints.add("tag:fold")
    stop = session.run()
    assert stop.when == "exit" and stop.status != 0 and stop.never_hit == []


def test_a_line_of_the_standard_input(mlir_opt: str, folds: str) -> None:
    with actiondbg.launch([mlir_opt, "--canonicalize"], stdin=folds) as session:
        one = session.breakpoints.add("5")
        assert one.spec == 'file:"<stdin>":5'
        assert session.run().location == "<stdin>:5:8"


def test_a_line_of_several_files_is_refused(launch: Launch, folds: str) -> None:
    stock.write("other.mlir", "module {}")
    session = launch("other.mlir")
    with pytest.raises(UsageError, match=r"there are 2: folds.mlir, other.mlir. Write FILE:8"):
        session.breakpoints.add("8")


def test_until_and_observers_take_names(launch: Launch) -> None:
    session = launch()
    seen: list[str | None] = []
    session.observers.add("twice and 14", before=lambda stop: seen.append(stop.location))
    session.start()
    assert session.advance("twice").function == "twice"
    assert session.advance("14").location == "folds.mlir:14:8"
    session.continue_()
    assert seen and set(seen) == {"folds.mlir:14:8"}


def test_a_recording_knows_all_its_names(mlir_opt: str, folds: str) -> None:
    argv = [mlir_opt, folds, "--canonicalize", "--mlir-disable-threading", "-o", "out"]
    recorded = record(argv, "run.adbrec")
    assert recorded.path is not None
    with RecordedSession(open_recording(recorded.path)) as session:
        wanted = {"twice": "func:twice", "arith.addi": "op:arith.addi", "8": "folds.mlir:8"}
        wanted |= {"AddIAddConstant": "pattern:AddIAddConstant", "canon*": "pass:canon*"}
        for name, spec in wanted.items():
            assert session.breakpoints.add(name).spec == spec
        unknown = session.breakpoints.add("AddIAddConstants")
        assert unknown.pending == (
            "nothing named 'AddIAddConstants' is in the recording; "
            "did you mean pattern:AddIAddConstant?"
        )
        by_class = session.breakpoints.add("Canonicalizer")
        assert by_class.pending is not None
        stop = session.run()
        assert by_class.id in stop.breakpoints and by_class.pending is None
        while stop.when != "exit":
            stop = session.continue_()
        assert stop.never_hit == [unknown.id]
        assert session.timeline.goto(14).ordinal == 14
        assert session.advance("twice and 14").breakpoints


def test_the_shell_says_so_in_text(mlir_opt: str, folds: str) -> None:
    commands = ["break smu", "break sum and zzz", "break pattern:No*", "run"]
    words = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "actiondbg", "-nx", "--batch", "--keep-going", *words),
            *(mlir_opt, folds, "--cse", "-o", "out"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "Breakpoint 1: smu, pending: nothing named 'smu' is known yet; did you mean func:sum?",
        "Breakpoint 2: func:sum and zzz, pending: nothing named 'zzz' is known yet",
        "Breakpoint 3: pattern:No*",
        done.stdout.splitlines()[3],
        "Never hit:",
        "  breakpoint 1 (smu): no action matched its SPEC.",
        "  breakpoint 2 (func:sum and zzz): no action matched its SPEC.",
        "  breakpoint 3 (pattern:No*): no action matched its SPEC.",
    ]
