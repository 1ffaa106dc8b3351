"""The lineage of real runs: recorded, at a stop, and over a chain of tools."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import actiondbg
from actiondbg.errors import NotRecorded, UsageError
from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.opened_lineage import ChainLineage, open_lineage
from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.lineage.session_lineage import SessionLineage
from actiondbg.lineage.track_answer import TrackAnswer, answer
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record, start_recording
from actiondbg.recording.session import open_session
from tests.elements import some
from tests.fakes import command_line
from tests.fakes import stock_tool as stock
from tests.tool.lineage.tracking import from_line, lineage_of, ways

CONSTANTS = """\
func.func @fold(%x: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = arith.addi %x, %c1 : i32
  %b = arith.addi %a, %c2 : i32
  %d = arith.muli %b, %b : i32
  %e = arith.muli %b, %b : i32
  %f = arith.addi %d, %e : i32
  %dead = arith.subi %x, %c1 : i32
  return %f : i32
}
"""
FUSED_ARGUMENTS = """\
#id = affine_map<(d0) -> (d0)>
func.func @two(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %0 = arith.mulf %in, %by : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %b : tensor<8xf32>
}
"""
FUSED = """\
#id = affine_map<(d0) -> (d0)>
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.constant 1.5 : f32
    %0 = arith.addf %in, %c : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.constant 2.5 : f32
    %0 = arith.mulf %in, %c : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}
"""
CRASHING = """\
func.func @f(%x: i32, %m: memref<4xi1>, %v: i1, %i: index) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = arith.addi %x, %c1 : i32
  %b = arith.addi %a, %c2 : i32
  memref.store %v, %m[%i] : memref<4xi1>
  return %b : i32
}
"""
ODD_LOCATIONS = r"""
func.func @"odd name"(%x: i32) -> i32 {
  %c = "my.const"() {value = 1 : i32} : () -> i32 loc(unknown)
  %0 = "my.op"(%x) ({ "my.yield"() : () -> () loc("z":0:0) }) : (i32) -> i32 loc("a\"b \\ \n.mlir":3:4)
  %1 = arith.addi %0, %c : i32 loc("name \" (q"(fused["y (.mlir":7:8, "z.mlir":1:1]))
  return %1 : i32 loc("日.mlir":9:1)
} loc(unknown)
"""  # noqa: E501
UNKNOWN = """\
func.func @f(%x: i32) -> i32 {
  %c1 = arith.constant 1 : i32 loc(unknown)
  %a = arith.addi %x, %c1 : i32 loc(unknown)
  %b = arith.addi %a, %c1 : i32 loc(unknown)
  return %b : i32 loc(unknown)
} loc(unknown)
"""
TEMPORARIES = """\
func.func @f(%x: vector<2x4xf32>) -> vector<2x4xf32> {
  %c = arith.constant dense<1.5> : vector<2x4xf32>
  %a = arith.subf %x, %c : vector<2x4xf32>
  %b = arith.mulf %a, %c : vector<2x4xf32>
  return %b : vector<2x4xf32>
}
"""
RENAMED = """\
#id = affine_map<(d0) -> (d0)>
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32> loc("a.py":1:1)
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32 loc("a.py":2:1)
    linalg.yield %0 : f32
  } -> tensor<8xf32> loc("a.py":3:1)
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32 loc("a.py":2:1)
    linalg.yield %0 : f32
  } -> tensor<8xf32> loc("a.py":4:1)
  return %z : tensor<8xf32>
}
"""
GLOBAL = """\
func.func @load(%i: index) -> f32 {
  %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %v = tensor.extract %c[%i] : tensor<3xf32>
  return %v : f32
}
"""
INLINED = """\
func.func private @square(%x: i32) -> i32 {
  %a = arith.muli %x, %x : i32
  return %a : i32
}
func.func @f(%x: i32) -> i32 {
  %r = func.call @square(%x) : (i32) -> i32
  return %r : i32
}
"""
BUFFERIZE = "--one-shot-bufferize=bufferize-function-boundaries"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_output_is_that_of_the_tool(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, FUSED, "--linalg-fuse-elementwise-ops", "--canonicalize")
    whole = ["in.mlir", "--linalg-fuse-elementwise-ops", "--canonicalize"]
    plain = subprocess.run([mlir_opt, *whole], capture_output=True, text=True, check=True)
    assert Path("out.mlir").read_text() == plain.stdout
    assert lineage.stages[-1].text.strip() == plain.stdout.strip()


def test_each_operation_of_a_stage_is_on_its_line(mlir_opt: str) -> None:
    first, last = lineage_of(mlir_opt, FUSED, "--convert-linalg-to-loops", BUFFERIZE).stages
    for stage in (first, last):
        # A yield without operands is not printed.
        for operation in some(one for one in stage if "yield" not in one.name):
            name = operation.name.removeprefix("builtin.").removeprefix("func.")
            assert name in operation.text.split("\n")[0], operation
        assert [one.name for one in stage.with_symbol("chain")] == ["func.func"]


def test_a_terminator_that_is_not_written_ends_on_its_line(mlir_opt: str) -> None:
    source = """\
