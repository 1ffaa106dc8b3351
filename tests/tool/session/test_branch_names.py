"""On another branch of a run, other operations have the same ids, and names of their own."""

from __future__ import annotations

from pathlib import Path

import actiondbg
from tests.conftest import LIBRARY

BUILDS = LIBRARY

FOLDS = """\
func.func @f(%a: i32, %b: i32) -> i32 {
  %c1_i32 = arith.constant 1 : i32
  %c2_i32 = arith.constant 2 : i32
  %c4_i32 = arith.constant 4 : i32
  %0 = arith.addi %a, %c1_i32 : i32
  %1 = arith.addi %0, %c2_i32 : i32
  %2 = arith.addi %1, %c4_i32 : i32
  return %2 : i32
}
"""


def constants(session: actiondbg.Session) -> dict[str, int]:
    """Return the name and the value of each constant."""
    session.cursor.module()
    lines = session.ir.print("module").text.splitlines()
    words = [line.split() for line in lines if "arith.constant" in line]
    return {line[0]: int(line[3]) for line in words}


def check(session: actiondbg.Session) -> dict[str, int]:
    """Check that the names of all constants tell their values, and return the names."""
    found = constants(session)
    assert all(name.startswith(f"%c{value}_i32") for name, value in found.items()), found
    return found


def test_an_operation_of_another_branch_has_its_own_name(mlir_opt: str, tmp_path: Path) -> None:
    source = tmp_path / "folds.mlir"
    source.write_text(FOLDS)
    with actiondbg.launch([mlir_opt, str(source), "--canonicalize"]) as s:
        s.breakpoints.add("pattern:AddIAddConstant", "line == 6")
        before = s.run()
        kept = check(s)
        assert set(kept.values()) == {1, 2, 4}
        s.next()
        assert 3 in check(s).values()
        s.breakpoints.delete([one.id for one in s.breakpoints.all()])
        s.breakpoints.add("pattern:AddIAddConstant", "line == 7")
        s.continue_()
        s.next()
        seen = check(s)
        there = s.stop
        assert there is not None
        s.timeline.goto(before.ordinal)
        assert check(s) == kept
        s.skip()
        s.breakpoints.delete([one.id for one in s.breakpoints.all()])
        s.breakpoints.add("pattern:AddIAddConstant", "line == 7")
        s.continue_()
        s.next()
        other = check(s)
        assert 6 in other.values() and other != seen
        # Back on the first branch, the names are those that were shown there.
        s.timeline.goto(before.ordinal)
        assert check(s) == kept


def test_the_next_process_of_a_program_has_its_own_names(mlir_opt: str, tmp_path: Path) -> None:
    for number in (1, 2):
        text = FOLDS.replace("constant 1", f"constant {10 * number}")
        text = text.replace("%c1_", f"%c{10 * number}_")
        (tmp_path / f"{number}.mlir").write_text(text)
    script = tmp_path / "build.sh"
    lines = (f"{mlir_opt} {tmp_path / name} --canonicalize" for name in ("1.mlir", "2.mlir"))
    script.write_text("\n".join(lines))
    with actiondbg.launch(["bash", str(script)]) as s:
        s.breakpoints.add("pattern:AddIAddConstant", "line == 5")
        s.run()
        assert "%c10_i32" in (s.cursor.get().unit.text or "")
        s.breakpoints.add("pass:canonicalize")
        s.continue_()
        assert s.processes[-1].name == "p1"
        s.continue_()
        assert "%c20_i32" in (s.cursor.get().unit.text or "")
        check(s)
