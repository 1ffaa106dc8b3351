"""Catches, verify-each-action and the reproducer, with tools that fail, crash and complain."""

from __future__ import annotations

import lzma
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.stop import Stop
from tests.fakes import command_line
from tests.fakes import stock_tool as stock
from tests.paths import INPUTS
from tests.tool.lint.conftest import source

Launch = Callable[..., actiondbg.Session]
Debian = Callable[[str], str]

NOT_CONVERGED = (
    "--pass-pipeline=builtin.module(canonicalize{test-convergence=true max-iterations=1})"
)
INVALID = "func.func @bad() -> i32 {\n  return\n}\n"
TENSOR = """\
func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "test.foo"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
# The pattern erases an operation that is used: its user is left with a null operand.
NULL = """\
func.func @f() -> i32 {
  %0 = "test.erase_op"() : () -> i32
  "test.insert_same_op"() : () -> ()
  return %0 : i32
}
"""
CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  %c0 = arith.constant false
  %x = arith.ori %v, %c0 : i1
  memref.store %x, %m[%i] : memref<4xi1>
  return
}
"""
# A GPT of six layers, exported by JAX; its lowering dies of an assertion.
GPT = INPUTS / "gpt6_fwd.linalg.mlir.xz"
LOWER = (
    "--pass-pipeline=builtin.module(canonicalize,cse,eliminate-empty-tensors,"
    "empty-tensor-to-alloc-tensor,one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},func.func(convert-linalg-to-loops),"
    "canonicalize,cse,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-math-to-llvm,"
    "convert-math-to-libm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
    "convert-cf-to-llvm,reconcile-unrealized-casts,canonicalize)"
)


def culprit(stop: Stop) -> tuple[int, str, str]:
    assert stop.culprit is not None
    return stop.culprit.ordinal, stop.culprit.tag, stop.culprit.name


UNLEGAL = """\
func.func @f(%a: i64, %b: i32) -> f64 {
  %n = arith.constant 3 : i64
  %s = arith.addi %a, %n : i64
  %x = arith.sitofp %s : i64 to f64
  return %x : f64
}
"""


# --- the failing operation -----------------------------------------------------------


@pytest.mark.parametrize("kind", ["diagnostic", "failure"])
def test_the_cursor_is_on_the_operation_that_a_conversion_cannot_legalize(
    launch: Launch, kind: str
) -> None:
    source = stock.write("unlegal.mlir", UNLEGAL)
    session = launch("--cse", "--convert-arith-to-spirv", source=source)
    session.breakpoints.catch(kind)
    stop = session.run()
    told = stock.run(session.target.argv).stderr
    [place] = re.findall(
        r"^(\S+): error: failed to legalize operation 'arith.constant'", told, re.M
    )
    assert stop.cursor is not None and (stop.cursor.op, stop.cursor.by) == (
        "arith.constant",
        "failing",
    )
    unit = session.cursor.get().unit
    assert (unit.id, unit.location) == (stop.cursor.id, place)
    assert session.ir.print("cursor").text == "%n = arith.constant 3 : i64\n"
    assert session.cursor.move("action").unit.name == "builtin.module", "its own unit"
    assert session.continue_().status == 1
    assert session.target.errors() == told


def test_a_diagnostic_of_the_parser_has_no_operation(launch: Launch) -> None:
    session = launch(source=stock.write("broken.mlir", "func.func @f() { %x = }\n"))
    session.breakpoints.catch("diagnostic")
    stop = session.run()
    assert (stop.when, stop.ordinal, stop.cursor, stop.culprit) == ("during", 0, None, None)
    with pytest.raises(errors.NotStopped, match="No action has been dispatched yet"):
        session.cursor.get()


# --- failure ------------------------------------------------------------------------


def test_catch_failure(launch: Launch) -> None:
    session = launch(NOT_CONVERGED)
    catch = session.breakpoints.catch("failure")
    assert (catch.kind, catch.spec) == ("catch", "catch failure")
    stop = session.run()
    assert (stop.reason, stop.breakpoints) == ("catch", [catch.id])
    assert (stop.when, stop.name) == ("after", "canonicalize")
    assert stop.outcome is not None and stop.outcome.result == "failed"
    assert culprit(stop) == (stop.ordinal, "pass-execution", "canonicalize")
    assert stop.message and "canonicalize" in stop.message
    assert "func.func @sum" in session.ir.print("module").text
    assert session.continue_().status == 1
    assert session.breakpoints.get(catch.id).hits == 1