func.func @f(%c: i1, %x: i32) {
  scf.if %c {
  } else {
    "t.first"(%x) : (i32) -> ()
  }
  scf.if %c {
    "t.second"(%x) : (i32) -> ()
  }
  return
}
"""
    for stage in some(lineage_of(mlir_opt, source, "--allow-unregistered-dialect", "--cse").stages):
        branches = [one.text.count("t.") for one in stage.named("scf.if")]
        assert branches == [1, 1], stage.text
        assert [one.text.count("\n") for one in stage.named("scf.yield")] == [0, 0, 0]


def test_what_a_pattern_made_of_its_root(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, CONSTANTS, "--canonicalize", "--cse")
    found = from_line(lineage, 5)  # (x + 1) + 2
    assert ways(found) == [("arith.constant", ["created"]), ("arith.addi", ["replaced"])]
    actions = {lineage.action(step.ordinal or 0) for one in found.traces for step in one.steps}
    assert actions == {"pattern:AddIAddConstant"}


def test_an_equal_operation_is_merged(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, CONSTANTS, "--cse")
    assert ways(from_line(lineage, 7)) == [("arith.muli", ["merged"])]
    assert ways(from_line(lineage, 6)) == [("arith.muli", [])]


def test_an_operation_without_heirs_names_the_action_that_erased_it(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, CONSTANTS, "--cse")
    [loss] = from_line(lineage, 9).losses
    assert loss.why == "dead" and lineage.action(loss.ordinal or 0) == "pass:cse"
    assert lineage.node(loss.node).name == "arith.subi"


def test_a_number_that_no_operation_of_the_run_has_is_unknown(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, CONSTANTS, "--cse")
    first = lineage.stages[0].nodes[0]
    assert lineage.node(first).name == "builtin.module" and first > 1
    for number in (-1, 0, 1, lineage.graph.count):
        with pytest.raises(KeyError):
            lineage.node(number)


def test_an_operation_of_arguments_is_fused_with_a_user_of_arguments(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, FUSED_ARGUMENTS, "--linalg-fuse-elementwise-ops")
    first, last = lineage.stages
    for generic in some(first.named("linalg.generic")):
        traces = lineage.track([generic], last, exact=True, nested=False).traces
        assert "linalg.generic" in {one.operation.name for one in traces}


def test_fused_bodies_are_cloned(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, FUSED, "--linalg-fuse-elementwise-ops")
    assert ("arith.addf", ["cloned"]) in ways(from_line(lineage, 8, exact=True))
    generic = lineage.stages[0].named("linalg.generic")[0]
    last = lineage.stages[-1]
    fused = lineage.track([generic], last, exact=True, nested=False).traces
    assert [(one.operation.name, [step.evidence for step in one.steps]) for one in fused] == [
        ("linalg.generic", ["fused"])
    ]
    inside = lineage.track([generic], last, exact=True)
    assert {one.name for one in inside.operations} >= {"arith.constant", "arith.addf"}


@pytest.mark.parametrize("exact", [True, False])
def test_a_clone_has_no_other_origin_at_its_location(mlir_opt: str, exact: bool) -> None:
    lineage = lineage_of(mlir_opt, RENAMED, "--linalg-fuse-elementwise-ops")
    first, last = lineage.stages
    for name in ("math.tanh", "math.exp"):
        found = lineage.track(first.named(name), last, exact=exact)
        assert [one.name for one in found.operations] == [name]


@pytest.mark.parametrize("exact", [True, False])
def test_locations_may_all_be_unknown(mlir_opt: str, exact: bool) -> None:
    lineage = lineage_of(mlir_opt, UNKNOWN, "--canonicalize")
    first, last = lineage.stages
    found = lineage.track(first.named("arith.addi")[1:], last, exact=exact)
    assert [one.name for one in found.operations] == ["arith.constant", "arith.addi"]
    assert lineage.relate(first, last, exact=exact).sources


@pytest.mark.parametrize("exact", [True, False])
def test_a_temporary_that_folds_to_its_operand_is_not_merged(mlir_opt: str, exact: bool) -> None:
    passes = ("--convert-arith-to-llvm", "--convert-func-to-llvm", "--reconcile-unrealized-casts")
    lineage = lineage_of(mlir_opt, TEMPORARIES, *passes, "--canonicalize")
    first, last = lineage.stages
    found = lineage.track(first.named("arith.mulf"), last, exact=exact).operations
    names = {one.name for one in found}
    assert "llvm.fmul" in names and "llvm.fsub" not in names


def test_a_hoisted_global_leads_back_to_its_constant(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, GLOBAL, BUFFERIZE)
    first, last = lineage.stages
    [made] = last.named("memref.global")
    back = lineage.track([made], first, exact=False)
    assert "arith.constant" in [one.name for one in back.operations]


def test_locations_show_what_a_pass_made_without_a_pattern(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, FUSED, BUFFERIZE)
    first, last = lineage.stages
    empty = first.named("tensor.empty")
    found = lineage.track(empty, last)
    assert {one.operation.name for one in found.traces} == {"memref.alloc", "memref.cast"}
    assert not any(one.is_exact for one in found.traces)
    assert not lineage.track(empty, last, exact=True).operations


def test_an_operation_made_with_the_body_of_another_is_its_copy(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, FUSED, BUFFERIZE)
    first, last = lineage.stages
    found = lineage.track(first.named("linalg.generic"), last, exact=True, nested=False)
    assert [one.operation.name for one in found.traces] == ["linalg.generic"] * 2
    assert {step.evidence for one in found.traces for step in one.steps} == {"cloned"}


def test_operands_show_which_constants_sccp_put_in_the_place_of_others(mlir_opt: str) -> None:
    text = """\
