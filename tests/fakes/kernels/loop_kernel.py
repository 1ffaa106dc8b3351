"""Kernels as loops over outputs and terms, and wrong ones: each loop, index and rounding can err.

It shares no code with the references: an output is the combination of its terms, each of which is
computed from elements at positions that the loops give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod, sqrt
from typing import Literal

import numpy as np

from actiondbg.kernels.execution.buffers import poison
from actiondbg.kernels.model import Operation, Tensor
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import (
    BatchMatmul,
    Matmul,
    MatmulBiasRelu,
    MatmulSoftmax,
    MatrixProduct,
)
from actiondbg.kernels.operations.windowed import Conv2d, DepthwiseConv2d, Pooling, Window

Array = np.ndarray
Combiner = Literal["sum", "max", "min"]
_IDENTITY: dict[Combiner, float] = {"sum": 0.0, "max": -np.inf, "min": np.inf}
_COMBINE: dict[Combiner, np.ufunc] = {"sum": np.add, "max": np.maximum, "min": np.minimum}


@dataclass(frozen=True)
class LoopKernel:
    """A kernel as loops.

    Attributes:
        operation: that it should compute.
        positions: of the element that a term reads, for each operand of a term: flat, of the shape
            of the result and then of the loops of the terms.
        kept: of the same shape; false for a term that is left out.
        combiner: of the terms.
        term: computes a term from the elements.
        finish: computes the result from the combined terms and all operands.
        start: of the combination; None for its identity.
        digits: bits of the significand to which the combination so far is rounded, or None.
    """

    operation: Operation
    positions: tuple[Array, ...]
    kept: Array
    combiner: Combiner = "sum"
    term: Callable[[Sequence[Array]], Array] = lambda elements: _product(elements)
    finish: Callable[[Array, Sequence[Array]], Array] = lambda combined, operands: combined
    start: float | None = None
    digits: int | None = None

    def __call__(self, operands: Sequence[Array]) -> Array:
        result = self.operation.result
        wide = np.float64 if result.type.is_float else np.int64
        arrays = [each.astype(wide) for each in operands]
        with np.errstate(all="ignore"):
            combined = self._combine([each.ravel()[at] for each, at in self._read(arrays)])
            return self.finish(combined, arrays).astype(result.type.dtype)

    def _read(self, arrays: Sequence[Array]) -> Iterator[tuple[Array, Array]]:
        return zip(arrays, self.positions, strict=False)

    def _combine(self, elements: Sequence[Array]) -> Array:
        rank = len(self.operation.result.shape)
        terms = np.asarray(self.term(elements))
        terms = terms.reshape(*terms.shape[:rank], -1)
        kept = self.kept.reshape(terms.shape)
        identity = _IDENTITY[self.combiner]
        if terms.dtype.kind == "i" and self.combiner != "sum":
            identity = np.iinfo(terms.dtype).min if self.combiner == "max" else np.iinfo("q").max
        if terms.shape[-1] == 1 and self.start is self.digits is None and kept.all():
            return terms[..., 0]  # a zero of its own sign
        combine = _COMBINE[self.combiner]
        total = np.full(terms.shape[:rank], identity if self.start is None else self.start)
        total = total.astype(terms.dtype)
        if self.digits is None:
            left = np.where(kept, terms, identity).astype(terms.dtype)
            found = combine(total, combine.reduce(left, axis=-1))
            return self._signed(found, np.concatenate([left, total[..., None]], axis=-1))
        for at in range(terms.shape[-1]):
            further = combine(total, terms[..., at])
            total = np.where(kept[..., at], rounded(further, self.digits), total)
        return total

    def _signed(self, found: Array, terms: Array) -> Array:
        """Return maxima and minima with the signs of their zeros: -0.0 is below 0.0."""
        if self.combiner == "sum" or found.dtype.kind != "f":
            return found
        wanted = np.signbit(terms) == (self.combiner == "min")
        is_wanted = (wanted & (terms == 0)).any(axis=-1)
        zeros = np.where(is_wanted == (self.combiner == "max"), 0.0, -0.0)
        return np.where(found == 0, zeros, found)

    def computes_the_same(self, other: LoopKernel) -> bool:
        """Whether two kernels that differ in positions and kept terms only compute the same."""
        return np.array_equal(self._read_terms(), other._read_terms())

    def _read_terms(self) -> Array:
        """Return what each output is computed from, in an order of its own."""
        rank = len(self.operation.result.shape)
        outputs = prod(self.operation.result.shape)
        sizes = [each.elements for each in self.operation.inputs]
        key = np.zeros(self.kept.shape, np.int64)
        for at, size in zip(self.positions, sizes, strict=False):
            key = key * size + at
        terms = np.where(self.kept, key + 1, 0).reshape(outputs, -1)
        terms = np.sort(terms, axis=1)
        if self.combiner != "sum":  # a term twice is as one
            terms = np.where(np.diff(terms, axis=1, prepend=-1) == 0, 0, terms)
            terms = np.sort(terms, axis=1)
        return terms if rank else terms.ravel()


def rounded(array: Array, bits: int) -> Array:
    """Return numbers with so many bits in their significands."""
    significand, exponent = np.frexp(array)
    return np.ldexp(np.rint(np.ldexp(significand, bits)), exponent - bits)


def _product(elements: Sequence[Array]) -> Array:
    return elements[0] * elements[1] if len(elements) > 1 else elements[0]


def loop_kernel(operation: Operation) -> LoopKernel:
    """Return the right kernel of an operation."""
    match operation:
        case Matmul():
            return _of(operation, *_matmul(operation))
        case BatchMatmul():
            return _of(operation, *_batch_matmul(operation))
        case MatmulBiasRelu():
            return _of(operation, *_matmul(operation), finish=_bias_relu)
        case MatmulSoftmax():
            return _of(operation, *_matmul(operation), finish=softmax(operation))
        case Conv2d() | DepthwiseConv2d():
            return _of(operation, *_convolution(operation))
        case Pooling():
            return replace(_of(operation, _pooling(operation)), combiner=operation.combiner)
        case Reduction():
            kernel = _of(operation, _reduction(operation))
            return replace(kernel, combiner=operation.combiner)
        case Elementwise():
            flat = np.arange(operation.result.elements).reshape(*operation.shape, 1)
            kernel = _of(operation, *[flat] * len(operation.inputs))
            return replace(kernel, term=_chain(operation.steps))
        case _:
            raise AssertionError(operation.kind)


def _of(
    operation: Operation,
    *positions: Array,
    finish: Callable[[Array, Sequence[Array]], Array] = lambda combined, operands: combined,
) -> LoopKernel:
    positions = tuple(np.broadcast_arrays(*positions))
    return LoopKernel(operation, positions, np.ones(positions[0].shape, bool), finish=finish)


def _matmul(operation: MatrixProduct) -> tuple[Array, Array]:
    m, n, k = np.ogrid[: operation.m, : operation.n, : operation.k]
    lhs = m * operation.k + k if operation.lhs_layout == "t" else k * operation.m + m
    rhs = k * operation.n + n if operation.rhs_layout == "t" else n * operation.k + k
    return lhs, rhs


def _batch_matmul(operation: BatchMatmul) -> tuple[Array, Array]:
    lhs, rhs = _matmul(operation)
    batch = np.arange(operation.batch).reshape(-1, 1, 1, 1)
    step = {each: int(operation.broadcast != each) for each in ("lhs", "rhs")}
    return (
        lhs[None] + batch * step["lhs"] * operation.m * operation.k,
        rhs[None] + batch * step["rhs"] * operation.n * operation.k,
    )


def _pixels(window: Window, outputs: Array, places: Array, of_rows: bool) -> Array:
    axis = window.rows if of_rows else window.columns
    return outputs * axis.stride + places * axis.dilation


def _convolution(operation: Conv2d | DepthwiseConv2d) -> tuple[Array, Array]:
    rows, columns = operation.window.positions
    kh, kw, channels = operation.kernel_h, operation.kernel_w, operation.channels
    height, width = operation.height, operation.width
    if isinstance(operation, DepthwiseConv2d):
        b, y, x, c, p, q = np.ogrid[: operation.batch, :rows, :columns, :channels, :kh, :kw]
        row = _pixels(operation.window, y, p, True)
        column = _pixels(operation.window, x, q, False)
        image = ((b * height + row) * width + column) * channels + c
        return image, (p * kw + q) * channels + c
    filters = operation.filters
    if operation.layout == "nhwc_hwcf":
        b, y, x, f, p, q, c = np.ogrid[
            : operation.batch, :rows, :columns, :filters, :kh, :kw, :channels
        ]
    else:
        b, f, y, x, c, p, q = np.ogrid[
            : operation.batch, :filters, :rows, :columns, :channels, :kh, :kw
        ]
    row = _pixels(operation.window, y, p, True)
    column = _pixels(operation.window, x, q, False)
    if operation.layout == "nhwc_hwcf":
        image = ((b * height + row) * width + column) * channels + c
        return image, ((p * kw + q) * channels + c) * filters + f
    image = ((b * channels + c) * height + row) * width + column
    return image, ((f * channels + c) * kh + p) * kw + q


def _pooling(operation: Pooling) -> Array:
    rows, columns = operation.window.positions
    b, y, x, c, p, q = np.ogrid[
        : operation.batch,
        :rows,
        :columns,
        : operation.channels,
        : operation.kernel_h,
        : operation.kernel_w,
    ]
    row = _pixels(operation.window, y, p, True)
    column = _pixels(operation.window, x, q, False)
    return ((b * operation.height + row) * operation.width + column) * operation.channels + c


def _reduction(operation: Reduction) -> Array:
    flat = np.arange(prod(operation.shape)).reshape(operation.shape)
    count = len(operation.axes)
    return np.moveaxis(flat, operation.axes, range(-count, 0))


def _bias_relu(combined: Array, operands: Sequence[Array]) -> Array:
    return np.maximum(combined + operands[2], 0)


def softmax(
    operation: MatmulSoftmax,
    maximum_of: Array | slice = slice(None),
    sum_of: Array | slice = slice(None),
) -> Callable[[Array, Sequence[Array]], Array]:
    """Return the softmax of scores, with the columns that maximum and sum are of."""

    def finish(combined: Array, operands: Sequence[Array]) -> Array:
        scores = (combined / sqrt(operation.k)).astype(operation.accumulator.dtype)
        largest = scores[:, maximum_of].max(axis=1, keepdims=True)
        exponentials = np.exp(scores - largest)
        return exponentials / exponentials[:, sum_of].sum(axis=1, keepdims=True)

    return finish


def _chain(steps: Sequence[str]) -> Callable[[Sequence[Array]], Array]:
    binary: dict[str, np.ufunc] = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "max": np.maximum,
        "min": np.minimum,
    }
    unary: dict[str, Callable[[Array], Array]] = {
        "relu": lambda x: np.maximum(x, 0),
        "neg": lambda x: 0 - x,
        "exp": np.exp,
        "tanh": np.tanh,
    }

    def term(elements: Sequence[Array]) -> Array:
        current, *further = elements
        for step in steps:
            if step in binary:
                current = binary[step](current, further.pop(0))
            else:
                current = unary[step](current)
        return current

    return term


def mutants(kernel: LoopKernel) -> Iterator[tuple[str, LoopKernel]]:
    """Yield wrong kernels; one whose loops read the same is left out."""
    for words, mutant in _wrong_loops(kernel):
        if not kernel.computes_the_same(mutant):
            yield words, mutant
    yield from _wrong_values(kernel)


def _wrong_loops(kernel: LoopKernel) -> Iterator[tuple[str, LoopKernel]]:
    rank = len(kernel.operation.result.shape)
    shape = kernel.kept.shape
    corners = {
        "everywhere": (slice(None),) * rank,
        "in the first output": (0,) * rank,
        "in the last output": (-1,) * rank,
        "in the last tile": tuple(slice(-(size % 4 or 4), None) for size in shape[:rank]),
    }
    for where, outputs in corners.items():
        for axis in range(rank, len(shape)):
            size = shape[axis]
            places = {"first": 0, "last": -1, "middle": size // 2}
            places |= {f"a tile of {each}": slice(size // each * each, None) for each in (4, 16)}
            places |= {"second": 1 % size, "last but one": -1 - (size > 1)}
            for what, place in places.items():
                at = _at(shape, outputs, axis, place)
                yield f"{what} of loop {axis} dropped {where}", _without(kernel, at)
        for number, by, axis in _moves(kernel, rank):
            rolled = np.roll(kernel.positions[number], by, axis)
            yield (
                f"operand {number} read {by:+} along loop {axis} {where}",
                _reading(kernel, number, rolled, outputs),
            )
        for number, positions in enumerate(kernel.positions):
            size = kernel.operation.inputs[number].elements
            for by in (1, -1):
                moved = np.clip(positions + by, 0, size - 1)
                yield (
                    f"operand {number} read {by:+} elements on {where}",
                    _reading(kernel, number, moved, outputs),
                )
            if size > 1:
                edge = positions.max(axis=tuple(range(rank, len(shape))), keepdims=True)
                again = np.where(positions == edge, np.maximum(edge - 1, 0), positions)
                yield (
                    f"operand {number}: the last but one read for the last {where}",
                    _reading(kernel, number, again, outputs),
                )


def _moves(kernel: LoopKernel, rank: int) -> Iterator[tuple[int, int, int]]:
    """Yield operand, distance and loop of reads of a neighbour's elements."""
    for number in range(len(kernel.positions)):
        for axis in range(len(kernel.kept.shape)):
            for by in (1, -1):
                yield number, by, axis