def test_catch_failure_of_some_passes(launch: Launch) -> None:
    session = launch(NOT_CONVERGED)
    session.breakpoints.catch("failure", "cs*")
    assert session.run().when == "exit"
    for glob in ("canon*", "*Canonicalizer"):
        catch = session.breakpoints.catch("failure", glob)
        assert session.run().breakpoints == [catch.id]
        session.breakpoints.delete([catch.id])


def test_a_catch_may_have_a_condition(launch: Launch) -> None:
    session = launch(NOT_CONVERGED)
    for kind in ("failure", "nonconvergence"):
        one = session.breakpoints.catch(kind)
        session.breakpoints.set_condition(one.id, "pass == 'cse'")
        assert session.run().when == "exit"
        session.breakpoints.set_condition(one.id, "pass == 'canonicalize'")
        assert session.run().breakpoints == [one.id]
        session.breakpoints.delete([one.id])


def test_catch_failure_in_a_nested_pipeline(debian: Debian, folds: str) -> None:
    """The pass that fails is told, not the managers around it."""
    flags = "--pass-pipeline=builtin.module(cse,func.func(canonicalize,test-pass-failure))"
    with actiondbg.launch([debian("mlir-opt"), folds, flags]) as session:
        session.breakpoints.catch("failure")
        stop = session.run()
        assert (stop.when, stop.name, stop.function) == ("after", "test-pass-failure", "sum")
        names = [session.run().name]
        while (stop := session.continue_()).when != "exit":
            names.append(stop.name)
        assert set(names) == {"test-pass-failure"}


# --- diagnostics ----------------------------------------------------------------------


def tensor(launch: Launch) -> actiondbg.Session:
    flags = ("--allow-unregistered-dialect", "--one-shot-bufferize")
    return launch(*flags, source=stock.write("t.mlir", TENSOR))


def test_catch_diagnostic_before_it_is_printed(launch: Launch) -> None:
    session = tensor(launch)
    catch = session.breakpoints.catch("diagnostic", "*not bufferized*")
    assert catch.spec == "catch diagnostic *not bufferized*"
    stop = session.run()
    assert (stop.when, stop.reason, stop.breakpoints) == ("during", "catch", [catch.id])
    assert stop.message is not None and "op was not bufferized" in stop.message
    assert culprit(stop) == (stop.ordinal, "pass-execution", "one-shot-bufferize")
    assert stop.outcome is None
    assert "bufferized" not in session.target.errors()
    assert '"test.foo"' in session.ir.print("module").text
    assert session.stack.frames()[0].name == "one-shot-bufferize"
    end = session.continue_()
    assert (end.when, end.status) == ("exit", 1)
    alone = stock.run(session.target.argv)
    assert session.target.errors() == alone.stderr and "not bufferized" in alone.stderr


def test_diagnostics_that_do_not_match_pass(launch: Launch) -> None:
    session = tensor(launch)
    session.breakpoints.catch("diagnostic", "*no such text*")
    assert session.run().when == "exit"


def test_control_at_a_stop_inside_an_action(launch: Launch) -> None:
    session = tensor(launch)
    session.breakpoints.catch("diagnostic")
    stop = session.run()
    with pytest.raises(errors.ControlRefused):
        session.skip()
    after = session.next()
    assert (after.when, after.ordinal) == ("after", stop.ordinal)


def test_catch_a_diagnostic_of_the_parser(launch: Launch) -> None:
    session = launch("--canonicalize", source=stock.write("bad.mlir", "func.func @f( {\n"))
    session.breakpoints.catch("diagnostic")
    stop = session.run()
    assert (stop.when, stop.reason) == ("during", "catch")
    assert (stop.ordinal, stop.tag, stop.name) == (0, "", "")
    assert session.stack.frames() == []
    assert session.continue_().status == 1
    assert session.target.errors() == stock.run(session.target.argv).stderr != ""


def test_remarks_are_diagnostics_too(debian: Debian, folds: str) -> None:
    flags = "--pass-pipeline=builtin.module(func.func(test-interface-pass))"
    with actiondbg.launch([debian("mlir-opt"), folds, flags]) as session:
        session.breakpoints.catch("diagnostic", "Executing interface pass*")
        stops = stock.stops(session)
    assert [stop.function for stop in stops] == ["sum", "twice"]
    assert {stop.name for stop in stops} == {"test-interface-pass"}


