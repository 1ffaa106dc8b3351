"""What is quoted of the stderr of a program that failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.bisection.command_runner import failure_text, fatal_error
from actiondbg.bisection.crash import crash_sentence
from actiondbg.process.stop import Stop

ASSERTION = (
    "mlir-opt: /llvm/mlir/lib/MemRefToLLVM.cpp:1105: virtual llvm::LogicalResult {anonymous}::"
    "Store::match(memref::StoreOp, Pattern<StoreOp, false>::Adaptor) const: "
    'Assertion `a == b && "sizes: differ"\' failed.\n'
)
TRACE = """\
PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the crash.
Stack dump:
0.\tProgram arguments: mlir-opt error: x
 #0 0x00007f2c llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/lib/libMLIR.so+0x1)
 #1 0x00007f2d (/lib/x86_64-linux-gnu/libc.so.6+0x3c050)
mlir-opt(+0x13b)[0x55]
Aborted (core dumped)
"""
QUOTED = 'MemRefToLLVM.cpp:1105: Assertion `a == b && "sizes: differ"\' failed'


@pytest.mark.parametrize(
    ("text", "fatal", "quoted"),
    [
        ("", "", ""),
        (f"a.mlir:1:2: error: wrong\n{ASSERTION}{TRACE}", QUOTED, QUOTED),
        (f"LLVM ERROR: out of x\n{TRACE}", "LLVM ERROR: out of x", "LLVM ERROR: out of x"),
        (f"a.mlir:1:2: error: wrong\nnote\n{TRACE}", "", "a.mlir:1:2: error: wrong"),
        (f"first\nsecond\n\nthird\n{TRACE}", "", "first / second / third"),
        ("1\n2\n3\n4\n", "", "2 / 3 / 4"),
    ],
)
def test_the_reason_is_quoted(tmp_path: Path, text: str, fatal: str, quoted: str) -> None:
    file = tmp_path / "err"
    file.write_text(text)
    assert (fatal_error(file), failure_text(file)) == (fatal, quoted)


FRAMES = f"""{TRACE} #2 0x00007f2e mlir::Value::getType() const (/lib/libMLIR.so+0x2)
 #3 0x00007f2f main MlirOptMain.cpp:0:0
"""


@pytest.mark.parametrize(
    ("how", "text", "said"),
    [
        ("died of SIGSEGV in #3 fold x", FRAMES, ", in mlir::Value::getType"),
        ("died of SIGSEGV", TRACE, ""),
        ("died of SIGABRT", FRAMES, ""),
        (
            'died of SIGABRT: Assertion `a == b && "sizes: differ"\' failed',
            ASSERTION + FRAMES,
            " in {anonymous}::Store::match at /llvm/mlir/lib/MemRefToLLVM.cpp:1105",
        ),
        ("died of SIGABRT", "LLVM ERROR: out of x\n" + FRAMES, ": LLVM ERROR: out of x"),
    ],
)
def test_a_crash_is_told_once_and_in_its_function(
    tmp_path: Path, how: str, text: str, said: str
) -> None:
    file = tmp_path / "err"
    file.write_text(text)
    stop = Stop(when="exit", reason="crashed", status=-11, message=f"The tool {how}.")
    assert crash_sentence(stop, file) == f"The tool {how}{said}."


def test_a_missing_file_says_nothing(tmp_path: Path) -> None:
    assert failure_text(tmp_path / "none") == ""
