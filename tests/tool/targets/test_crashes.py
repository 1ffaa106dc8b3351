"""Crashes in a program that recovers from them, as Triton's pass manager does."""

from __future__ import annotations

from pathlib import Path

import pytest

import actiondbg
from tests.tool.targets.targets import TARGETS, TOOLS

TRITON = TARGETS["triton"]
pytestmark = [*TRITON.marks]

# A GPU without instructions for the product, whose lowering is given a layout that it cannot have.
PROGRAM = """
import sys
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def first(a, SIZE: tl.constexpr):
    tl.store(a + tl.arange(0, SIZE), 0.0)

@triton.jit
def product(a, b, c, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    rows, inner = tl.arange(0, SIZE), tl.arange(0, DEPTH)
    x = tl.load(a + rows[:, None] * DEPTH + inner[None, :])
    y = tl.load(b + inner[:, None] * SIZE + rows[None, :])
    tl.store(c + rows[:, None] * SIZE + rows[None, :], tl.dot(x, y))

def compile(kernel, types, sizes):
    names = {**types, **dict.fromkeys(sizes, "constexpr")}
    return triton.compile(ASTSource(kernel, names, sizes), target=GPUTarget("cuda", 75, 32))

compile(first, {"a": "*fp32"}, {"SIZE": 32})
try:
    compile(product, {"a": "*fp16", "b": "*fp16", "c": "*fp32"}, {"SIZE": 16, "DEPTH": 32})
except RuntimeError as error:
    sys.exit(f"caught: {error}")
"""


def test_a_crash_that_the_program_survives_is_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    argv = [str(TOOLS / "triton/bin/python"), str(program)]
    with actiondbg.launch(argv, cwd=tmp_path, env=TRITON.env()) as s:
        s.skips.rules.add("pass:tritongpu-accelerate-matmul")
        stop = s.run()
        if stop.when == "exit" and stop.status == 0:
            pytest.skip("this Triton lowers the product")
        assert stop.is_crash
        assert (stop.when, stop.name, stop.function) == ("during", "DotOpConversion", "product")
        assert "SIGABRT" in (stop.message or "")
        made = s.past.reproducer(tmp_path / "crash.mlir")
        assert made.command == []
        assert "tt.dot" in Path(made.path).read_text()
        assert s.continue_().status == 1
        assert "caught: PassManager::run failed" in s.target.errors()