# --- verify -----------------------------------------------------------------------------


def test_catch_verify_of_the_input(launch: Launch) -> None:
    session = launch("--canonicalize", source=stock.write("bad.mlir", INVALID))
    catch = session.breakpoints.catch("verify")
    stop = session.run()
    assert (stop.when, stop.breakpoints, stop.ordinal) == ("during", [catch.id], 0)
    assert stop.message and "verifier failed" in stop.message
    assert stop.cursor is not None
    assert (stop.cursor.op, stop.cursor.by) == ("func.return", "failing")
    assert session.continue_().status == 1
    assert session.target.errors() == stock.run(session.target.argv).stderr


def test_catch_verify_after_a_pass(debian: Debian, folds: str) -> None:
    flags = (
        "--pass-pipeline=builtin.module(func.func(cse,test-pass-create-invalid-ir,canonicalize))"
    )
    argv = [debian("mlir-opt"), folds, flags]
    with actiondbg.launch(argv) as session:
        session.breakpoints.catch("verify")
        stop = session.run()
        assert stop.reason == "catch"
        assert culprit(stop)[1:] == ("pass-execution", "test-pass-create-invalid-ir")
        assert stop.message and "verifier failed on func.func" in stop.message
        assert session.ir.print("cursor", generic=True).text.startswith(
            '"test.any_attr_of_i32_str"'
        )
        printed = session.ir.print("module")
        assert "test.any_attr_of_i32_str" in printed.text and printed.generic
        while stop.when != "exit":
            stop = session.continue_()
        assert session.target.errors() == stock.run(argv).stderr


def test_verify_each_action_stops_after_the_first_action_that_breaks_the_ir(
    debian: Debian, folds: str
) -> None:
    argv = [debian("mlir-opt"), stock.write("null.mlir", NULL), "--allow-unregistered-dialect"]
    argv.append("--test-strict-pattern-driver")
    with actiondbg.launch(argv) as session:
        session.options.verify_each_action = True
        stop = session.run()
        assert (stop.when, stop.reason) == ("after", "verify")
        assert stop.name.endswith("EraseOp")
        assert culprit(stop) == (stop.ordinal, "apply-pattern", stop.name)
        assert stop.message and "func.return" in stop.message and "null" in stop.message
        printed = session.ir.print("function")
        assert printed.generic and "NULL" in printed.text
        # It is broken already: what comes after is not to blame.
        assert session.continue_().when == "exit"
        assert session.target.errors() == stock.run(argv).stderr
        session.options.verify_each_action = False
        assert session.run().when == "exit"


def test_verify_each_action_finds_the_pass(debian: Debian, folds: str) -> None:
    flags = (
        "--pass-pipeline=builtin.module(func.func(cse,test-pass-create-invalid-ir,canonicalize))"
    )
    with actiondbg.launch([debian("mlir-opt"), folds, flags]) as session:
        session.start()
        session.options.verify_each_action = True
        assert session.options.verify_each_action
        stop = session.continue_()
        assert (stop.reason, stop.when) == ("verify", "after")
        assert (stop.name, stop.function) == ("test-pass-create-invalid-ir", "sum")


def test_verify_each_action_knows_what_is_broken_of_each_function(
    mlir_opt: str, pattern_plugin: Path, tmp_path: Path
) -> None:
    flags = ["--allow-unregistered-dialect", f"--load-pass-plugin={pattern_plugin}"]
    flags.append("--pass-pipeline=builtin.module(rules)")
    (tmp_path / "rules.mlir").write_text(source("modified", "invalid"))
    with actiondbg.launch([mlir_opt, str(tmp_path / "rules.mlir"), *flags]) as session:
        session.options.verify_each_action = True
        stop = session.run()
        assert (stop.reason, stop.name, stop.function) == ("verify", "invalid", "invalid")
        # The iteration around both is not to blame for the same.
        assert session.continue_().when == "exit"
    (tmp_path / "rules.mlir").write_text(source("invalid-before"))
    with actiondbg.launch([mlir_opt, str(tmp_path / "rules.mlir"), *flags]) as session:
        session.options.verify_each_action = True
        stop = session.run()
        assert (stop.reason, stop.tag) == ("verify", "GreedyPatternRewriteIteration")
        assert culprit(stop) == (1, "pass-execution", "rules")
        assert session.continue_().when == "exit"


