"""The names of patterns to which MLIR gives none: functions, and objects added as they are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.process.stop import Stop
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.query.database import open_database
from actiondbg.recording.session import open_session
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]

BRANCHES = """\
func.func @f(%x: i32) -> i32 {
  cf.br ^bb1(%x : i32)
^bb1(%a: i32):
  cf.br ^bb2(%a : i32)
^bb2(%b: i32):
  return %b : i32
}
"""
FUNCTION = "mlir::cf::BranchOp::canonicalize"
UNNAMED = "<unnamed, root cf.br, benefit 1>"
# Names of patterns, as a user may write them.
SPECS = (
    f"pattern:{FUNCTION}",
    "pattern:BranchOp::canonicalize",
    "pattern:mlir::cf::*",
    FUNCTION,
    f'pattern:"{UNNAMED}"',
    'pattern:"<unnamed, root cf.*"',
    f'tag:* if name == "{FUNCTION}"',
    f'tag:* if name == "{UNNAMED}"',
    'tag:* if name ~ "<unnamed, root cf.br*"',
)
PDL = """\
module attributes { transform.with_named_sequence } {
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  return %a : i32
}
transform.named_sequence @__transform_main(%root: !transform.any_op) {
  transform.with_pdl_patterns %root : !transform.any_op {
  ^bb0(%inner: !transform.any_op):
    pdl.pattern @addition : benefit(1) {
      %0 = pdl.operands
      %1 = pdl.types
      %2 = pdl.operation "arith.addi"(%0 : !pdl.range<value>) -> (%1 : !pdl.range<type>)
      pdl.rewrite %2 with "transform.dialect"
    }
    transform.sequence %inner : !transform.any_op failures(propagate) {
    ^bb1(%each: !transform.any_op):
      %0 = transform.pdl_match @addition in %each : (!transform.any_op) -> !transform.any_op
    }
  }
  transform.yield
}
}
"""


@pytest.fixture
def branches(launch: Launch) -> actiondbg.Session:
    return launch(source=stock.write("branches.mlir", BRANCHES))


def split(text: str) -> tuple[str, str | None]:
    spec, _, condition = text.partition(" if ")
    return spec, condition or None


def ordinals(session: actiondbg.Session, spec: str, condition: str | None = None) -> list[int]:
    session.breakpoints.add(spec, condition)
    return [stop.ordinal for stop in stock.stops(session)]


@pytest.mark.parametrize("text", SPECS)
def test_a_function_pattern_is_named_by_its_function(
    branches: actiondbg.Session, text: str
) -> None:
    branches.breakpoints.add(*split(text))
    stop = branches.run()
    assert (stop.name, stop.unnamed, stop.op) == (FUNCTION, UNNAMED, "cf.br")
    assert branches.stack.action().full_name == FUNCTION
    assert FUNCTION in branches.names.get("pattern")


def test_the_pass_canonicalize_is_no_function_pattern(branches: actiondbg.Session) -> None:
    branches.breakpoints.add("canonicalize")
    names = [stop.name for stop in stock.stops(branches)]
    assert names == ["canonicalize"]


def test_a_recording_has_the_same_names(
    mlir_opt: str, branches: actiondbg.Session, tmp_path: Path
) -> None:
    argv = [mlir_opt, "branches.mlir", "--canonicalize", "--mlir-disable-threading"]
    path = tmp_path / "r.adbrec"
    record(argv, path, stdout=tmp_path / "out.mlir")
    live = ordinals(branches, f"pattern:{FUNCTION}")
    assert live
    for text in SPECS:
        with open_session(path) as session:
            session.breakpoints.add(*split(text))
            stop: Stop = session.run()
            found: list[tuple[int, str, str | None]] = []
            while stop.when != "exit":
                found.append((stop.ordinal, stop.name, stop.unnamed))
                stop = session.continue_()
        assert found == [(ordinal, FUNCTION, UNNAMED) for ordinal in live], text
    database = open_database(open_recording(path))
    query = f"SELECT DISTINCT name, full_name FROM actions WHERE unnamed = '{UNNAMED}'"
    assert database.sql(query).fetchall() == [(FUNCTION, FUNCTION)]
    database.close()


def test_threads_find_the_same_names(mlir_opt: str, folds: str, tmp_path: Path) -> None:
    source = stock.write("many.mlir", "".join(BRANCHES.replace("@f", f"@f{n}") for n in range(200)))
    argv = [mlir_opt, source, "--pass-pipeline=builtin.module(func.func(canonicalize))"]
    names: list[list[tuple[str, str, int]]] = []
    for number, flags in enumerate(([], ["--mlir-disable-threading"])):
        path = tmp_path / f"{number}.adbrec"
        record([*argv, *flags], path, stdout=tmp_path / "out.mlir")
        database = open_database(open_recording(path))
        query = "SELECT name, unnamed, count(*) FROM actions WHERE unnamed IS NOT NULL GROUP BY ALL"
        names.append(database.sql(query).fetchall())
        database.close()
    assert names[0] == names[1]
    assert [(name, unnamed) for name, unnamed, _ in names[0]] == [(FUNCTION, UNNAMED)]


def test_a_pattern_of_pdl_has_its_root_as_name(launch: Launch) -> None:
    session = launch("--transform-interpreter", source=stock.write("pdl.mlir", PDL))
    session.breakpoints.add("tag:apply-pattern")
    stops = list(stock.stops(session))
    assert {(stop.name, stop.op) for stop in stops} == {
        ("<unnamed, root arith.addi, benefit 1>", "arith.addi")
    }


@pytest.mark.parametrize("name", [FUNCTION, UNNAMED])
def test_skips_saved_under_either_name_are_replayed(
    launch: Launch, branches: actiondbg.Session, name: str
) -> None:
    branches.breakpoints.add(f"pattern:{FUNCTION}", temporary=True)
    stop = branches.run()
    while stop.when != "exit":
        stop = branches.skip()
    assert branches.skips.save("my.skips") == 1
    head, line = Path("my.skips").read_text().splitlines()
    assert json.loads(line)["name"] == FUNCTION
    # As an earlier version wrote it, and at another ordinal.
    moved = {**json.loads(line), "name": name, "ordinal": 1}
    for entry in (json.loads(line) | {"name": name}, moved):
        Path("my.skips").write_text(f"{head}\n{json.dumps(entry)}\n")
        again = launch(source="branches.mlir")
        again.skips.load("my.skips")
        assert again.run().when == "exit"
        assert again.target.output() == branches.target.output()


def test_the_output_and_the_log_of_the_tool_keep_its_names(mlir_opt: str, folds: str) -> None:
    argv = [mlir_opt, stock.write("branches.mlir", BRANCHES), "--canonicalize"]
    argv += ["--mlir-disable-threading", "--log-actions-to=-"]
    alone = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert "BranchOp" not in alone.stdout
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("pattern:nothing")
        session.run()
        assert session.target.output() == alone.stdout


# --- where symbols are found ----------------------------------------------------------------------

CAST = """\
func.func @f(%x: i32) -> i64 {
  %a = builtin.unrealized_conversion_cast %x : i32 to i64
  return %a : i64
}
"""
FOUND = ["keepCast", "keepAs<int>", "rules::populate::lambda1", "rules::Quiet"]
PLACE = r"builtin\.unrealized_conversion_cast@stripped\.so\+0x[0-9a-f]+"


def names_in(launch: Launch, library: str) -> list[str]:
    """Return the names of the patterns of a plug-in, by falling benefit."""
    session = launch(
        f"--load-pass-plugin={Path(library).resolve()}",
        "--pass-pipeline=builtin.module(names)",
        source=stock.write("cast.mlir", CAST),
    )
    session.breakpoints.add("tag:apply-pattern")
    return [stop.name for stop in stock.stops(session)]


@pytest.mark.skipif(shutil.which("objcopy") is None, reason="binutils are not installed")
def test_symbols_are_found_in_all_tables(
    mlir_opt: str, pattern_plugin: Path, launch: Launch
) -> None:
    has_type_information = mlir_opt.startswith("/usr")
    plain = str(pattern_plugin)
    for argv in (
        ["strip", plain, "-o", "stripped.so"],
        ["objcopy", "--only-keep-debug", plain, "linked.debug"],
        ["objcopy", "--add-gnu-debuglink=linked.debug", "stripped.so", "linked.so"],
    ):
        subprocess.run(argv, check=True)
    assert names_in(launch, plain) == FOUND
    assert names_in(launch, "linked.so") == FOUND
    stripped = names_in(launch, "stripped.so")
    assert stripped == names_in(launch, "stripped.so")
    assert len(set(stripped)) == 4
    # Type information survives: the class has its name.
    places = stripped[:3] if has_type_information else stripped
    assert [name for name in stripped if not re.fullmatch(PLACE, name)] == FOUND[len(places) :]
    # The debug file of another build is no source of names.
    Path("linked.debug").write_bytes(Path(mlir_opt).read_bytes())
    assert [each.split("@")[0] for each in names_in(launch, "linked.so")] == [
        each.split("@")[0] for each in stripped
    ]
