# RUN: python %s add
# RUN: python %s softmax
# RUN: python %s matmul
"""Three kernels of Triton, compiled for an A100 without a GPU: nothing is executed.

``python kernels.py NAME...`` writes NAME.ttir, NAME.ttgir, NAME.llir and NAME.ptx into the working
directory.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Compile each time, though Triton has a cache, and be silent about a default that will change.
os.environ.setdefault("TRITON_ALWAYS_COMPILE", "1")
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# An A100, whose compute capability is 8.0.
TARGET = GPUTarget("cuda", 80, 32)


@triton.jit
def add(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Add two vectors."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)


@triton.jit
def softmax(out_ptr, in_ptr, row_stride, columns, BLOCK: tl.constexpr):
    """Compute the softmax of a row."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(in_ptr + row * row_stride + offsets, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out_ptr + row * row_stride + offsets, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, depth, a_stride, b_stride, c_stride, BLOCK: tl.constexpr):
    """Compute a block of a product of two matrices."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    a_ptrs = a_ptr + rows[:, None] * a_stride + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * b_stride + columns[None, :]
    sums = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for _ in range(0, depth, BLOCK):
        a = tl.load(a_ptrs)
        b = tl.load(b_ptrs)
        sums = tl.dot(a, b, sums)
        a_ptrs += BLOCK
        b_ptrs += BLOCK * b_stride
    tl.store(c_ptr + rows[:, None] * c_stride + columns[None, :], sums.to(tl.float16))


SIGNATURES = {
    "add": (add, {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "count": "i32"}, 1024),
    "softmax": (
        softmax,
        {"out_ptr": "*fp32", "in_ptr": "*fp32", "row_stride": "i32", "columns": "i32"},
        1024,
    ),
    "matmul": (
        matmul,
        {
            "a_ptr": "*fp16",
            "b_ptr": "*fp16",
            "c_ptr": "*fp16",
            "depth": "i32",
            "a_stride": "i32",
            "b_stride": "i32",
            "c_stride": "i32",
        },
        64,
    ),
}


def compile_kernel(name):
    """Compile a kernel, as a call of it with usual tensors would."""
    kernel, signature, block = SIGNATURES[name]
    signature = {**signature, "BLOCK": "constexpr"}
    aligned = {
        (index,): [["tt.divisibility", 16]]
        for index, kind in enumerate(signature.values())
        if kind != "constexpr"
    }
    source = ASTSource(kernel, signature, constexprs={"BLOCK": block}, attrs=aligned)
    return triton.compile(source, target=TARGET)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        compiled = compile_kernel(name)
        for stage in ("ttir", "ttgir", "llir", "ptx"):
            Path(f"{name}.{stage}").write_text(compiled.asm[stage])
        print(
            f"{name}: {compiled.metadata.num_warps} warps, {compiled.metadata.shared} bytes shared"
        )