@pytest.mark.parametrize(
    ("runs", "culprits"),
    [
        # Of each pass, the functions that are invalid after it; the passes that are to blame.
        (["first", "first,second", "second", ""], [1, 2]),
        (["second", "first,second", "first", ""], [1, 2]),
        (["first,second", "second", "first,second"], [1, 3]),
        (["first", "second", "first", "", "first"], [1, 2, 3, 5]),
    ],
)
def test_verify_each_action_knows_the_functions_behind_the_first_invalid_one(
    mlir_opt: str, pattern_plugin: Path, tmp_path: Path, runs: list[str], culprits: list[int]
) -> None:
    passes = ",".join(f"invalidates{{functions={names}}}" for names in runs)
    flags = ["--allow-unregistered-dialect", f"--load-pass-plugin={pattern_plugin}"]
    flags += ["--verify-each=0", f"--pass-pipeline=builtin.module({passes})"]
    (tmp_path / "in.mlir").write_text(source("first", "second"))
    with actiondbg.launch([mlir_opt, str(tmp_path / "in.mlir"), *flags]) as session:
        session.options.verify_each_action = True
        stops, stop = list[int | None](), session.run()
        while stop.reason == "verify":
            stops.append(stop.ordinal)
            stop = session.continue_()
        assert stops == culprits


@pytest.mark.parametrize("flags", [stock.PASSES, "--convert-scf-to-cf", "--convert-func-to-llvm"])
def test_verify_each_action_accepts_good_passes(launch: Launch, flags: str) -> None:
    session = launch(flags, source=stock.write("mixed.mlir", stock.MIXED))
    session.options.verify_each_action = True
    assert stock.stops(session) == []
    assert (session.target.output(), session.target.errors()) == (
        stock.run(session.target.argv).stdout,
        "",
    )


# --- nonconvergence ---------------------------------------------------------------------


def test_catch_nonconvergence(launch: Launch) -> None:
    """max-iterations=1 is never enough for input that changes; upstream says nothing of it."""
    session = launch("--canonicalize=max-iterations=1")
    catch = session.breakpoints.catch("nonconvergence")
    stop = session.run()
    assert (stop.reason, stop.breakpoints) == ("catch", [catch.id])
    assert "canonicalize" in [frame.name for frame in session.stack.frames()]
    assert stop.message and "did not converge in 1 iteration" in stop.message
    assert session.continue_().when == "exit"


def test_convergence_is_not_caught(launch: Launch) -> None:
    session = launch("--canonicalize")
    session.breakpoints.catch("nonconvergence")
    assert session.run().when == "exit"


# --- crash --------------------------------------------------------------------------------


def crashing(debian: Debian, build: str) -> list[str]:
    """A command that dies of a failed assertion, or of abort in the build without those."""
    source = stock.write("crash.mlir", CRASHING)
    if build == "pypi":
        return ["mlir-opt", source, "--canonicalize", "--finalize-memref-to-llvm"]
    return [debian("mlir-opt"), source, "--canonicalize", "--test-pass-crash"]


@pytest.mark.parametrize("build", ["pypi", "debian"])
def test_catch_crash(debian: Debian, folds: str, build: str) -> None:
    with actiondbg.launch(crashing(debian, build)) as session:
        catch = session.breakpoints.catch("crash")
        stop = session.run()
        assert (stop.when, stop.reason, stop.breakpoints) == ("during", "catch", [catch.id])
        assert stop.message and stop.message.startswith("SIGABRT")
        assert culprit(stop) == (stop.ordinal, stop.tag, stop.name)
        frames = session.stack.frames()
        assert frames[0].ordinal == stop.ordinal
        if build == "pypi":
            assert (stop.tag, stop.name) == ("apply-pattern", "StoreOpLowering")
            assert (stop.op, stop.location) == ("memref.store", "crash.mlir:4:3")
        assert frames[-1].tag == "pass-execution"
        # The IR as it is: canonicalize has been there.
        text = session.ir.print("module").text
        assert "memref.store" in text and "arith.ori" not in text

        made = session.past.reproducer("again.mlir")
        end = session.continue_()
        assert (end.when, end.reason, end.status) == ("exit", "crashed", -signal.SIGABRT)
    again = subprocess.run(made.command, capture_output=True, text=True)
    assert again.returncode == -signal.SIGABRT
    written = Path(made.path).read_text()
    assert "memref.store" in written and "arith.ori" not in written
    name = "finalize-memref-to-llvm" if build == "pypi" else "test-pass-crash"
    assert name in made.pipeline and "canonicalize" not in made.pipeline


