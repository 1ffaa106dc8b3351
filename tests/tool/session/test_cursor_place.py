"""The place of the cursor: the same in every view of a stop."""

from __future__ import annotations

import lzma
import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.process.stop import Stop
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.session import open_session
from tests.fakes import stock_tool as stock
from tests.fakes.typed_shell import Screen
from tests.paths import INPUTS

Launch = Callable[..., actiondbg.Session]

_SENTENCE = re.compile(r"^The cursor is on (?:a (\w+) of )?@(\d+) ([\w.]+)", re.M)
_ARROW = re.compile(r"^-->.? +@(\d+) ", re.M)
_HIDDEN = re.compile(r"^  @(\d+) [\w.]+ is inside @(\d+), whose form leaves it out\.$", re.M)
PASSES = (
    *("canonicalize", "cse", "func.func(linalg-generalize-named-ops)", "sccp"),
    *("func.func(linalg-fuse-elementwise-ops)", "eliminate-empty-tensors", "symbol-dce"),
)
_MOVES = (
    *("step", "step 3", "next", "finish", "continue", "next-change"),
    *("reverse-step", "reverse-next", "reverse-finish", "goto {}", "goto {} --after"),
)


def check_views(screen: Screen, stop: Stop, printed: str) -> None:
    """Check that all views of a stop have the cursor on one unit."""
    cursor = stop.cursor
    if cursor is None:
        assert "The cursor is on" not in printed and not _ARROW.search(printed)
        return
    found = screen.session.cursor.get().unit
    assert (found.kind, found.id, found.name) == (cursor.kind, cursor.id, cursor.op)
    json = stop.as_json()["cursor"]
    assert (json["kind"], json["id"], json["op"]) == (cursor.kind, cursor.id, cursor.op)
    sentence = _SENTENCE.search(printed)
    if cursor.by in ("replaced", "inserted", "failing"):
        assert sentence is not None
    if sentence is not None:
        kind = sentence[1] or "operation"
        assert (kind, int(sentence[2]), sentence[3]) == (cursor.kind, cursor.id, cursor.op)
    hidden, arrow = _HIDDEN.search(printed), _ARROW.search(printed)
    if hidden is not None:
        assert int(hidden[1]) == cursor.id
        assert arrow is None or int(arrow[1]) == int(hidden[2])
    elif arrow is not None:
        assert int(arrow[1]) == cursor.id
    if cursor.by == "replaced":  # by a result of that operation, not by an argument of its blocks
        by = [one for change in stop.changes if change.id == stop.id for one in change.by or []]
        assert stop.change_count > 100 or any(
            one.id == cursor.id and one.op in (cursor.op, "block argument") for one in by
        )


def walk(screen: Screen, moves: random.Random, length: int, actions: int) -> set[str]:
    """Move at random, and check the views of each stop; return why the cursor was there."""
    session, seen = screen.session, set[str]()
    session.breakpoints.add("tag:apply-pattern", outcome="succeeded")
    screen.type("run")
    for _ in range(length):
        before = session.stop
        place = moves.randrange(1, actions + 1)
        printed = screen.type(moves.choice(_MOVES).format(place))
        stop = session.stop
        assert stop is not None
        if stop.when == "exit":
            screen.type(f"goto {place}")
        elif stop is not before:
            check_views(screen, stop, printed)
            seen.add(stop.cursor.by if stop.cursor else "none")
    return seen


