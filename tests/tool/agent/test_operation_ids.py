"""Every operation has an id for its life, which is the same in every run and never used again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.protocol import Change
from scripts.benchmarks.inputs import PIPELINE, many_functions
from tests.elements import some
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]


def everything(session: actiondbg.Session) -> list[Change]:
    """All changes of the run, each once, in their order."""
    session.breakpoints.delete([one.id for one in session.breakpoints.all()])
    session.breakpoints.add("tag:pass-execution", "depth == 0", after=True)
    return [
        one for _ in stock.each(session) for one in session.outcome.changes(limit=100_000).changes
    ]


def test_ids_are_never_used_again(launch: Launch) -> None:
    session = launch(stock.PASSES, source=stock.write("mixed.mlir", stock.MIXED))
    names: dict[int, str] = {}
    gone: set[int] = set()
    newest = 0
    for one in some(everything(session)):
        assert one.id is not None and one.id > 0
        if one.what == "block":
            continue
        assert names.setdefault(one.id, one.op) == one.op
        assert one.id not in gone
        if one.kind == "erased":
            gone.add(one.id)
        if one.kind == "inserted":
            newest = max(newest, one.id)
    assert len(gone) > 10 and newest > max(20, len(names) // 2)


def test_ids_are_the_same_in_each_run(launch: Launch) -> None:
    session = launch(stock.PASSES, source=stock.write("mixed.mlir", stock.MIXED))
    first = everything(session)
    assert len(first) > 30
    assert everything(session) == first


def test_an_id_stays_while_its_operation_is_moved_and_modified(launch: Launch) -> None:
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    session.cursor.move("location", path="mixed.mlir", line=20)  # inside of the scf.if
    id = session.cursor.get().unit.id
    assert id is not None
    session.next()
    cursor = session.cursor.move("id", index=id)
    assert (cursor.unit.name, cursor.unit.state) == ("arith.remsi", "alive")
    assert cursor.unit.location == "mixed.mlir:20:10"
    assert cursor.path[:2] == [0, 0] and len(cursor.path) == 6  # not in a region any more
    with pytest.raises(errors.NoSuchUnit):
        session.cursor.move("id", index=999_999)


def test_the_context_after_an_action_has_living_units(launch: Launch) -> None:
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.breakpoints.add("pattern:RemoveStaticCondition", outcome="succeeded")
    stop = session.run()
    [unit] = session.stack.context()
    assert (unit.state, unit.name) == ("replaced", "arith.remsi")
    assert stop.cursor_id == unit.id != stop.id
    assert session.cursor.get().unit.id == stop.cursor_id


def test_ids_do_not_depend_on_what_the_debugger_does(launch: Launch) -> None:
    # A conversion creates operations in the order of addresses, so that each allocation counts.
    source = str(many_functions(Path("many.mlir"), 200))
    ids: list[int | None] = []
    for spacing, way in ((0, "goto"), (0, "break"), (1, "break"), (1, "back")):
        session = launch(f"--pass-pipeline={PIPELINE}", source=source)
        session.timeline.checkpoints.spacing = spacing
        session.start()
        if way == "break":
            session.breakpoints.add("#40030")
            session.continue_()
        elif way == "back":
            session.breakpoints.add("pattern:No*", "depth > 1")
            assert session.continue_().when == "exit"
        stop = session.timeline.goto(40030)
        assert (stop.name, stop.op) == ("llvm.insertvalue", "llvm.insertvalue")
        ids.append(stop.id)
        session.close()
    assert ids[0] is not None and ids == ids[:1] * 4
