"""The input of a recorded lineage has the names of its file, not those of MLIR's printer."""

from __future__ import annotations

import lzma
import os
import re
import subprocess
from pathlib import Path

import pytest

from actiondbg import launch
from actiondbg.lineage.opened_lineage import open_lineage
from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.lineage.stage import Stage
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import command_line
from tests.paths import INPUTS

BUILDS = LIBRARY

NETWORKS = sorted(INPUTS.glob("*.linalg.mlir.xz"))
SMALL = [
    INPUTS / "tools" / "mlir" / f"{name}.mlir"
    for name in ("affine", "branches", "calls", "gpu", "integers", "linalg", "loops", "memory")
]
_VALUE = re.compile(r"%([\w$.-]*[\w$])")
_ELIDED = ("--mlir-elide-elementsattrs-if-larger=16", "--mlir-elide-resource-strings-if-larger=64")


def printed(tool: str, file: Path, *options: str) -> str:
    return subprocess.run(
        [tool, str(file), *options], capture_output=True, text=True, check=True
    ).stdout


def renamed(text: str) -> str:
    """Give every value a name that no printer chooses."""
    return _VALUE.sub(r"%own.\1", text)


def tracked(value: str, *command: object) -> str:
    done = command_line.run("track", "--from", value, "--", *command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def input_of(tool: str, file: Path) -> Stage:
    target = file.with_suffix(".adbrec")
    done = record([tool, str(file), "--cse"], target, stdout=os.devnull, lineage=True)
    assert done.path is not None and done.status == 0
    return RecordedLineage(open_recording(done.path)).stages[0]


@pytest.mark.parametrize("source", [*SMALL, *NETWORKS], ids=lambda path: path.name)
@pytest.mark.parametrize("form", ["custom", "generic"])
def test_the_input_is_printed_with_the_names_of_its_file(
    mlir_opt: str, tmp_path: Path, source: Path, form: str
) -> None:
    is_packed = source.suffix == ".xz"
    plain, named = tmp_path / "plain.mlir", tmp_path / "named.mlir"
    plain.write_bytes(lzma.decompress(source.read_bytes()) if is_packed else source.read_bytes())
    options = ("--mlir-print-op-generic",) if form == "generic" else ()
    named.write_text(renamed(printed(mlir_opt, plain, *options)))
    stage = input_of(mlir_opt, named)
    if form == "custom":
        assert stage.text.strip() == renamed(printed(mlir_opt, plain, *_ELIDED)).strip()
    lines = named.read_text().splitlines()
    for one in some(one for one in stage if one.result):
        place = re.fullmatch(r'".*":(\d+):\d+', one.location.text)
        assert place is not None
        assert lines[int(place[1]) - 1].split()[0].startswith(one.result)


TEXT = """\
func.func @f(%1: i32, %0: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %2 = arith.xori %1, %0 : i32
  %sum = arith.addi %2, %zero : i32
  return %sum : i32
}
"""


def test_track_takes_and_shows_the_names_of_the_file(mlir_opt: str, tmp_path: Path) -> None:
    file = tmp_path / "in.mlir"
    file.write_text(TEXT)
    found = tracked("%sum", mlir_opt, file, "--canonicalize")
    assert "%sum = arith.addi %2, %zero : i32" in found
    # The printer's %0 is the file's %2, and the file's %0 is an argument.
    assert "arith.xori" in tracked("%2", mlir_opt, file, "--cse")
    assert "func.func @f" in tracked("%0", mlir_opt, file, "--cse")


def test_the_recording_keeps_the_names_of_a_file_that_changes(
    mlir_opt: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.mlir"
    file.write_text(TEXT)
    before = input_of(mlir_opt, file).text
    assert TEXT.splitlines()[2] in before
    file.write_text(TEXT.replace("%zero", "%none"))
    kept = RecordedLineage(open_recording(str(file.with_suffix(".adbrec")))).stages[0]
    assert kept.text == before


def test_names_in_a_text_with_locations_of_its_own_are_not_confused(
    mlir_opt: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.mlir"
    file.write_text(re.sub(r"(= arith.* : i32)$", r'\1 loc("model.py":3:1)', TEXT, flags=re.M))
    text = input_of(mlir_opt, file).text
    assert "func.func @f(%1: i32, %0: i32)" in text
    # The portable agent finds only names at locations, and gives others to the rest.
    assert "%2 = arith.xori %1, %0 : i32" in text and "%sum" in text


def test_a_comment_before_an_operation_may_end_with_a_comma(mlir_opt: str, tmp_path: Path) -> None:
    file = tmp_path / "in.mlir"
    text = """\
func.func @f(%x: i32) -> i32 {
  // CHECK: [1, 2],
  %first = arith.addi %x, %x : i32  // Behind an operation,
  %sum, %flag = arith.addui_extended %first, %x : i32, i1
  // In two lines: %a,
  %last = arith.muli %sum, %x : i32
  return %last : i32
}
"""
    file.write_text(text)
    found = input_of(mlir_opt, file)
    assert [one.result for one in found if one.result] == ["%first", "%sum", "%last"]
    assert "%sum, %flag = arith.addui_extended %first, %x" in found.text


def test_further_results_are_found_by_their_names_in_the_file(
    mlir_opt: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.mlir"
    file.write_text("""\
func.func @f(%c: i1, %x: i32) -> (i32, i32) {
  %p, %q:2 = scf.if %c -> (i32, i32, i32) {
    scf.yield %x, %x, %x : i32, i32, i32
  } else {
    scf.yield %x, %x, %x : i32, i32, i32
  }
  return %p, %q#1 : i32, i32
}
func.func @g(%x: i32) -> i32 {
  %q = arith.addi %x, %x : i32
  return %q : i32
}
""")
    assert tracked("%p", mlir_opt, file, "--cse").count("scf.if") == 2
    for value in ("%q", "%q#1"):
        found = tracked(value, mlir_opt, file, "--cse")
        assert (found.count("scf.if"), found.count("arith.addi")) == (2, 2)
    runs = [str(tmp_path / name) for name in ("one.adbrec", "two.adbrec")]
    for run in runs:
        record([mlir_opt, str(file), "--cse"], run, stdout=os.devnull, lineage=True)
    for stage in some(open_lineage(runs[0], then=runs[1:]).lineage.stages[::2]):
        assert stage.name.startswith("input of ")
        assert [one.name for one in stage.with_result("%q")] == ["scf.if", "arith.addi"]


SWITCHES = """\
func.func @f(%i: index, %x: i32) -> i32 {
  %r = scf.index_switch %i -> i32
  case 0 {
    %a = arith.addi %x, %x : i32
    %s = scf.index_switch %i -> i32
    case -3 {
      %e = arith.divsi %a, %x : i32
      scf.yield %e : i32
    }
    case 4 {
      %u = arith.remsi %a, %x : i32
      scf.yield %u : i32
    }
    default {
      %g = arith.subi %a, %x : i32
      scf.yield %g : i32
    }
    scf.yield %s : i32
  }
  default {
    %c = arith.muli %x, %x : i32
    %k = arith.constant 1 : index
    %t = scf.for %j = %k to %i step %k iter_args(%acc = %c) -> (i32) {
      %d = arith.xori %acc, %c : i32
      scf.yield %d : i32
    }
    scf.yield %t : i32
  }
  return %r : i32
}
"""


def test_the_default_region_of_a_switch_is_printed_last_and_held_first(
    mlir_opt: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.mlir"
    file.write_text(SWITCHES)
    text = input_of(mlir_opt, file).text
    lines = [line.strip() for line in SWITCHES.splitlines()]
    found = [line.strip() for line in text.splitlines()]
    assert found[1 : 1 + len(lines)] == lines


OPAQUE = """\
#target = #some.target<"a", {
  x = 1,
  y = 2
}>
module attributes {some.targets = [#some.list<[
  #target
]>]} {
  func.func @f(%x: i32) -> i32 {
    %a = arith.addi %x, %x : i32
    %b = arith.muli %a, %x : i32
    return %b : i32
  }
}
"""


def test_attributes_of_unknown_dialects_may_span_lines(mlir_opt: str, tmp_path: Path) -> None:
    file = tmp_path / "in.mlir"
    file.write_text(OPAQUE)
    command = (mlir_opt, "--allow-unregistered-dialect", file)
    for name in ("a", "b"):
        [line] = [line.strip() for line in OPAQUE.splitlines() if f"%{name} =" in line]
        assert f": {line}\n" in tracked(f"%{name}", *command, "--cse")
    with launch([*map(str, command), "--canonicalize"]) as session:
        session.breakpoints.add("fold", "line == 10")
        session.run()
        printed = session.ir.print("module", mark=True)
        assert printed.mark is not None
        assert "%b =" in printed.text.splitlines()[printed.mark[0] - 1]


def test_attributes_of_functions_that_span_lines_open_no_region(
    mlir_opt: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.mlir"
    plain, spanning = (
        "",
        """attributes {some.target = #some.target<"a", {
  x = 1
}>} """,
    )
    function = """\
func.func @NAME(%x: i32) -> i32 ATTRIBUTES{
  %a = arith.addi %x, %x : i32
  return %a : i32
}
"""
    file.write_text(
        function.replace("NAME", "f").replace("ATTRIBUTES", plain)
        + function.replace("NAME", "g").replace("ATTRIBUTES", spanning)
    )
    command = [mlir_opt, "--allow-unregistered-dialect", str(file), "--canonicalize"]
    with launch(command) as session:
        session.breakpoints.add("fold")
        session.run()
        printed = session.ir.print("module").text
    assert printed.count("%a = arith.addi %x, %x : i32") == 2