def _at(
    shape: tuple[int, ...], outputs: tuple[int | slice, ...], axis: int, place: int | slice
) -> tuple[int | slice, ...]:
    rest = [slice(None)] * (len(shape) - len(outputs))
    return (*outputs, *rest[: axis - len(outputs)], place)


def _without(kernel: LoopKernel, at: tuple[int | slice, ...]) -> LoopKernel:
    kept = kernel.kept.copy()
    kept[at] = False
    return replace(kernel, kept=kept)


def _reading(
    kernel: LoopKernel, number: int, positions: Array, outputs: tuple[int | slice, ...]
) -> LoopKernel:
    mixed = kernel.positions[number].copy()
    mixed[outputs] = positions[outputs]
    every = list(kernel.positions)
    every[number] = mixed
    return replace(kernel, positions=tuple(every))


_LOWER = {"f64": 24, "f32": 11, "f16": 8, "bf16": 4}  # bits of the next lower precision


def _wrong_values(kernel: LoopKernel) -> Iterator[tuple[str, LoopKernel]]:
    operation = kernel.operation
    result = operation.result.type
    combiners: tuple[Combiner, ...] = ("sum", "max", "min")
    if kernel.kept.size > operation.result.elements:
        for other in combiners:
            if other != kernel.combiner:
                yield f"combined by {other}", replace(kernel, combiner=other)
    if len(kernel.positions) == 2 and not isinstance(operation, Elementwise):
        yield "factors added", replace(kernel, term=_added)
        yield "second factor alone", replace(kernel, term=_second)
    unwritten = float(poison(result.dtype)[0])
    if kernel.kept.size > operation.result.elements:
        yield "begins with what nobody wrote", replace(kernel, start=unwritten)
        if kernel.combiner != "sum":
            yield "begins with 0", replace(kernel, start=0)
        elif not isinstance(operation, MatmulSoftmax):  # the same is added to all scores of a row
            yield "begins with 1", replace(kernel, start=1)
    yield from _wrong_types(kernel)
    if result.is_float and kernel.combiner == "sum":
        bits = _LOWER[operation.accumulator.value]
        if kernel.kept.size > operation.result.elements:
            yield f"added up in {bits} bits", replace(kernel, digits=bits)
        bits = _LOWER[result.value]
        yield f"result of {bits} bits", _finished(kernel, lambda array: rounded(array, bits))