func.func @f(%x: f32, %y: f32) -> f32 {
  %k = arith.constant 2.5 : f32
  %l = arith.constant 1.5 : f32
  %m = arith.addf %k, %l : f32
  %a = arith.mulf %x, %k : f32
  %b = arith.divf %a, %m : f32
  return %b : f32
}
"""
    lineage = lineage_of(mlir_opt, text, "--sccp")
    first, last = lineage.stages
    made = {
        trace.operation.text.split()[3]: [step.evidence for step in trace.steps]
        for one in (*first.named("arith.constant"), *first.named("arith.addf"))
        for trace in lineage.track([one], last, exact=True).traces
    }
    assert made == {"2.500000e+00": ["replaced"], "4.000000e+00": ["replaced"]}


def test_what_happened_to_an_operation_that_stayed(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, INLINED, "--inline")
    first, last = lineage.stages
    [square] = first.named("arith.muli")
    [trace] = lineage.track([square], last).traces
    assert trace.operation.node == square.node and not trace.steps
    [event] = lineage.events(square.node)
    assert event.evidence == "inlined" and lineage.action(event.ordinal or 0) == "pass:inline"
    answered = answer(lineage, [square], last, lineage.track([square], last), "forward")
    assert [step.evidence for step in answered.operations[0].steps] == ["inlined"]


def test_a_recording_is_tracked_up_to_a_pass(mlir_opt: str) -> None:
    lineage_of(mlir_opt, CONSTANTS, "--canonicalize", "--convert-arith-to-llvm")
    words = ["track", "run.adbrec", "--from", "in.mlir:6", "--to"]
    for to, name in (("canonicalize", "arith.muli"), ("convert-arith-to-llvm", "llvm.mul")):
        run = command_line.run(*words, to, check=True)
        assert f"of the IR after {to} #" in run.stdout and name in run.stdout.split("\n", 1)[1]
    run = command_line.run(*words, "nosuch")
    assert run.returncode == 2 and "No pass 'nosuch' runs" in run.stderr


def test_a_pass_runs_on_each_part_of_a_split_input(mlir_opt: str) -> None:
    Path("in.mlir").write_text(f"{CONSTANTS}// -----\n{CONSTANTS}")
    tool = ["--", mlir_opt, "in.mlir", "--split-input-file", "--cse"]
    for line, to, expected in (
        (6, "cse#1", "became 1 operation of the IR after cse #1:"),
        (6, "cse#2", "is in a part of the input that ended before"),
        (18, "cse#1", "is in a part of the input that is read later"),
        (18, "cse#2", "became 1 operation of the IR after cse #"),
    ):
        words = ["track", "--from", f"in.mlir:{line}", "--to", to, *tool]
        run = command_line.run(*words, check=True)
        assert expected in run.stdout, run.stdout


def test_an_action_ends_the_lineage_of_a_tool_that_does_not_end(mlir_opt: str) -> None:
    stock.write("in.mlir", stock.SPIN)
    words = ["track", "--from", "in.mlir:9", "--to", "#40", "--"]
    run = command_line.run(*words, mlir_opt, "in.mlir", "--canonicalize", check=True)
    assert "of the IR after #40:" in run.stdout


def test_relate_agrees_with_track(mlir_opt: str) -> None:
    lineage = lineage_of(mlir_opt, FUSED, "--linalg-fuse-elementwise-ops", BUFFERIZE)
    first, last = lineage.stages
    for exact in (False, True):
        relation = lineage.relate(first, last, exact=exact)
        pairs = set(zip(relation.sources, relation.targets, strict=True))
        tracked = {
            (source.index, one.index)
            for source in first
            for one in lineage.track([source], last, exact=exact).operations
        }
        assert pairs == tracked


def test_a_stop_and_a_recording_give_the_same_answers(
    launch: Callable[..., actiondbg.Session], mlir_opt: str
) -> None:
    args = ("--linalg-fuse-elementwise-ops", "--canonicalize", "--mlir-disable-threading")
    recorded = lineage_of(mlir_opt, FUSED, *args)
    session = launch(*args, source=str(Path("in.mlir")))
    session.breakpoints.add("pattern:FuseElementwiseOps")
    session.run()
    live = SessionLineage(session, "end")
    assert [one.name for one in live.lineage.stages][1].startswith("after #")
    assert live.last.nodes == recorded.stages[-1].nodes
    assert live.last.text == recorded.stages[-1].text
    for ours, theirs in some(zip(recorded.stages[0], live.first, strict=True)):
        here = recorded.track([ours], recorded.stages[-1])
        there = live.lineage.track([theirs], live.last)
        assert ways(here) == ways(there)


@pytest.mark.parametrize("split", [False, True])
def test_all_of_the_ir_before_the_first_action_is_the_input(
    launch: Callable[..., actiondbg.Session], folds: str, split: bool
) -> None:
    """Also where another module has been compiled before, and its input is recorded."""
    text = Path(folds).read_text()
    Path("in.mlir").write_text(f"func.func private @f()\n// -----\n{text}" if split else text)
    session = launch("--cse", "--split-input-file", source="in.mlir")
    stop = session.start()
    if split:
        stop = session.timeline.goto(2)
    assert stop.when == "before"
    live = SessionLineage(session, "now")
    assert live.last.name == ("after cse #1" if split else "before #1")
    # The input has the names of its file.
    here, first = (re.sub(r"%\w+", "%_", stage.text) for stage in (live.last, live.first))
    assert here in first
    assert len(live.last.nodes) == 1 + text.count("arith.") + 2 * text.count("func.func")
    for operation in live.last:
        assert ways(live.lineage.track([operation], live.first)) != []


@pytest.mark.parametrize(
    ("source", "args"),
    [
        (CONSTANTS, ["--canonicalize"]),
        (CONSTANTS, ["--cse"]),
        (CONSTANTS, ["--convert-arith-to-llvm"]),
        (FUSED, ["--linalg-fuse-elementwise-ops"]),
        (FUSED, [BUFFERIZE, "--convert-linalg-to-loops"]),
        (GLOBAL, [BUFFERIZE]),
    ],
)
def test_dumps_show_a_part_of_what_the_run_shows(
    mlir_opt: str, source: str, args: list[str]
) -> None:
    recorded = lineage_of(mlir_opt, source, *args, "--mlir-print-debuginfo")
    dumps = open_lineage(dumps=["in.mlir", "out.mlir"]).lineage
    in_run, in_dumps = pairs(recorded), pairs(dumps)
    assert in_dumps and in_dumps <= in_run


def pairs(lineage: Lineage) -> set[tuple[str, str, str, str]]:
    """Return what became what: names, the location of the source, and the result of the target."""
    first, last = lineage.stages
    relation = lineage.relate(first, last)
    return {
        (first[at].name, first[at].location.text, last[to].name, last[to].result)
        for at, to in zip(relation.sources, relation.targets, strict=True)
    }


def test_a_stop_over_a_recording_gives_the_same_answers(
    launch: Callable[..., actiondbg.Session], mlir_opt: str
) -> None:
    args = ("--linalg-fuse-elementwise-ops", "--canonicalize", "--mlir-disable-threading")
    lineage_of(mlir_opt, FUSED, *args)
    live = launch(*args, source=str(Path("in.mlir")))
    recorded = open_session("run.adbrec")
    answers: list[list[Any]] = []
    for session in (live, recorded):
        session.breakpoints.add("pattern:FuseElementwiseOps")
        stop = session.run()
        end = next(one.ordinal for one in session.past.passes() if one.name == "canonicalize")
        found: list[Any] = [stop.ordinal]
        for when in ("before", "after"):
            session.timeline.goto(stop.ordinal, when)
            there = SessionLineage(session, end)
            here = there.here
            found.append((here.name, there.last.name, sorted(here.nodes), sorted(there.last.nodes)))
            for operation in some(sorted(here, key=lambda one: one.node)):
                # A recording does not show in which regions the operations are at a stop.
                onward = there.lineage.track([operation], there.last, nested=False)
                back = there.lineage.track([operation], there.first, nested=False)
                found.append([sorted(one.node for one in way.operations) for way in (onward, back)])
        answers.append(found)
    assert answers[0] == answers[1]
    with pytest.raises(UsageError, match="The action #1 is before this stop"):
        SessionLineage(recorded, 1)
    with pytest.raises(UsageError, match="there is no #99999"):
        SessionLineage(recorded, 99999)


def test_a_killed_run_has_the_lineage_up_to_then(mlir_opt: str) -> None:
    functions = (CONSTANTS.replace("@fold", f"@f{n}") for n in range(5_000))
    Path("in.mlir").write_text("\n".join(functions))
    argv = [mlir_opt, "in.mlir", "--canonicalize", "--cse", "-o", "out.mlir"]
    with start_recording(argv, "run.adbrec", lineage=True) as running:
        while Path("run.adbrec").stat().st_size < 1 << 20 and running.poll(0.01) is None:
            pass
        os.kill(running.process.pid, signal.SIGKILL)
        done = running.wait()
    assert done.status == -signal.SIGKILL and done.path is not None
    deadline = time.monotonic() + 60  # the fork that prints the input goes on
    while not open_recording(done.path).stages and time.monotonic() < deadline:
        time.sleep(0.1)
    lineage = RecordedLineage(open_recording(done.path))
    assert [stage.name for stage in lineage.stages] == ["input", "end"]
    assert {str(step.evidence) for step in lineage.steps()} >= {"replaced"}


def test_a_crash_leaves_the_operations_that_were_there(mlir_opt: str) -> None:
    Path("in.mlir").write_text(CRASHING)
    passes = "canonicalize,convert-arith-to-llvm,finalize-memref-to-llvm,test-pass-crash"
    if not mlir_opt.startswith("/usr"):
        passes = "canonicalize,convert-arith-to-llvm,finalize-memref-to-llvm"
    argv = [mlir_opt, "in.mlir", f"--pass-pipeline=builtin.module({passes})"]
    done = record(argv, "run.adbrec", lineage=True, stderr=subprocess.DEVNULL)
    assert done.status == -signal.SIGABRT and done.path is not None
    lineage = RecordedLineage(open_recording(done.path))
    first, end = lineage.stages
    assert (end.name, end.is_listing) == ("end", True)
    [added] = [one for one in first if one.location.text.endswith(":5:8")]
    assert ("llvm.add", ["replaced", "replaced"]) in ways(lineage.track([added], end, exact=True))
    [back] = lineage.track(end.named("llvm.add"), first, exact=True).operations
    assert back.node == added.node
    assert not end.named("arith.addi")
    refused = command_line.run("annotate", done.path)
    assert refused.returncode == 2
    assert refused.stderr.endswith(
        "The run has no output to annotate: name another stage with --at.\n"
    )
    asked = command_line.run("lineage", done.path, "--orphans")
    assert asked.stderr.startswith(
        "actiondbg: The run has no output: the last stage is the IR at the end"
    )
    assert "operations of the input" in asked.stdout


def test_a_run_that_crashes_is_tracked_to_a_pass_before(mlir_opt: str) -> None:
    Path("in.mlir").write_text(CRASHING)
    passes = "canonicalize,convert-arith-to-llvm,finalize-memref-to-llvm"
    if mlir_opt.startswith("/usr"):
        passes += ",test-pass-crash"
    tool = [mlir_opt, "in.mlir", f"--pass-pipeline=builtin.module({passes})"]
    given = ("track", "--from", "in.mlir:5", "--json", "--to")
    tracked = [command_line.run(*given, to, "--", *tool) for to in ("canonicalize", "end")]
    assert not [done.stderr for done in tracked if not done.stdout]
    answers = [msgspec.json.decode(done.stdout, type=TrackAnswer) for done in tracked]
    assert [one.stage.partition(" #")[0] for one in answers] == ["after canonicalize", "end"]
    reached = [[made.operation.name for made in one.operations] for one in answers]
    assert reached == [["arith.constant", "arith.addi"], ["llvm.mlir.constant", "llvm.add"]]


def test_a_tool_of_a_chain_without_an_action_is_named(mlir_opt: str) -> None:
    Path("in.mlir").write_text("func.func @f() {\n  return\n}\n")
    tools = ("--", mlir_opt, "in.mlir", "--cse", "--then", "--", mlir_opt)
    done = command_line.run("track", "--from", "@f", *tools)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"actiondbg: {Path(mlir_opt).name} 2: There is no IR to track: the tool ended before its "
        "first action."
    )


def test_a_tool_that_fails_before_its_first_action_has_no_lineage(mlir_opt: str) -> None:
    Path("in.mlir").write_text("func.func @f() {\n  return 1\n}\n")
    done = command_line.run("track", "--from", "@f", "--", mlir_opt, "in.mlir", "--cse")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "actiondbg: There is no IR to track: the tool ended before its first action."
    )


def test_odd_locations_are_parsed_again(mlir_opt: str) -> None:
    Path("in.mlir").write_text(ODD_LOCATIONS)
    argv = [mlir_opt, "in.mlir", "--allow-unregistered-dialect", "--cse", "-o", "out.mlir"]
    done = record(argv, "run.adbrec", lineage=True)
    assert done.path is not None
    annotated = command_line.run("annotate", done.path).stdout
    assert len(annotated.splitlines()) == len(Path("out.mlir").read_text().rstrip().splitlines())
    assert ":0:0)  // from my.const %c line 3" in annotated
    parsed = subprocess.run(
        [mlir_opt, "--allow-unregistered-dialect", "--mlir-print-debuginfo"],
        input=annotated, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    names = (r'"a\22b \\ \0A.mlir":3:4', r'"\E6\97\A5.mlir":9:1', '"z":0:0')
    assert all(one in parsed for one in names)
    found = command_line.run("track", done.path, "--from", "日.mlir:9")
    assert "return %2 : i32" in found.stdout
    # Dumps have the same files, whose names MLIR escapes otherwise than users do.
    argv = [mlir_opt, "in.mlir", "--allow-unregistered-dialect", "--mlir-print-debuginfo"]
    Path("then.mlir").write_text(subprocess.run(argv, capture_output=True, text=True).stdout)
    found = command_line.run(
        "track", "--input", "in.mlir", "--then", "then.mlir", "--from", "日.mlir:9"
    )
    assert "became 1 operation of then.mlir" in found.stdout


UNROLLED = """\
module attributes {transform.with_named_sequence} {
  func.func @f(%m: memref<?xf32>, %v: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %v, %m[%i] : memref<?xf32>
    }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %loop = transform.structured.match ops{["scf.for"]} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %loop {factor = 2} : !transform.any_op
    transform.yield
  }
}
"""


def test_a_terminator_that_is_not_written_is_no_origin(mlir_opt: str) -> None:
    Path("in.mlir").write_text(UNROLLED)
    tool = [mlir_opt, "in.mlir", "--transform-interpreter"]
    annotated = command_line.run("annotate", "--comments-only", "--", *tool).stdout
    assert "arith.muli %c1, %c1_0 : index  // from scf.for in.mlir:6:5 (by location)" in annotated
    assert "from scf.yield" not in annotated


def test_annotated_modules_of_a_split_file_are_parsed_again(mlir_opt: str) -> None:
    functions = ("#map = affine_map<(d0) -> (d0 + 1)>\nfunc.func @f() attributes {m = #map} {\n"
                 "  return\n}\n", "module @empty {\n}\n", "func.func private @g()\n")  # fmt: skip
    Path("in.mlir").write_text("// -----\n".join(functions))
    argv = [mlir_opt, "in.mlir", "--split-input-file", "--cse", "-o", "out.mlir"]
    done = record(argv, "run.adbrec", lineage=True)
    assert done.status == 0 and done.path is not None
    annotated = command_line.run("annotate", done.path).stdout
    lines = Path("out.mlir").read_text().splitlines()
    for line, ours in some(zip(lines, annotated.splitlines(), strict=False)):
        assert ours.startswith(line)
    argv = [mlir_opt, "--split-input-file"]
    again = subprocess.run(argv, input=annotated, capture_output=True, text=True)
    assert again.stdout == Path("out.mlir").read_text(), again.stderr


def test_operations_are_found_by_their_ids(mlir_opt: str) -> None:
    Path("in.mlir").write_text(CONSTANTS)
    record([mlir_opt, "in.mlir", "--cse", "-o", "out.mlir"], "run.adbrec", lineage=True)
    by_name = command_line.run("track", "run.adbrec", "--from", "arith.muli").stdout
    shown = by_name.split()[0]
    by_id = command_line.run("track", "run.adbrec", "--from", shown)
    assert shown.startswith("@") and by_id.stdout and by_name.startswith(by_id.stdout)


def test_a_chain_of_tools_is_joined_by_its_ir(mlir_opt: str) -> None:
    Path("in.mlir").write_text(CONSTANTS)
    first = record([mlir_opt, "in.mlir", "--canonicalize"], "1.adbrec", lineage=True, stdout="1")
    second = record(
        [mlir_opt, "--convert-arith-to-llvm"], "2.adbrec", lineage=True, stdin="1", stdout="2"
    )
    runs = [RecordedLineage(open_recording(one.path or "")) for one in (first, second)]
    chain = ChainLineage(runs, ["one", "two"])
    assert [stage.name for stage in chain.stages] == [
        "input of one", "output of one", "input of two", "output of two",
    ]  # fmt: skip
    start, end = chain.stages[0], chain.stages[-1]
    [added] = [one for one in start if one.location.text.startswith('"in.mlir":5:')]
    found = chain.track([added], end, exact=True)
    assert ("llvm.add", ["replaced", "same", "replaced"]) in ways(found)
    last = found.traces[-1].steps[-1]
    assert "of two" in chain.action(last.ordinal or 0)
    [back] = chain.track(end.named("llvm.mul")[:1], start, exact=True).traces
    assert back.operation.name == "arith.muli"


TWO_TOOLS = (["--canonicalize"], ["--pass-pipeline=builtin.module(convert-arith-to-llvm,cse)"])


def recorded_one_after_the_other(tool: str) -> tuple[str, str]:
    """Record two tools, of which the second one reads what the first one wrote."""
    Path("in.mlir").write_text(CONSTANTS)
    record([tool, "in.mlir", *TWO_TOOLS[0]], "one.adbrec", lineage=True, stdout="1")
    record([tool, *TWO_TOOLS[1]], "two.adbrec", lineage=True, stdin="1", stdout="2")
    return "one.adbrec", "two.adbrec"


def test_recordings_are_joined_as_tools_are(mlir_opt: str) -> None:
    first, second = recorded_one_after_the_other(mlir_opt)
    joined = command_line.run("track", first, "--then", second, "--from", "arith.addi")
    assert joined.stderr == ""
    assert "output of two.adbrec" in joined.stdout and " llvm.add " in joined.stdout
    tools = [mlir_opt, "in.mlir", *TWO_TOOLS[0], "--then", "--", mlir_opt, *TWO_TOOLS[1]]
    live = command_line.run("track", "--from", "arith.addi", "--", *tools)
    renamed = joined.stdout.replace(first, "mlir-opt 1").replace(second, "mlir-opt 2")
    assert renamed == live.stdout
    kinds = command_line.run("lineage", first, "--then", second, "--kinds", "arith.muli")
    assert "-> llvm.mul" in kinds.stdout
    chain = open_lineage(first, then=[second]).lineage
    assert isinstance(chain, ChainLineage)


@pytest.mark.parametrize(
    ("to", "kind", "run"),
    [
        ("canonicalize", "arith.muli", "canonicalize #1 of one"),
        ("#1", "arith.muli", "canonicalize #1 of one"),
        ("convert-arith-to-llvm", "llvm.mul", r"convert-arith-to-llvm #\d+ of two"),
    ],
)
def test_a_chain_is_tracked_up_to_a_pass_of_any_tool(
    mlir_opt: str, to: str, kind: str, run: str
) -> None:
    first, second = recorded_one_after_the_other(mlir_opt)
    found = command_line.run("track", first, "--then", second, "--from", "arith.muli", "--to", to)
    assert re.search(rf"line \d+ after {run}.adbrec: {kind}\n", found.stdout), found


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("two.adbrec", "--then", "one.adbrec"),
            r"one.adbrec parsed other IR than two.adbrec printed: operation \d+ is [\w.]+, not "
            r"[\w.]+\.",
        ),
        (("one.adbrec", "--then", "two.adbrec", "--to", "inline"), "No pass 'inline' runs: .*"),
        (("one.adbrec", "--then", "two.adbrec", "--to", "#9999"), "There is no action #9999: .*"),
    ],
)
def test_recordings_that_do_not_follow_one_another_are_refused(
    mlir_opt: str, args: tuple[str, ...], message: str
) -> None:
    recorded_one_after_the_other(mlir_opt)
    found = command_line.run("track", *args, "--from", "*")
    assert (found.returncode, found.stdout) == (2, "")
    assert re.fullmatch(f"actiondbg: {message}\n", found.stderr), found.stderr


def test_a_recording_without_lineage_names_the_way_to_record_it(mlir_opt: str) -> None:
    Path("in.mlir").write_text(CONSTANTS)
    done = record([mlir_opt, "in.mlir", "--cse"], "run.adbrec", stdout=os.devnull)
    with pytest.raises(NotRecorded, match="actiondbg record --lineage"):
        RecordedLineage(open_recording(done.path or ""))
