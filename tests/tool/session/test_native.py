"""A native debugger at an action of a real tool."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import protocol
from actiondbg.errors import NotStopped, UsageError
from tests.fakes import command_line
from tests.fakes import stock_tool as stock
from tests.paths import ROOT
from tests.tool.session.test_crashes import CRASHING, LOWER

Debian = Callable[[str], str]

WHILE_IF = str(ROOT / "examples/miscompiles/while-if.mlir")

needs_gdb = pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")
needs_lldb = pytest.mark.skipif(not shutil.which("lldb"), reason="lldb is not installed")


@pytest.fixture
def crashing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    return ["mlir-opt", stock.write("crash.mlir", CRASHING), *LOWER]


# --- the functions of actions ------------------------------------------------------------------


def functions_at(session: actiondbg.Session, spec: str) -> list[protocol.NativeFunction]:
    """The functions at which a debugger would get breakpoints, at the first hit of a SPEC."""
    session.breakpoints.add(spec)
    assert session.run().reason == "breakpoint"
    assert session.execution is not None
    with session.execution.fork(protocol.Fork(role="replica")) as fork:
        return fork.request(protocol.PrepareNative(output=os.devnull)).functions


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("pass:canonicalize", "(anonymous namespace)::Canonicalizer::runOnOperation"),
        ("pattern:WhileMoveIfDown", "(anonymous namespace)::WhileMoveIfDown::matchAndRewrite"),
        ("pattern:mlir::cf::BranchOp::canonicalize", "mlir::cf::BranchOp::canonicalize"),
        ("pattern:CallOpLowering", "(anonymous namespace)::CallOpLowering::matchAndRewrite"),
        ("fold:scf.while", "mlir::RegisteredOperationName::Model<mlir::scf::WhileOp>::foldHook"),
    ],
)
def test_the_function_of_an_action(spec: str, name: str) -> None:
    passes = ["--canonicalize", "--convert-scf-to-cf", "--canonicalize", "--convert-func-to-llvm"]
    with actiondbg.launch(["mlir-opt", WHILE_IF, *passes]) as session:
        assert [one.name for one in functions_at(session, spec)] == [name]


def test_an_iteration_has_no_function() -> None:
    with actiondbg.launch(["mlir-opt", WHILE_IF, "--canonicalize"]) as session:
        assert functions_at(session, "tag:GreedyPatternRewriteIteration") == []


def test_functions_without_symbols_have_a_place(debian: Debian) -> None:
    with actiondbg.launch([debian("mlir-opt"), WHILE_IF, "--canonicalize"]) as session:
        found = functions_at(session, "pattern:WhileMoveIfDown")
        assert found and {one.name for one in found} == {None}
        assert all(re.match(r"libMLIR.*\+0x[0-9a-f]+$", one.place) for one in found)


def test_the_tool_itself_is_not_handed_over() -> None:
    with actiondbg.launch(["mlir-opt", WHILE_IF, "--canonicalize"]) as session:
        session.start()
        assert session.execution is not None
        with pytest.raises(actiondbg.errors.NoAnswer, match="Only a replica"):
            session.execution.request(protocol.PrepareNative(output=os.devnull))


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that its parent has not waited for yet does not."""
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


# --- gdb -------------------------------------------------------------------------------------


@needs_gdb
def test_gdb_stops_in_the_pattern_and_the_session_lives_on(crashing: list[str]) -> None:
    with actiondbg.launch(crashing) as session:
        session.breakpoints.add("pattern:StoreOpLowering")
        stop = session.run()
        run = session.native.attach("gdb", ["backtrace 1", "info inferiors"])
        assert (run.debugger, run.status) == ("gdb", 0)
        assert run.output is not None
        frame = re.search(r"^#0 .*", run.output, re.M)
        assert frame and "StoreOpLowering::matchAndRewrite" in frame[0]
        assert f"process {run.pid}" in run.output
        assert not is_alive(run.pid)
        assert session.stop == stop and session.cursor.get().unit.name == "memref.store"
        # The fork has written nothing to the tool's files.
        assert session.target.errors() == ""
        assert session.continue_().reason == "crash"


@needs_gdb
def test_gdb_shows_the_stack_of_a_crash_and_dumps_ir(crashing: list[str]) -> None:
    with actiondbg.launch(crashing) as session:
        session.run()
        output = session.native.attach("gdb", ["backtrace"]).output or ""
        assert "Program received signal SIGABRT" in output
        assert re.search(r"__assert_fail \(assertion=.*integralElementType", output)
        assert "StoreOpLowering::matchAndRewrite" in output
        assert session.continue_().status == -signal.SIGABRT


@needs_gdb
def test_gdb_stops_without_symbols_and_runs_on(
    debian: Debian, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stock.write("crash.mlir", CRASHING)
    argv = [debian("mlir-opt"), "crash.mlir", "--cse", "--test-pass-crash"]
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("pass:cse")
        session.run()
        run = session.native.attach("gdb", ["p/x $pc", "continue"])
        [function] = run.functions
        assert f"$1 = {function.address:#x}" in (run.output or "")
        assert "received signal SIGABRT" in (run.output or "")
        assert session.continue_().reason == "crash"


@needs_lldb
def test_lldb_stops_in_the_pattern(crashing: list[str]) -> None:
    with actiondbg.launch(crashing) as session:
        session.breakpoints.add("pattern:StoreOpLowering")
        stop = session.run()
        run = session.native.attach("lldb", ["thread backtrace -c 1"])
        assert re.search(r"frame #0: .*StoreOpLowering::matchAndRewrite", run.output or "")
        assert session.stop == stop


# --- errors, and the command -----------------------------------------------------------------


def test_a_stop_is_needed(folds: str) -> None:
    with (
        actiondbg.launch(["mlir-opt", folds, "--cse"]) as session,
        pytest.raises(NotStopped, match="start it with run or start"),
    ):
        session.native.attach()


def test_a_debugger_that_is_not_installed(
    folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with actiondbg.launch(["mlir-opt", folds, "--cse"]) as session:
        session.start()
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(UsageError, match="gdb or lldb was not found: install it"):
            session.native.attach()
        with pytest.raises(UsageError, match="lldb was not found: install it"):
            session.native.attach("lldb")


def test_a_debugger_that_cannot_attach(
    folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stands in for gdb where the system forbids ptrace."""
    gdb = tmp_path / "bin" / "gdb"
    gdb.parent.mkdir()
    gdb.write_text("#!/bin/sh\necho 'ptrace: Operation not permitted.'\n")
    gdb.chmod(0o755)
    with actiondbg.launch(["mlir-opt", folds, "--cse"]) as session:
        stop = session.start()
        monkeypatch.setenv("PATH", f"{gdb.parent}:{os.environ['PATH']}")
        with pytest.raises(UsageError, match=r"ptrace: Operation not permitted\.\): check that"):
            session.native.attach("gdb", ["backtrace"])
        assert session.stop == stop and session.continue_().status == 0


@needs_gdb
def test_native_in_a_batch(crashing: list[str]) -> None:
    words = ["-ex", "break StoreOpLowering", "-ex", "run", "-ex", "native", *crashing]
    done = command_line.run("--batch", "-nx", *words)
    assert done.returncode == 1
    assert "native needs a terminal: in a script, give the debugger's commands" in done.stderr
    words[5] = "native gdb --execute 'info symbol $pc' > symbol.txt"
    done = command_line.run("--batch", "-nx", *words)
    assert done.returncode == 0, done.stderr
    assert "StoreOpLowering::matchAndRewrite(" in Path("symbol.txt").read_text()