def _wrong_types(kernel: LoopKernel) -> Iterator[tuple[str, LoopKernel]]:
    for number, tensor in enumerate(kernel.operation.inputs[: len(kernel.positions)]):
        if tensor.type.is_float:
            bits = _LOWER[tensor.type.value]
            yield (
                f"{tensor.name} of {bits} bits",
                _changed(kernel, number, lambda array, bits=bits: rounded(array, bits)),
            )
        if tensor.type.is_float and _shows_denormals(kernel.operation):
            yield (
                f"{tensor.name} flushed to zero",
                _changed(kernel, number, lambda array, tensor=tensor: _flushed(array, tensor)),
            )
        yield (
            f"{tensor.name} absolute",
            _changed(kernel, number, np.abs),
        )
    largest = _largest_result(kernel.operation)
    for limit in (each for each in (3, 6, 127, 1000) if each < largest):
        yield (
            f"result at most {limit}",
            _finished(kernel, lambda array, limit=limit: np.minimum(array, limit)),
        )


def _shows_denormals(operation: Operation) -> bool:
    """Whether a denormal operand is in the result, and not rounded or converted to bf16."""
    if isinstance(operation, MatmulSoftmax):
        return False
    if isinstance(operation, Elementwise) and {"exp", "tanh"} & set(operation.steps):
        return False
    return "bf16" not in {each.type.value for each in (*operation.inputs, operation.result)}


