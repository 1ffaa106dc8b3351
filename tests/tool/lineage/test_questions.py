"""Questions about what a recorded run, or one that is run for them, made of its operations."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actiondbg.lineage.questions.groups import groups
from actiondbg.lineage.questions.matrix import matrix, unexplained
from actiondbg.lineage.questions.reasons import Ways
from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.conftest import LIBRARY
from tests.fakes import command_line
from tests.paths import ROOT

BUILDS = LIBRARY

INPUT = ROOT / "examples" / "convolutions.mlir"
PIPELINE = "builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg),canonicalize,cse)"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The example, lowered by the package's mlir-opt."""
    path = tmp_path_factory.mktemp("lineage") / "run.adbrec"
    tool = ["mlir-opt", str(INPUT), f"--pass-pipeline={PIPELINE}"]
    done = record(tool, path, lineage=True, stdout=os.devnull)
    assert done.status == 0
    yield str(path)


@pytest.fixture
def recorded(recording: str) -> RecordedLineage:
    return RecordedLineage(open_recording(recording))


def lineage(*words: str, status: int = 0) -> str:
    done = command_line.run("lineage", *words)
    assert done.returncode == status, done.stderr
    return done.stdout


def test_which_convolutions_were_padded_and_what_parted_their_ways(recording: str) -> None:
    answer = lineage(recording, "--kind", "tosa.conv2d", "--became", "tensor.pad")
    assert answer.startswith("3 tosa.conv2d: 2 became tensor.pad, 1 did not.\n")
    assert "Became linalg.conv_2d_nhwc_fhwc, linalg.generic instead (1):" in answer
    where = "in pass:tosa-to-linalg-named #2, which made tensor.pad:"
    assert "pattern:ConvConverter" in answer and where in answer
    assert "of 2 of the 2 that became tensor.pad, and of 0 of these 1" in answer


def test_the_python_function_answers_too(recorded: RecordedLineage) -> None:
    found = groups(recorded, "tosa.conv2d", "tensor.pad")
    assert [one.line for one in found.became] == [7, 8]
    parting = found.fates[0].parting
    assert parting is not None and parting.is_complete
    assert recorded.action(parting.ordinal or 0).startswith("pattern:ConvConverter")


def test_kinds_of_a_run_without_a_recording() -> None:
    tool = ["mlir-opt", str(INPUT), f"--pass-pipeline={PIPELINE}"]
    answer = json.loads(lineage("--kinds", "tosa.*", "--json", "--", *tool))
    rows: dict[str, Any] = {row["kind"]: row for row in answer["kinds"]}
    assert rows["tosa.conv2d"]["became"]["linalg.conv_2d_nhwc_fhwc"] == 3
    assert rows["tosa.const"] == {
        "kind": "tosa.const",
        "count": 4,
        "became": {"tosa.const": 3},
        "lost": {"consumed": 1},
    }


def test_the_matrix_has_no_unexplained_orphan(recorded: RecordedLineage) -> None:
    found = matrix(recorded)
    assert unexplained(found) == []
    assert [orphan.reason.why for orphan in found.lost] == ["consumed"]
    assert int(found.counts.sum()) == len(recorded.relate(*recorded.stages).sources)


def test_an_orphan_fails(recording: str, tmp_path: Path) -> None:
    assert "no unexplained orphan" in lineage(recording, "--fail-on-orphan")
    first, last = tmp_path / "a.mlir", tmp_path / "b.mlir"
    first.write_text('"test.a"() : () -> ()\n')
    last.write_text('"test.a"() : () -> () loc("a.mlir":1:1)\n"test.b"() : () -> ()\n')
    words = ("--input", str(first), "--then", str(last), "--fail-on-orphan")
    assert "1 unexplained orphan:" in lineage(*words, status=1)


SCCP = """\
func.func @f(%x: f32) -> f32 {
  %k = arith.constant 2.5 : f32
  %l = arith.constant 1.5 : f32
  %m = arith.mulf %k, %l : f32
  %r = arith.mulf %x, %m : f32
  return %r : f32
}
func.func @g(%x: f32) -> f32 {
  %k = arith.constant 0.5 : f32
  %r = arith.addf %x, %k : f32
  return %r : f32
}
func.func @h(%x: f32) -> f32 {
  %k = arith.constant 0.5 : f32
  %r = arith.addf %x, %k : f32
  return %r : f32
}
func.func @calls(%x: f32) -> f32 {
  %k = arith.constant 0.5 : f32
  %s = func.call @leaf(%x, %k) : (f32, f32) -> f32
  return %s : f32
}
func.func private @leaf(%x: f32, %k: f32) -> f32 {
  %r = arith.divf %x, %k : f32
  return %r : f32
}
"""


