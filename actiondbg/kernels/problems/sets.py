"""Predefined sets of operations."""

from __future__ import annotations

from collections.abc import Iterator

from actiondbg.errors import UsageError
from actiondbg.kernels.model import ElementType, Operation
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import BatchMatmul, Matmul, MatmulBiasRelu, MatmulSoftmax
from actiondbg.kernels.operations.windowed import Conv2d, DepthwiseConv2d, Pooling

_F16, _F32 = ElementType.F16, ElementType.F32
_I8, _I32 = ElementType.I8, ElementType.I32
# The slices that the dispatch profiler splits the sums of its set splitk_matmul into.
SPLIT_K_SLICES = (2, 4, 16, 18)


def load_set(name: str) -> list[Operation]:
    """Return the operations of a set, each once.

    Raises:
        UsageError: there is no such set.
    """
    if name not in SETS:
        raise UsageError(f"Unknown problem set '{name}'; there are {', '.join(SETS)}.")
    return list(dict.fromkeys(SETS[name]))


# Operations of each kind that take milliseconds.
_SMALL = (
    Matmul(64, 64, 64),
    Matmul(128, 128, 256),
    Matmul(65, 127, 33),
    Matmul(128, 128, 256, _I8, _I8, _I32),
    Matmul(128, 128, 256, rhs_layout="n"),
    BatchMatmul(4, 64, 64, 64),
    Conv2d(1, 18, 18, 16, 32, 3, 3),
    Conv2d(1, 17, 17, 16, 32, 3, 3, 2, 2),
    Conv2d(1, 18, 18, 16, 32, 3, 3, layout="nchw_fchw"),
    DepthwiseConv2d(1, 18, 18, 32, 3, 3),
    Pooling(1, 16, 16, 32, 2, 2, 2, 2),
    MatmulBiasRelu(64, 128, 64),
    MatmulSoftmax(64, 64, 64),
    Reduction((128, 256), (1,)),
    Elementwise((128, 256), ("add", "mul", "max", "exp")),
)
# The sets of the dispatch profiler.
_MATMUL = (
    Matmul(*shape, *types)
    for types in ((_F16, _F16, _F16), (_F32, _F32, _F32), (_F16, _F16, _F32))
    for shape in ((256, 512, 128), (2560, 2560, 2560), (3456, 1024, 2048))
)
_BATCH_MATMUL = (BatchMatmul(16, 512, 64, 512, each, each, each) for each in (_F16, _F32))
_SPLIT_K = (Matmul(128, 128, 12288, each, each, each) for each in (_F16, _F32))


def _resnet50() -> Iterator[Operation]:
    """Yield the layers for one image of 224 x 224, padded, with strides in the 3 x 3 filters."""
    yield Conv2d(1, 230, 230, 3, 64, 7, 7, 2, 2)
    yield Pooling(1, 114, 114, 64, 3, 3, 2, 2)
    size, channels = 56, 64
    for stage in range(4):
        narrow = 64 * 2**stage
        stride = 1 if stage == 0 else 2
        yield from _bottleneck(size, channels, narrow, stride)
        size, channels = size // stride, 4 * narrow
        yield from _bottleneck(size, channels, narrow, 1)
        yield Elementwise((1, size, size, channels), ("add", "relu"))
    yield Pooling(1, size, size, channels, size, size, combiner="sum")
    yield Matmul(1, 1000, channels)


def _bottleneck(size: int, channels: int, narrow: int, stride: int) -> Iterator[Operation]:
    """Yield the convolutions of a block; one changes the shape if the block does."""
    yield Conv2d(1, size, size, channels, narrow, 1, 1)
    yield Conv2d(1, size + 2, size + 2, narrow, narrow, 3, 3, stride, stride)
    yield Conv2d(1, size // stride, size // stride, narrow, 4 * narrow, 1, 1)
    if channels != 4 * narrow:
        yield Conv2d(1, size, size, channels, 4 * narrow, 1, 1, stride, stride)


def _transformer(tokens: int, hidden: int, heads: int) -> Iterator[Operation]:
    """Yield a layer: projections, attention, the network of two layers, norm and residual."""
    head = hidden // heads
    yield Matmul(tokens, 3 * hidden, hidden)
    yield Matmul(tokens, hidden, hidden)
    yield BatchMatmul(heads, tokens, tokens, head, rhs_layout="n")
    yield MatmulSoftmax(tokens, tokens, head, rhs_layout="n")
    yield BatchMatmul(heads, tokens, head, tokens)
    yield Matmul(tokens, 4 * hidden, hidden)
    yield Matmul(tokens, hidden, 4 * hidden)
    yield Reduction((tokens, hidden), (1,))
    yield Elementwise((tokens, hidden), ("add",))


SETS: dict[str, tuple[Operation, ...]] = {
    "small": _SMALL,
    "matmul": tuple(_MATMUL),
    "batch_matmul": tuple(_BATCH_MATMUL),
    "splitk_matmul": tuple(_SPLIT_K),
    "resnet50": tuple(_resnet50()),
    "bert_base_128": tuple(_transformer(128, hidden=768, heads=12)),
    "bert_base_384": tuple(_transformer(384, hidden=768, heads=12)),
    # Of a model of characters: 256 tokens, 384 wide, 6 heads, 65 characters.
    "gpt_small": (*_transformer(256, hidden=384, heads=6), Matmul(256, 65, 384)),
}
