"""Why dialect conversions of a real tool failed, or left operations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.analysis.legalization.explanation import Explanation
from actiondbg.errors import NoAnswer, NoSuchUnit, UsageError
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.session.past.replay import Replay
from tests.elements import some
from tests.fakes import command_line
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]

NO_REASON_IN_TOOL = """\
module attributes {spirv.target_env =
    #spirv.target_env<#spirv.vce<v1.0, [Shader], []>, #spirv.resource_limits<>>} {
  func.func @f(%a: vector<5xi32>) -> vector<5xi32> {
    %0 = arith.muli %a, %a : vector<5xi32>
    return %0 : vector<5xi32>
  }
}
"""
REASON = """\
func.func @conv(%a: tensor<1x5x5x?xf32>, %w: tensor<2x3x3x4xf32>, %b: tensor<2xf32>,
                %zp: tensor<1xf32>) -> tensor<1x?x?x2xf32> {
  %0 = tosa.depthwise_conv2d %a, %w, %b, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>,
    pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
    : (tensor<1x5x5x?xf32>, tensor<2x3x3x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<1x?x?x2xf32>
  return %0 : tensor<1x?x?x2xf32>
}
"""
REPORTED = """\
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f(%a: memref<4xf32>) kernel {
      gpu.return
    }
  }
}
"""
LEFT = """\
func.func @f(%a: memref<4xf32, "here">, %b: memref<4xf32>, %i: index) -> f32 {
  %0 = memref.load %a[%i] : memref<4xf32, "here">
  %1 = memref.load %a[%i] : memref<4xf32, "here">
  %2 = memref.load %b[%i] : memref<4xf32>
  %3 = math.erf %2 : f32
  return %0 : f32
}
"""


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def failed(session: actiondbg.Session) -> Explanation:
    session.breakpoints.catch("failure")
    stop = session.run()
    assert stop.reason == "catch"
    return session.past.explain()


def test_a_type_that_no_one_tells_of(launch: Launch) -> None:
    session = launch("--convert-arith-to-spirv", source=stock.write("a.mlir", NO_REASON_IN_TOOL))
    found = failed(session)
    assert found.cause is not None and found.failed is not None
    assert found.cause.kind == "type"
    assert found.cause.text.endswith(
        "needs type vector<5xi32>, which mlir::SPIRVTypeConverter does not convert"
    )
    (one,) = found.failed.legalizations[-1:]
    assert (one.op, one.legality, one.illegal) == ("arith.muli", "illegal", True)
    text = one.text or ""
    assert re.match(r'%\w+ = "arith.muli"\((%a, %a|%arg0, %arg0)\)', text)
    assert (found.failed.pass_name, found.failed.full) == ("convert-arith-to-spirv", False)
    # The explanation names the action in which the pattern was tried.
    ordinal = one.tried[0].ordinal
    assert ordinal is not None
    assert session.timeline.goto(ordinal).tag == "apply-pattern"


def test_a_reason(launch: Launch) -> None:
    pipeline = "--pass-pipeline=builtin.module(func.func(tosa-to-linalg-named))"
    found = failed(launch(pipeline, source=stock.write("a.mlir", REASON)))
    assert found.cause is not None and found.failed is not None
    assert found.cause.text == (
        "pattern DepthwiseConvConverter did not match: "
        "input zero point cannot be statically determined"
    )
    assert (found.failed.full, found.failed.function) == (True, "conv")


def test_what_a_pattern_reports_instead(launch: Launch) -> None:
    found = failed(launch("--convert-gpu-to-spirv", source=stock.write("a.mlir", REPORTED)))
    assert found.cause is not None
    assert found.cause.text.startswith("pattern GPUFuncOpConversion did not match: ")
    assert "missing 'spirv.entry_point_abi' attribute" in found.cause.text


def test_operations_that_a_conversion_left(launch: Launch) -> None:
    session = launch("--finalize-memref-to-llvm", source=stock.write("a.mlir", LEFT))
    session.start()
    loads = session.ir.count("memref.load")
    assert loads == session.ir.count("op:memref.load") == 3
    with pytest.raises(UsageError, match="the kinds are pattern, pass, fold"):
        session.past.statistics("zz")  # pyright: ignore[reportArgumentType]
    assert session.continue_().when == "exit"
    groups = session.past.explain("op:memref.*").groups()
    assert [(group.first.op, group.count, group.cause.kind) for group in groups] == [
        ("memref.load", 2, "type")
    ]
    assert 'needs type memref<4xf32, "here">' in groups[0].cause.text
    (math,) = session.past.explain("op:math.erf").groups()
    assert math.cause.text == "no pattern for math.erf" and math.first.illegal is False
    again = session.past.explain(f"@{groups[0].first.id}").groups()
    assert [group.first.id for group in again] == [groups[0].first.id]
    assert session.past.explain("op:arith.*").groups() == []
    assert session.past.explain().failed is None


@pytest.mark.parametrize("option", ["--canonicalize", "--convert-arith-to-llvm"])
def test_a_run_without_casts_takes_no_replay_for_them(
    option: str, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = launch(option, source=stock.write("a.mlir", "func.func @f() {\n  return\n}\n"))
    assert session.run().status == 0
    forks: list[ForkedTool] = []
    fork = Replay.fork

    def counted(replay: Replay) -> ForkedTool:
        forks.append(fork(replay))
        return forks[-1]

    monkeypatch.setattr(Replay, "fork", counted)
    found = session.past.explain()
    assert (found.failed, found.other, found.status, found.casts) == (None, None, 0, None)
    assert len(forks) == 2  # of conversions, and of other failures


def test_a_run_is_explained_though_nothing_is_known_of_its_casts(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = launch("--finalize-memref-to-llvm", source=stock.write("a.mlir", LEFT))
    assert session.run().status == 0
    known = session.past.explain().casts
    assert known is not None and known.casts_left() and known.beside
    fork = Replay.fork

    for failing in (3, 1):  # those beside the casts, then the casts
        forks: list[int] = []

        def failed_once(
            replay: Replay, failing: int = failing, forks: list[int] = forks
        ) -> ForkedTool:
            forks.append(len(forks) + 1)
            if forks[-1] == failing:
                raise NoAnswer("The run cannot be replayed.")
            return fork(replay)

        monkeypatch.setattr(Replay, "fork", failed_once)
        found = session.past.explain()
        assert (found.failed, found.other, found.status) == (None, None, 0)
        beside = None if found.casts is None else len(found.casts.beside)
        assert beside == (0 if failing == 3 else None)


def test_bad_targets(launch: Launch) -> None:
    session = launch("--finalize-memref-to-llvm", source=stock.write("a.mlir", LEFT))
    session.start()
    for bad in ("op:[", "nothing", "op:"):
        with pytest.raises(UsageError):
            session.past.explain(bad)
    with pytest.raises(NoSuchUnit):
        session.past.explain("%none")


def test_the_tool_writes_the_same(mlir_opt: str) -> None:
    """The converters are asked again, in a replay only."""
    stock.write("a.mlir", LEFT)
    argv = [mlir_opt, "a.mlir", "--finalize-memref-to-llvm"]
    script = ["-ex", "run", "-ex", "explain op:memref.* > why.txt"]
    own = stock.run(argv, check=True)
    done = command_line.run("--batch", *script, *argv)
    assert own.stdout in done.stdout
    for line in some(own.stderr.splitlines()):
        assert done.stderr.count(line) == own.stderr.count(line)


def test_the_command(mlir_opt: str) -> None:
    stock.write("a.mlir", NO_REASON_IN_TOOL)
    argv = [mlir_opt, "a.mlir", "--convert-arith-to-spirv"]
    script = ["-ex", "catch failure", "-ex", "run", "-ex", "explain"]
    done = command_line.run("--batch", *script, *argv)
    lines = done.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "was not legalized" in line)
    assert lines[at].endswith("which mlir::SPIRVTypeConverter does not convert.")
    assert lines[at + 1] == "in the partial conversion #2 of convert-arith-to-spirv"
    assert "    the target marks it illegal" in lines[at:]

    done = command_line.run("--json", "--batch", *script, *argv)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    answer = next(one["result"] for one in answers if one.get("command") == "explain")
    assert answer["cause"]["kind"] == "type"
    assert answer["conversions"][0]["legalizations"][-1]["op"] == "arith.muli"


DEALLOC = """\
func.func @f(%a: memref<4xf32>) {
  memref.dealloc %a : memref<4xf32>
  return
}
"""


def test_right_after_the_action_of_a_conversion_that_failed(launch: Launch) -> None:
    """The function that runs the conversion has not returned there, nor at iree-compile's end."""
    session = launch("--convert-memref-to-emitc", source=stock.write("a.mlir", DEALLOC))
    session.breakpoints.add("tag:apply-conversion")
    session.run()
    stop = session.next()
    assert stop.when == "after" and stop.tag == "apply-conversion"
    found = session.past.explain()
    assert found.failed is not None and found.failed.failed
    assert found.cause is not None and found.cause.text == "no pattern for memref.dealloc"


def test_right_after_the_action_of_a_conversion_that_succeeded(launch: Launch) -> None:
    session = launch("--convert-scf-to-cf", source=stock.write("a.mlir", LEFT))
    session.breakpoints.add("tag:apply-conversion")
    session.run()
    stop = session.next()
    assert stop.when == "after" and stop.tag == "apply-conversion"
    assert session.past.explain().failed is None