def test_the_past_of_a_crash(debian: Debian, folds: str) -> None:
    with actiondbg.launch(crashing(debian, "pypi")) as session:
        session.breakpoints.catch("crash")
        stop = session.run()
        changed = [row for row in session.past.statistics("pass") if row.name == "canonicalize"]
        assert [row.changes > 0 for row in changed] == [True]
        with session.past.replay(stop.ordinal) as replica:
            assert replica.stop is not None and replica.stop.name == "StoreOpLowering"


def test_actions_and_histories_inside_a_crash_as_text(debian: Debian, folds: str) -> None:
    lines = ["catch crash", "run", "info action", "history @8", "history @6", "up", "info action"]
    typed = [word for line in lines for word in ("-ex", line)]
    argv = ["-nx", "--batch", *typed, *crashing(debian, "pypi")]
    shown = command_line.run(*argv).stdout
    innermost, outer = re.findall(r"^action +#(\d+), inside it$", shown, re.M)
    assert int(outer) < int(innermost)
    # The crashing action has not ended, but it has inserted an operation.
    created = (
        rf"#{innermost}  created  by apply-pattern \(StoreOpLowering\) in finalize-memref-to-llvm"
    )
    assert re.search(rf"^@8 builtin.unrealized_conversion_cast\n  {created}$", shown, re.M)
    # The function was moved to the module that holds it, after it was parsed.
    assert re.search(r"^  #0  moved    by the tool, outside of any action$", shown, re.M)
    assert not re.search(r" by *$", shown, re.M)


def test_a_crash_that_is_not_caught(debian: Debian, folds: str) -> None:
    with actiondbg.launch(crashing(debian, "debian")) as session:
        session.options.stop_on_crash = False
        stop = session.run()
        assert (stop.when, stop.reason, stop.status) == ("exit", "crashed", -signal.SIGABRT)
        assert stop.message and "test-pass-crash" in stop.message
        made = session.past.reproducer("again.mlir")
    assert subprocess.run(made.command, capture_output=True).returncode == -signal.SIGABRT


def test_catch_crash_of_a_real_lowering(folds: str) -> None:
    source = stock.write("gpt6.mlir", lzma.decompress(GPT.read_bytes()).decode())
    with actiondbg.launch(["mlir-opt", source, LOWER, "-o", os.devnull]) as session:
        session.breakpoints.catch("crash")
        stop = session.run()
        assert (stop.when, stop.name, stop.op) == ("during", "StoreOpLowering", "memref.store")
        assert [frame.name for frame in session.stack.frames()][-1] == "finalize-memref-to-llvm"
        assert "xi1>" in session.ir.print("cursor").text
        made = session.past.reproducer("again.mlir")
        assert session.continue_().status == -signal.SIGABRT
    alone = subprocess.run([*made.command, "-o", os.devnull], capture_output=True, text=True)
    assert alone.returncode == -signal.SIGABRT and "StoreOpLowering" in alone.stderr


# --- catches are breakpoints ----------------------------------------------------------------


def test_catches_are_breakpoints(launch: Launch) -> None:
    session = launch(NOT_CONVERGED)
    catch = session.breakpoints.catch("failure")
    session.breakpoints.add("pass:no-such-pass")
    assert [one.kind for one in session.breakpoints.all()] == ["catch", "breakpoint"]
    session.breakpoints.disable([catch.id])
    assert session.run().when == "exit"
    session.breakpoints.enable([catch.id])
    assert session.run().reason == "catch"
    session.breakpoints.delete([catch.id])
    assert session.continue_().when == "exit"


@pytest.mark.parametrize(
    ("kind", "glob", "text"), [("crsh", None, "crsh"), ("crash", "x*", "glob"), ("", None, "''")]
)
def test_events_that_cannot_be_caught(
    launch: Launch, kind: str, glob: str | None, text: str
) -> None:
    session = launch()
    with pytest.raises(errors.UsageError, match=text):
        session.breakpoints.catch(kind, glob)
    assert session.breakpoints.all() == []
