"""Kernels from the command line: generated, verified, reported and bisected; and its errors."""

from __future__ import annotations

from scenarios.scenario import line, scenario

_SIZES = "--operation-kind matmul --problem-m 8,12 --problem-n 8 --problem-k 4"
_CONVOLUTION = (
    "--operation-kind conv_2d --problem batch=1 --problem height=17 --problem width=17"
    " --problem channels=4 --problem filters=8 --problem kernel_h=3 --problem kernel_w=3"
    " --problem stride_h=2 --problem stride_w=2"
)
_LOOPS = "--pipeline convert-linalg-to-loops"
_VECTORS = (
    "--pipeline 'convert-linalg-to-affine-loops,affine-loop-invariant-code-motion,"
    "affine-super-vectorize{virtual-vector-size=4,4}'"
)

KERNELS = (
    scenario(
        "kernels",
        line("actiondbg kernels"),
        line(f"actiondbg kernels generate {_SIZES} {_LOOPS}"),
        line("cat generated/linalg/matmul/matmul_8x8x4_f32t_f32t_f32t/*.mlir"),
        line("actiondbg kernels compile --num-cpu 1"),
        line("actiondbg kernels verify"),
        line("actiondbg kernels verify --dispatches 'matmul_8x*' --quiet"),
        line("actiondbg kernels profile --profiling-enabled=false --output matmul.csv --quiet"),
        line("cut -d, -f1-12 matmul.csv"),
        line("actiondbg kernels report matmul.csv matmul.csv"),
        line(f"actiondbg kernels run {_CONVOLUTION} {_VECTORS} --profiling-enabled=false"),
        line("actiondbg kernels bisect --operation-kind conv_2d"),
    ),
    scenario(
        "kernels-errors",
        line("actiondbg kernels verify"),
        line("actiondbg kernels generate --operation-kind outer"),
        line("actiondbg kernels generate --operation-kind matmul --problem-m 8"),
        line("actiondbg kernels generate --problem-m 8:4:1 --problem-n 8 --problem-k 8"),
        line(f"actiondbg kernels generate {_SIZES} --types f8"),
        line(f"actiondbg kernels generate {_SIZES} --provider gcc"),
        line(f"actiondbg kernels generate {_SIZES} --pipeline 'canonicalize,cse)'"),
        line("actiondbg kernels generate --problem-set resnet51"),
        line(f"actiondbg kernels run {_SIZES} --output rows.txt"),
        line(f"actiondbg kernels search {_SIZES} --budget 0"),
        line("actiondbg kernels tune nothing.mlir"),
        line("actiondbg kernels judge nothing.json output.mlir"),
        line("actiondbg kernels count true"),
        line("actiondbg kernels count --events no-such-event true"),
    ),
)