@pytest.mark.parametrize(
    ("passes", "orphans"),
    [
        # The constant in the place of an argument has no origin, that of a product has.
        ("sccp", {"arith.constant inserted by pass:sccp"}),
        (
            "duplicate-function-elimination",
            {
                f"{name} erased by pass:duplicate-function-elimination"
                for name in ("func.func", "arith.constant", "arith.addf", "func.return")
            },
        ),
        ("canonicalize", set[str]()),
    ],
)
def test_what_passes_erase_and_insert_is_an_orphan(
    passes: str, orphans: set[str], tmp_path: Path
) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(SCCP)
    tool = ["mlir-opt", str(source), f"--{passes}"]
    status = int(bool(orphans))
    lineage("--fail-on-orphan", "--", *tool, status=status)
    words = ("--fail-on-orphan", "--matrix", str(tmp_path / "m.csv"), "--level", "operation")
    lineage(*words, "--", *tool, status=status)
    with (tmp_path / "m.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["relation"] != "traced"]
    found = {
        f"{row['input'] or row['output']} {row['reason']} by {row['action']}"
        for row in rows
        if row["reason"] not in ("folded", "dead")
    }
    assert found == orphans


@pytest.mark.parametrize("passes", ["canonicalize", "cse"])
def test_a_constant_may_lose_its_location(mlir_opt: str, passes: str, tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(
        """\
func.func @f(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^a, ^b
^a:
  %k = arith.constant 7 : i32
  %r = arith.addi %x, %k : i32
  return %r : i32
^b:
  %l = arith.constant 7 : i32
  %s = arith.muli %x, %l : i32
  return %s : i32
}
"""
    )
    tool = [mlir_opt, str(source), f"--{passes}"]
    plain = subprocess.run(
        [*tool, "--mlir-print-debuginfo"], capture_output=True, text=True, check=True
    )
    is_lost = "loc(unknown)" in plain.stdout
    assert is_lost == (passes == "canonicalize")
    lineage("--fail-on-loss", "--", *tool, status=int(is_lost))


def test_the_pattern_that_drops_locations(recording: str) -> None:
    answer = json.loads(lineage(recording, "--loss", "--json", "--fail-on-loss", status=1))
    worst = answer["losses"][0]
    assert worst["action"].startswith("pattern:ConvConverter")
    assert worst["pass"] == "pass:tosa-to-linalg-named"
    assert (worst["dropped"], worst["blurred"]) == (9, 0)
    assert worst["examples"][0]["operation"]["location"] == "unknown"


def test_kinds_after_a_pass(recording: str, tmp_path: Path) -> None:
    page = tmp_path / "kinds.html"
    lineage(recording, "--sankey", str(page), "--kinds", "tosa.*", "--after", "*-named")
    text = page.read_text()
    assert "after *-named" in text and "linalg.conv_2d_nhwc_fhwc" in text
    done = command_line.run("lineage", recording, "--sankey", str(page), "--after", "none")
    assert "there are tosa-to-linalg-named, tosa-to-linalg" in done.stderr


def test_the_picture_of_an_operation(recording: str, tmp_path: Path) -> None:
    drawn = tmp_path / "clamp.svg"
    lineage(recording, "--of", "@9", "--svg", str(drawn))
    svg = drawn.read_text()
    assert "@9 tosa.clamp" in svg and "replaced #13 pattern:PointwiseConverter" in svg
    done = command_line.run("lineage", recording, "--of", "@3000", "--svg", str(drawn))
    assert done.stderr == "actiondbg: No operation of the input has the id @3000.\n"


def test_the_report_shows_what_kinds_became(recording: str, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = command_line.run("report", recording, "-q", "-o", str(page))
    assert (done.returncode, done.stderr) == (0, "")
    text = page.read_text()
    assert "<h2>What operations became</h2>" in text
    assert "linalg.conv_2d_nhwc_fhwc" in text and "d3-sankey v0.12.3" in text
    tool = ["mlir-opt", str(ROOT / "examples" / "fold.mlir"), "--canonicalize"]
    for words, is_shown in ((["--lineage"], True), ([], False)):
        done = command_line.run("report", "-q", "-o", str(page), *words, "--", *tool)
        assert (done.returncode, done.stderr) == (0, "")
        assert ("<h2>What operations became</h2>" in page.read_text()) == is_shown


def test_sql_over_steps(recording: str) -> None:
    sql = (
        "select action, count(*) as n from steps where target_name = 'tensor.pad' "
        "and pass = 'pass:tosa-to-linalg-named' and evidence = 'created' group by action"
    )
    (row,) = json.loads(lineage(recording, sql, "--format", "json"))
    assert row["action"].startswith("pattern:ConvConverter") and row["n"] == 2


LOOPS = (
    f"{PIPELINE[:-1]},one-shot-bufferize{{bufferize-function-boundaries allow-unknown-ops}},"
    "func.func(convert-linalg-to-loops),cse)"
)


@pytest.mark.parametrize("pipeline", [PIPELINE, LOOPS])
@pytest.mark.parametrize("exact", [False, True])
def test_walking_the_steps_agrees_with_the_relation(
    pipeline: str, exact: bool, tmp_path: Path
) -> None:
    tool = ["mlir-opt", str(INPUT), f"--pass-pipeline={pipeline}"]
    record(tool, tmp_path / "run.adbrec", lineage=True, stdout=os.devnull)
    recorded = RecordedLineage(open_recording(tmp_path / "run.adbrec"))
    first, last = recorded.stages
    ways = Ways(recorded, exact=exact)
    walked = {
        (operation.index, found.index)
        for operation in first
        for node in ways.forward(operation.node).nodes
        if (found := last.of_node(node)) is not None
    }
    relation = recorded.relate(first, last, exact=exact)
    assert walked == set(zip(relation.sources, relation.targets, strict=True))
    assert len(walked) > len(first)


def test_only_the_outermost_loops_answer(tmp_path: Path) -> None:
    recording, drawn = str(tmp_path / "run.adbrec"), tmp_path / "clamp.svg"
    tool = ["mlir-opt", str(INPUT), f"--pass-pipeline={LOOPS}"]
    record(tool, recording, lineage=True, stdout=os.devnull)
    done = command_line.run("track", recording, "--from", "tosa.clamp", "--level", "loop", "--json")
    (loop,) = json.loads(done.stdout)["operations"]
    assert loop["operation"]["name"] == "scf.for"
    lineage(recording, "--of", "tosa.clamp", "--level", "loop", "--svg", str(drawn))
    assert drawn.read_text().count("scf.for</text>") == 1
    graph = tmp_path / "both.dot"
    command = f"lineage tosa.clamp --level function --dot {graph}"
    done = command_line.run("open", "--batch", "-ex", "goto 1", "-ex", command, recording)
    assert done.stderr == "" and graph.read_text().count('[label="inside"') == 2
    before = Path(recording).read_bytes()
    command = f"lineage tosa.clamp --svg {recording}"
    done = command_line.run("open", "--batch", "-ex", "goto 1", "-ex", command, recording)
    assert "is a recording and is not overwritten" in done.stderr
    assert Path(recording).read_bytes() == before


def test_a_chain_of_tools() -> None:
    tool = ["mlir-opt", str(ROOT / "examples" / "fold.mlir"), "--canonicalize"]
    chain = [*tool, "--then", "--", "mlir-opt", "--convert-arith-to-llvm"]
    answer = lineage("--kind", "arith.addi", "--became", "llvm.add", "--", *chain)
    assert answer.startswith("2 arith.addi: 1 became llvm.add, 1 did not.\n")
    assert "pattern:AddIAddConstant" in answer


FUSED = """\
func.func @f(%a: f32, %b: f32) -> (f32, f32) {
  %k = arith.constant 2.5 : f32
  %once = arith.mulf %a, %k fastmath<contract> : f32
  %sum = arith.addf %once, %b fastmath<contract> : f32
  %twice = arith.mulf %b, %k fastmath<contract> : f32
  %other = arith.addf %twice, %a fastmath<contract> : f32
  %kept = arith.subf %twice, %other : f32
  %dead = arith.divf %a, %b : f32
  return %sum, %kept : f32, f32
}
func.func @g(%a: i32) -> i32 {
  %k = arith.constant 3 : i32
  %l = arith.constant 4 : i32
  %first = arith.addi %a, %k : i32
  %second = arith.addi %first, %l : i32
  return %second : i32
}
"""


def test_what_a_pass_computes_of_constants_consumes_them(tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(
        """\
func.func @f(%x: f32) -> f32 {
  %k = arith.constant 7.5 : f32 loc(unknown)
  %l = arith.constant 9.5 : f32 loc(unknown)
  %m = arith.addf %k, %l : f32 loc(unknown)
  %r = arith.divf %x, %m : f32 loc(unknown)
  return %r : f32 loc(unknown)
}
"""
    )
    tool = ("mlir-opt", str(source), "--sccp", "--canonicalize")
    answer = command_line.run("track", "--from", "arith.constant", "--", *tool).stdout
    why = "arith.constant was erased as unused, after its last user was rewritten by #1 pass:sccp."
    assert answer.count(why) == 2
    assert "There is no unexplained orphan." in lineage("--fail-on-orphan", "--", *tool)


def test_what_a_pattern_consumes_is_not_just_dead(tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(FUSED)
    tool = ("mlir-opt", str(source), "--math-uplift-to-fma", "--canonicalize")
    words = [word for name in ("mulf", "addi", "divf") for word in ("--from", f"arith.{name}")]
    answer = command_line.run("track", "--exact", *words, "--", *tool).stdout
    reasons = re.findall(r"@\d+ (arith.\w+ was .*) by #\d+ (.*)\.", answer)
    assert reasons == [
        (
            "arith.addi was erased as unused, after its last user was rewritten",
            "pattern:AddIAddConstant",
        ),
        (
            "arith.divf was erased when nothing used it any more",
            "GreedyPatternRewriteIteration:iteration 1",
        ),
    ]
    # What a pattern fuses with its root became the new operation.
    assert len(re.findall(r"fused by #\d+ pattern:UpliftFma", answer)) == 2
    assert "\n    the same operation\n" in answer  # %twice has another user
    orphans = lineage("--orphans", "--fail-on-orphan", "--", *tool)
    assert "  2 consumed by pattern:AddIAddConstant\n" in orphans
