"""Compile a kernel for a GPU that need not be there."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(o + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


signature = {"x": "*fp32", "y": "*fp32", "o": "*fp32", "n": "i32"}
try:
    source = ASTSource(add, {**signature, "BLOCK": "constexpr"}, {"BLOCK": 128})
    kernel = triton.compile(source, target=GPUTarget("cuda", 80, 32))
except Exception:  # the names of arguments until Triton 3.1
    source = ASTSource(add, signature=signature, constants={"BLOCK": 128})
    kernel = triton.compile(source, target=GPUTarget("cuda", 80, 32))
print(kernel.asm["ttgir"])
