"""Compile a Triton kernel for an A100, without a GPU, and count what its PTX has."""

import os

os.environ["TRITON_ALWAYS_COMPILE"] = "1"  # not from Triton's cache
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, depth, a_stride, b_stride, c_stride, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, depth, BLOCK):
        a = tl.load(a_ptr + rows[:, None] * a_stride + (k + inner)[None, :])
        b = tl.load(b_ptr + (k + inner)[:, None] * b_stride + columns[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(c_ptr + rows[:, None] * c_stride + columns[None, :], sums)


pointers = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32"}
numbers = dict.fromkeys(["depth", "a_stride", "b_stride", "c_stride"], "i32")
aligned = {(argument,): [["tt.divisibility", 16]] for argument in range(7)}
source = ASTSource(
    matmul, {**pointers, **numbers, "BLOCK": "constexpr"}, {"BLOCK": 32}, attrs=aligned
)
compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32))
ptx = compiled.asm["ptx"]
print(f"{ptx.count('mma.sync')} mma.sync, {ptx.count('fma.rn')} fma.rn")