def _flushed(array: Array, tensor: Tensor) -> Array:
    smallest = np.finfo(tensor.type.dtype).smallest_normal
    return np.where(np.abs(array) < smallest, 0.0, array)


def _largest_result(operation: Operation) -> float:
    """Return what no result exceeds."""
    match operation:
        case MatmulSoftmax():
            return 1
        case Elementwise() if "tanh" in operation.steps:
            return 1
        case Elementwise() if operation.steps[-2:] == ("relu", "neg"):
            return 0
        case Elementwise() | Pooling() | Reduction() if not operation.result.type.is_float:
            narrow = operation.inputs[0].type if operation.extreme else operation.result.type
            return 2**narrow.precision - 1
        case _:
            return 800 if operation.extreme else np.inf


def _added(elements: Sequence[Array]) -> Array:
    return elements[0] + elements[1]


def _second(elements: Sequence[Array]) -> Array:
    return elements[1]


def _changed(kernel: LoopKernel, number: int, change: Callable[[Array], Array]) -> LoopKernel:
    def term(elements: Sequence[Array]) -> Array:
        return kernel.term(
            [change(each) if at == number else each for at, each in enumerate(elements)]
        )

    return replace(kernel, term=term)


def _finished(kernel: LoopKernel, change: Callable[[Array], Array]) -> LoopKernel:
    def finish(combined: Array, operands: Sequence[Array]) -> Array:
        return change(kernel.finish(combined, operands))

    return replace(kernel, finish=finish)
