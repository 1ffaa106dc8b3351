"""What a SPEC, a condition and an OUTCOME select of a recording, against the agent's own word."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

import actiondbg
from actiondbg.breakpoints.condition import FIELDS
from actiondbg.breakpoints.spec_kinds import KINDS, PREFIXES
from actiondbg.protocol import SpecKind
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.format.file import read_file
from actiondbg.recording.format.structs import SectionKind
from actiondbg.recording.query.database import open_database
from actiondbg.recording.query.filters import where, where_outcome
from actiondbg.recording.recording import Recording, part_of
from actiondbg.recording.session import open_session
from tests.fakes import stock_tool as stock

_PLACES = """\
func.func @sum(%a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %u = arith.addi %a, %c0 : i32 loc("dir/b.mlir":30:7)
  %v = arith.addi %u, %c3 : i32 loc(fused["a.mlir":1:2, "dir/b.mlir":31:9])
  %w = arith.addi %v, %c3 : i32 loc(callsite("callee.mlir":5:6 at "caller.mlir":70:8))
  %x = arith.muli %w, %c3 : i32 loc("a name"("named.mlir":40:4))
  %y = arith.addi %x, %b : i32 loc("range.mlir":10:2 to 12:5)
  %z = arith.subi %y, %b : i32 loc("we\\\\ird\\C3\\A9.mlir":3:1)
  %n = arith.xori %z, %a : i32 loc(unknown)
  return %n : i32
}
func.func @"odd \\C3\\A9 [name]"(%a: i32, %c: i1) -> i32 {
  %c1 = arith.constant 1 : i32
  %x = arith.addi %a, %c1 : i32
  %y = scf.if %c -> (i32) {
    %p = arith.muli %x, %c1 : i32
    %q = arith.addi %p, %c1 : i32
    scf.yield %q : i32
  } else {
    scf.yield %a : i32
  }
  return %y : i32
}
"""
_PASSES = (
    "--pass-pipeline=builtin.module(canonicalize,func.func(cse),convert-scf-to-cf,canonicalize)"
)

_SPECS = [
    *("tag:*", "tag:fold", "tag:apply-*", "tag:GreedyPatternRewriteIteration", "tag:[af]*"),
    *("pattern:*", "pattern:AddI*", "pattern:*AddIAddConstant", "pattern:AddIAdd?onstant"),
    *("pattern:{anonymous}::*", "pattern:\\{anonymous\\}::*", "pattern:(anonymous namespace)::*"),
    *("pattern:[!A]*", "pattern:[^A]*", "pattern:[]A]*", "pattern:*[I-O]*", "pattern:*<*"),
    *("pass:canonicalize", "pass:Canonicalizer", "pass:C*", "pass:*c*", "pass:*Pass", "pass:*"),
    *("canonicalize", "fold", "*Constant*", "AddIAddConstant", "cse", "apply-*", "iteration*"),
    *("fold:arith.addi", "fold:arith.*", "fold:*.[ma]*", "op:builtin.module", "op:func.*", "op:*"),
    *(
        "func:sum",
        "func:s?m",
        "func:*",
        "func:odd*",
        '"func:odd é \\[name]"',
        '"func:odd é [name]"',
    ),
    *(
        "places.mlir:15",
        "places.mlir:15:8",
        "places.mlir:14-17",
        "laces.mlir:15",
        "file:places.mlir",
    ),
    *("b.mlir:30", "dir/b.mlir:30", "ir/b.mlir:30", "b.mlir:30:7", "b.mlir:30:8", "b.mlir:29-31"),
    *("a.mlir:1", "a.mlir:1:2", "b.mlir:31:9", "b.mlir:31", "callee.mlir:5", "caller.mlir:70:8"),
    *("named.mlir:40", "range.mlir:9", "range.mlir:11", "range.mlir:12-90", "range.mlir:13"),
    *("range.mlir:10:2", "range.mlir:11:2", "range.mlir:11:5", "file:range.mlir", "file:mlir"),
    *("file:caller.mlir", "#1", "#7", "#7 and tag:fold", "op:arith.* and func:sum and tag:fold"),
    *("in:canonicalize", "in:canonicalize#1", "in:canonicalize#2", "in:Canon*#2", "in:*#1"),
    *("in:cse", "in:cse#2 and op:func.*", "in:mlir::detail::*", "in:*Adaptor and pass:cse"),
    *("in:convert-scf-to-cf and tag:apply-*", "func:sum and in:canon* and tag:fold"),
    *('"loc:a name"', "loc:a*", "loc:*", "context:c*", "context:c9", "mlir:*"),
    *("loc:* and tag:fold", "context:c1 and op:arith.*"),
    *('file:"we\\irdé.mlir"', "tag:fold and b.mlir:1-99", "AddI* and places.mlir:1-99"),
]
_CONDITIONS = [
    *("depth == 2", "depth > 1 and tag == 'fold'", "not depth < 2", "ordinal <= 20", "hits == 3"),
    *("hits > 2 and hits < 6", "iteration == 1", "iteration > 1", "iteration < 1", "line > 14"),
    *("id == 3", "id == 0", "id > 5 and tag == 'apply-pattern'", "id == ordinal"),
    *("regions == 0", "regions == 1 or regions == 2", "regions < 0 or regions > 1"),
    *("line == 0", "name == 'AddIAddConstant'", "name ~ '*Add*'", "name !~ '*Add*'", "op < 'b'"),
    *("op >= 'func' or op == ''", "func == ''", "func ~ '[st]*'", "file ~ '*b.mlir'", "file == ''"),
    *("func > 'sum'", "func !~ 'sum'", "name ~ op", "name !~ op", "tag != name", "3 < depth"),
    *("pass == 'canonicalize'", "pass == ''", "pass ~ 'c*' and name ~ 'A*'", "pass == name"),
    *("pass != 'cse' and hits < 90", "pass ~ '*Adaptor'", "pass > 'convert'"),
    *("hits != 2 || not (line == 15 && tag != 'fold')", "op ~ 'arith.[am]*' and iteration == 2"),
    *("context == 'c1'", "context ~ 'c*' and mlir !~ '*.py'", "mlir != '' and depth == 1"),
]


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return stock.write("places.mlir", _PLACES)


def recording_of(tool: str, source: str) -> Recording:
    argv = [tool, source, _PASSES, "--mlir-disable-threading", "-o", "out"]
    recorded = record(argv, "run.adbrec")
    assert recorded.path is not None and recorded.status == 0
    return open_recording(recorded.path)


def selected(recording: Recording, sql: str) -> list[int]:
    with contextlib.closing(open_database(recording)) as database:
        found = database.sql(f"SELECT ordinal, {sql} FROM actions ORDER BY ordinal").fetchall()
    assert all(is_selected is not None for _, is_selected in found), sql
    return [ordinal for ordinal, is_selected in found if is_selected]


def hit(tool: str, source: str, breakpoints: list[tuple[str, str | None]]) -> list[list[int]]:
    """Return the ordinals at which each of some breakpoints stops."""
    with actiondbg.launch([tool, source, _PASSES, "-o", "out"]) as session:
        ids = [session.breakpoints.add(*each).id for each in breakpoints]
        found: dict[int, list[int]] = {id: [] for id in ids}
        for stop in stock.each(session):
            for id in stop.breakpoints:
                found[id].append(stop.ordinal)
        return list(found.values())


def test_actions_that_a_breakpoint_stops_before_are_selected(mlir_opt: str, places: str) -> None:
    recording = recording_of(mlir_opt, places)
    wanted: list[tuple[str, str | None]] = [(spec, None) for spec in _SPECS]
    wanted += [("tag:*", condition) for condition in _CONDITIONS]
    wanted += [("op:arith.*", condition) for condition in _CONDITIONS]
    hits = hit(mlir_opt, places, wanted)
    for (spec, condition), ordinals in zip(wanted, hits, strict=True):
        text = spec if condition is None else f"{spec} if {condition}"
        assert selected(recording, where(text)) == ordinals, text
    # Else it says little.
    assert sum(map(bool, hits)) > 0.8 * len(hits)


def test_the_number_of_regions(mlir_opt: str, places: str) -> None:
    recording = recording_of(mlir_opt, places)
    known = recording.table("operations", ["op", "regions"]).to_pylist()
    assert {each["op"]: each["regions"] for each in known}.items() >= {
        "builtin.module": 1,
        "func.func": 1,
        "scf.if": 2,
        "arith.addi": 0,
    }.items()
    with open_session("run.adbrec") as session:
        session.breakpoints.add("tag:*", "regions == 2")
        stops: list[int] = []
        while (stop := session.continue_()).when != "exit":
            stops.append(stop.ordinal)
    assert stops and stops == selected(recording, where("tag:* if regions == 2"))


def test_regions_that_are_not_recorded_are_unknown(mlir_opt: str, places: str) -> None:
    recording_of(mlir_opt, places)
    file = read_file("run.adbrec")
    chunks = [
        replace(chunk, sections=[s for s in chunk.sections if s.kind != SectionKind.REGIONS])
        for chunk in file.chunks
    ]
    earlier = Recording(replace(file, chunks=chunks))  # as of an earlier version
    assert selected(earlier, where("tag:* if regions == -1")) == list(range(1, earlier.count + 1))


def test_regions_that_cannot_be_read_are_unknown(mlir_opt: str, places: str) -> None:
    argv = [mlir_opt, places, _PASSES, "--mlir-disable-threading", "-o", "out"]
    with actiondbg.launch(argv, without=["cursor"]) as session:
        session.breakpoints.add("tag:*", "regions != -1")
        assert session.run().when == "exit"
    record(argv, "run.adbrec", without=["cursor"])
    assert not selected(open_recording("run.adbrec"), where("tag:* if regions != -1"))


def test_a_part_has_what_earlier_chunks_say(mlir_opt: str, tmp_path: Path) -> None:
    lines = (f"  %{i} = arith.muli %{i - 1}, %0 : i32" for i in range(1, 3000))
    source = tmp_path / "many.mlir"
    source.write_text(
        "\n".join(["func.func @f(%0: i32) -> i32 {", *lines, "  return %2999 : i32\n}"])
    )
    argv = [mlir_opt, str(source), *["--canonicalize"] * 2, "--mlir-disable-threading"]
    record([*argv, "-o", os.devnull], tmp_path / "run.adbrec")
    file = read_file(tmp_path / "run.adbrec")
    columns = ["context", "mlir", "function", "regions"]
    whole = Recording(file).table("actions", columns).to_pylist()
    half, end = len(file.chunks) // 2, len(file.chunks)
    part = part_of(file, half, end, (), 0).table("actions", ["ordinal", *columns]).to_pylist()
    assert half > 1 and len(part) < len(whole)
    assert part == [{"ordinal": one["ordinal"], **whole[one["ordinal"] - 1]} for one in part]
    assert part[-1]["context"] == "c1"


_ABOUT_OUTCOMES = [
    *("outcome == 'succeeded'", "outcome == 'failed' and op ~ 'arith.*'", "outcome ~ '*ed'"),
    *("outcome != 'failed' and pass == 'cse'", "not (outcome == 'failed' or hits < 40)"),
    *("outcome == 'unchanged' or name == 'AddIAddConstant' and line == 15", "'failed' < outcome"),
]


def test_condition_on_the_outcome_selects_as_its_breakpoint(mlir_opt: str, places: str) -> None:
    recording = recording_of(mlir_opt, places)
    wanted = [(spec, each) for each in _ABOUT_OUTCOMES for spec in ("tag:*", "in:canonicalize#1")]
    hits = hit(mlir_opt, places, [(spec, condition) for spec, condition in wanted])
    for (spec, condition), ordinals in zip(wanted, hits, strict=True):
        text = f"{spec} if {condition}"
        assert selected(recording, where(text)) == sorted(ordinals), text
    assert all(hits[::2])


def test_each_field_is_compared_with_the_agent() -> None:
    words = set(re.findall(r"\w+", " ".join([*_CONDITIONS, *_ABOUT_OUTCOMES])))
    assert set(FIELDS) <= words


def test_every_kind_of_term_is_compared() -> None:
    assert set(PREFIXES.values()) == set(get_args(SpecKind)) == set(KINDS)
    compared = {each.partition(":")[0].strip('"') for each in _SPECS}
    assert set(KINDS) <= compared


def test_each_field_equals_itself_in_the_agent(mlir_opt: str, places: str) -> None:
    wanted = [None, *(f"{field} == {field}" for field in FIELDS)]
    hits = hit(mlir_opt, places, [("op:arith.addi", each) for each in wanted])
    assert hits[0]
    assert [sorted(each) for each in hits] == [hits[0]] * len(hits)


@pytest.mark.parametrize(
    "outcome",
    [
        *("succeeded", "failed", "changed", "unchanged", "skipped", "failed,changed"),
        *("reason:*castedOp1*", "unchanged,reason:*operand ? of*", "reason:no such, *"),
    ],
)
def test_actions_that_a_breakpoint_stops_after_are_selected(
    mlir_opt: str, places: str, outcome: str
) -> None:
    recording = recording_of(mlir_opt, places)
    with actiondbg.launch([mlir_opt, places, _PASSES, "-o", "out"]) as session:
        session.breakpoints.add("tag:*", outcome=outcome)
        ordinals = sorted(stop.ordinal for stop in stock.each(session))
    assert selected(recording, where_outcome(outcome)) == ordinals
