"""Small operations of each kind, with the layouts, types and windows that they have."""

from __future__ import annotations

from actiondbg.kernels.model import ElementType, Operation
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import BatchMatmul, Matmul, MatmulBiasRelu, MatmulSoftmax
from actiondbg.kernels.operations.windowed import Conv2d, DepthwiseConv2d, Pooling

F16, BF16, F32, F64 = ElementType.F16, ElementType.BF16, ElementType.F32, ElementType.F64
I8, I32 = ElementType.I8, ElementType.I32

OPERATIONS: list[Operation] = [
    Matmul(5, 6, 7),
    Matmul(5, 6, 7, I8, I8, I32, "n", "n"),
    BatchMatmul(3, 5, 6, 7),
    BatchMatmul(3, 5, 6, 7, F16, F16, F32, "n", "t"),
    BatchMatmul(3, 5, 6, 7, I8, I8, I32, broadcast="rhs"),
    BatchMatmul(3, 5, 6, 7, broadcast="lhs", rhs_layout="n"),
    Conv2d(2, 7, 8, 3, 4, 3, 3),
    Conv2d(2, 9, 8, 3, 4, 3, 2, 2, 1, 1, 2, "nhwc_hwcf", I8, I8, I32),
    Conv2d(2, 9, 8, 3, 4, 3, 2, 2, 1, 1, 2, "nchw_fchw", F16, F16, F32),
    Conv2d(1, 4, 4, 8, 5, 1, 1, layout="nchw_fchw"),
    DepthwiseConv2d(2, 9, 8, 5, 3, 3, 2, 2, 1, 2),
    DepthwiseConv2d(1, 5, 5, 4, 3, 3, 1, 1, 1, 1, I8, I8, I32),
    Pooling(2, 9, 8, 5, 3, 2, 2, 1, 1, 2, "max"),
    Pooling(2, 9, 8, 5, 3, 2, combiner="min", input_type=I8, result_type=I32),
    Pooling(2, 9, 8, 5, 3, 2, combiner="sum", input_type=F16, result_type=F32),
    MatmulBiasRelu(5, 6, 7),
    MatmulBiasRelu(5, 6, 7, I8, I8, I32, "t", "n"),
    MatmulSoftmax(5, 6, 7),
    MatmulSoftmax(5, 6, 7, F16, F16, F16, "t", "n"),
    MatmulSoftmax(5, 6, 7, F64, F64, F64),
    Reduction((4, 5, 6), (1,)),
    Reduction((4, 5, 6), (0, 2), "max", F16, F32),
    Reduction((4, 5), (0, 1), "sum", I8, I32),
    Reduction((4, 5), (1,), "min", I32, I32),
    Elementwise((5, 6), ("add", "mul", "max", "exp")),
    Elementwise((30,), ("sub", "relu", "neg", "min", "tanh"), F16, F32),
    Elementwise((2, 3, 4), ("add", "mul", "relu", "neg"), I8, I32),
    Elementwise((3, 4), ("add", "mul"), BF16, BF16),
    Elementwise((3, 4), ("exp",), F64, F64),
]