@pytest.mark.parametrize("seed", range(2))
def test_views_agree_over_a_walk_through_a_network(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    source = tmp_path / "gpt6.mlir"
    source.write_bytes(lzma.decompress((INPUTS / "gpt6_fwd.linalg.mlir.xz").read_bytes()))
    passes = random.Random(seed).sample(PASSES, 3)
    pipeline = f"--pass-pipeline=builtin.module({','.join(passes)},canonicalize)"
    with actiondbg.launch([mlir_opt, str(source), pipeline, "-o", os.devnull]) as session:
        actions = session.run().actions
        assert actions is not None
        screen = Screen(session, monkeypatch)
        assert walk(screen, random.Random(seed), 30, actions) >= {"action"}


def test_views_agree_over_a_walk_through_small_rewrites(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set[str]()
    for flags in (["--canonicalize", "--cse"], ["--convert-arith-to-llvm"]):
        session = launch(*flags)
        actions = session.run().actions
        assert actions is not None
        seen |= walk(Screen(session, monkeypatch), random.Random(7), 60, actions)
    assert seen >= {"action", "replaced"}


ARGUMENTS = """\
func.func @f(%a: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = scf.for %i = %c0 to %c0 step %c1 iter_args(%acc = %a) -> i32 {
    %t = arith.addi %acc, %acc : i32
    scf.yield %t : i32
  }
  return %s : i32
}
"""


def test_a_replacement_by_a_block_argument_is_not_the_operation_around_it(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = launch(source=stock.write("arguments.mlir", ARGUMENTS))
    session.breakpoints.add("op:scf.for and tag:apply-pattern", outcome="succeeded")
    session.run()
    screen = Screen(session, monkeypatch)
    screen.type("reverse-step")
    printed = screen.type("step")
    stop = session.stop
    assert stop is not None and stop.id is not None and stop.cursor is not None
    assert any(value.op == "block argument" for one in stop.changes for value in one.by or [])
    assert f"The cursor is on @{stop.cursor.id} func.func, whose block argument replaced" in printed


BODY = """\
func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
"""


def test_an_operation_that_is_not_printed_is_named_beside_the_arrow(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = launch(source=stock.write("body.mlir", BODY))
    session.breakpoints.add("op:arith.mulf")
    stop = session.run()
    screen = Screen(session, monkeypatch)
    screen.type("reverse-step")
    printed = screen.type("step")
    check_views(screen, stop, printed)
    hidden = _HIDDEN.search(printed)
    assert hidden is not None and int(hidden[1]) == stop.id
    printed = screen.type("cursor-goto action")
    assert _HIDDEN.search(printed) and "--> " in printed
    screen.type("set context 0", "reverse-step")
    printed = screen.type("step")
    assert " = arith.mulf " in printed


def excerpt(printed: str) -> list[str]:
    """Return the lines of IR of a stop."""
    return re.findall(r"(?m)^(?:-->|   ).[ +~-]? +@\d+ .*$|^   - +@\d+ .*$", printed)


def test_erased_lines_are_shown_however_a_stop_is_reached(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = launch()
    screen = Screen(session, monkeypatch)
    session.breakpoints.add("pattern:AddIAddConstant", outcome="succeeded")
    ordinal = session.run().ordinal
    screen.type("reverse-step")
    reached = excerpt(screen.type("step"))
    assert any(line.startswith("   -") for line in reached)
    for way in (
        [f"goto {ordinal} --after"],
        ["goto 1", f"goto {ordinal} --after"],
        [f"goto {ordinal} --after", "step 7", "reverse-step 7"],
        ["goto 1", "continue"],
    ):
        session.timeline.goto(1)
        screen.type("info program")
        printed = screen.type(*way)
        stop = session.stop
        assert stop is not None and (stop.ordinal, stop.when) == (ordinal, "after")
        assert excerpt(printed)[-len(reached) :] == reached, way


def test_a_recording_has_the_cursor_of_the_tool(launch: Launch, tmp_path: Path) -> None:
    session = launch("--canonicalize", "--cse")
    file = tmp_path / "run.adbrec"
    record(session.target.argv, str(file))
    seen = set[str]()
    with open_session(str(file)) as recorded:
        stop, again = session.start(), recorded.start()
        while stop.when != "exit":
            assert (again.event, again.when) == (stop.event, stop.when)
            if stop.cursor is not None and stop.cursor.kind == "operation":
                assert again.cursor == stop.cursor
                seen.add(stop.cursor.by)
            stop, again = session.step(), recorded.step()
    assert seen >= {"action", "replaced"}
