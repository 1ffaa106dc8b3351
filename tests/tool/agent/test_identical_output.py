"""With the agent attached, the tool writes byte for byte what it writes alone."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

import actiondbg
from scripts.benchmarks.inputs import PIPELINE, many_functions

INVALID = "func.func @bad() -> i32 {\n  return\n}\n"
CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  memref.store %v, %m[%i] : memref<4xi1>
  return
}
"""


def both(argv: list[str], breakpoints: list[str]) -> tuple[object, object]:
    """Return (stdout, stderr, status) of the tool alone, and with the agent."""
    alone = subprocess.run(argv, capture_output=True, text=True)
    with actiondbg.launch(argv) as session:
        for spec in breakpoints:
            session.breakpoints.add(spec)
        stop = session.run()
        while stop.when != "exit":
            stop = session.continue_()
        ours = session.target.output(), session.target.errors(), stop.status
    return (alone.stdout, alone.stderr, alone.returncode), ours


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--canonicalize", "--cse"],
        [f"--pass-pipeline={PIPELINE}"],
        ["--sccp", "--symbol-dce", "--loop-invariant-code-motion"],
        ["--inline", "--mlir-print-ir-after-all"],
        ["--canonicalize", "--mlir-pass-statistics"],
        ["--convert-scf-to-cf", "--mlir-print-op-generic", "--mlir-print-debuginfo"],
        ["--pass-pipeline=builtin.module(func.func(canonicalize,cse))"],
        ["--no-such-option"],
    ],
    ids=lambda flags: " ".join(flags)[:40] or "none",
)
def test_output_is_byte_identical(
    mlir_opt: str, tmp_path: Path, flags: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    many_functions(Path("in.mlir"), 5)
    alone, ours = both([mlir_opt, "in.mlir", *flags], ["pattern:*Constant*", "pass:cse"])
    assert ours == alone


def test_diagnostics_of_invalid_input_are_the_tools_own(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.mlir").write_text(INVALID)
    for source in ("bad.mlir", "missing.mlir"):
        alone, ours = both([mlir_opt, source, "--canonicalize"], [])
        assert ours == alone


def test_crash_is_reported_with_its_action(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails an assertion of the build that has them, in the middle of a conversion."""
    monkeypatch.chdir(tmp_path)
    Path("crash.mlir").write_text(CRASHING)
    argv = ["mlir-opt", "crash.mlir", "--finalize-memref-to-llvm"]
    with actiondbg.launch(argv) as session:
        session.options.stop_on_crash = False
        stop = session.run()
        if stop.status == 0:
            pytest.skip("this mlir-opt lowers a memref of i1")
        assert (stop.when, stop.reason, stop.status) == ("exit", "crashed", -signal.SIGABRT)
        assert stop.message is not None
        assert "SIGABRT" in stop.message and "StoreOpLowering" in stop.message
