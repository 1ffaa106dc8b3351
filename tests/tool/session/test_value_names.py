"""The names of values are the same whichever way a stop was reached."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from tests.conftest import LIBRARY
from tests.elements import some
from tests.paths import INPUTS

BUILDS = LIBRARY

Launch = Callable[..., actiondbg.Session]
Lines = list[tuple[int | None, int, str]]

LOOPS = str(INPUTS / "dialects" / "loops.mlir")
UNKNOWN = "--allow-unregistered-dialect"
WHOLE = 1 << 20  # lines
SHIFT = """\
func.func @shift(%value: i32, %by: index) -> i32 {
  %c1 = arith.constant 1 : i32
  %0 = arith.index_cast %by : index to i32
  %1 = arith.addi %0, %c1 : i32
  cf.br ^bb1(%1 : i32)
^bb1(%2: i32):
  %3 = arith.shli %value, %2 : i32
  return %3 : i32
}
"""


def shown(session: actiondbg.Session) -> Lines:
    """Return the lines of the whole module as a stop shows them."""
    session.cursor.module()
    lines = session.ir.excerpt(before=WHOLE, after=WHOLE).lines
    return [(line.id, line.part, line.text) for line in lines]


def show_all(session: actiondbg.Session, most: int) -> dict[int, Lines]:
    """Step through the first stops; what each event showed."""
    stop, found = session.start(), dict[int, Lines]()
    while stop.when != "exit" and len(found) < most:
        found[stop.event] = shown(session)
        stop = session.step()
    return found


@pytest.mark.parametrize(
    "flags",
    [
        ("--canonicalize",),
        ("--lower-affine", "--convert-scf-to-cf"),
        ("--convert-scf-to-cf", "--convert-func-to-llvm", "--convert-cf-to-llvm"),
    ],
    ids=" ".join,
)
def test_names_are_the_same_after_time_travel(launch: Launch, flags: tuple[str, ...]) -> None:
    """Blocks move from one operation to another, and functions change their names' scope."""
    session = launch(*flags, UNKNOWN, source=LOOPS)
    before = show_all(session, 400)
    places = random.Random(7)
    for _ in range(12):
        stop = session.timeline.goto(places.randrange(2, max(before) // 2))
        assert shown(session) == before[stop.event]
        stop = session.timeline.reverse_step()
        assert shown(session) == before[stop.event]
        session.timeline.checkpoints.add()
        stop = session.step()
        assert shown(session) == before[stop.event]
    for checkpoint in some(session.timeline.checkpoints.all()):
        stop = session.timeline.checkpoints.restore(checkpoint.number)
        assert shown(session) == before[stop.event]


def definitions(session: actiondbg.Session) -> list[str]:
    return [text.partition(" = ")[0] for _, _, text in shown(session) if text.startswith("%")]


def test_values_keep_their_names_in_an_llvm_func(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "shift.mlir").write_text(SHIFT)
    session = launch("--convert-func-to-llvm", source=str(tmp_path / "shift.mlir"))
    session.start()
    names = definitions(session)
    assert len(names) == 4
    session.breakpoints.add("pattern:FuncOpConversion", after=True)
    session.breakpoints.add("pass:convert-func-to-llvm", after=True)
    inside = session.continue_()
    assert any("llvm.func" in text for _, _, text in shown(session))
    assert set(definitions(session)) >= set(names)
    after = session.continue_()
    assert after.name == "convert-func-to-llvm"
    at_the_end = shown(session)
    assert set(definitions(session)) >= set(names)
    session.timeline.goto(inside.ordinal, "before")
    assert definitions(session) == names
    session.timeline.goto(after.ordinal, "after")
    assert shown(session) == at_the_end


SIBLINGS = """\
func.func @f(%c: i1, %n: i32, %k: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i2 = arith.constant 2 : i32
  %i3 = arith.constant 3 : i32
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %n) -> i32 {
    %a = arith.addi %acc, %i2 : i32
    %b = arith.addi %a, %i3 : i32
    %q = scf.if %c -> i32 {
      %z = arith.addi %b, %i2 : i32
      scf.yield %z : i32
    } else {
      %z = arith.muli %b, %b : i32
      scf.yield %z : i32
    }
    scf.yield %q : i32
  }
  %t = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %r) -> i32 {
    %a = arith.addi %acc, %i2 : i32
    %b = arith.muli %a, %i3 : i32
    scf.yield %b : i32
  }
  return %t : i32
}
"""


def test_operands_that_share_a_name_with_a_sibling_are_their_own(
    mlir_opt: str, tmp_path: Path
) -> None:
    source = tmp_path / "siblings.mlir"
    source.write_text(SIBLINGS)
    with actiondbg.launch([mlir_opt, str(source), "--canonicalize"]) as session:
        session.breakpoints.add("pattern:AddIAddConstant")
        stop = session.run()
        seen = 0
        while stop.status is None:
            for line in some(session.ir.excerpt(before=100, after=100).lines):
                if line.id is None or " arith." not in line.text:
                    continue
                session.cursor.goto(f"@{line.id}")
                assert session.ir.print("cursor").text.strip() == line.text.strip()
                seen += 1
            stop = session.continue_()
        assert seen > 20
