"""Kinds whose root is linalg.generic: chains of elementwise operations, and reductions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from actiondbg.errors import UsageError
from actiondbg.kernels.model import Argument, ElementType, Loop, Operation, Reference, Tensor
from actiondbg.kernels.operations.arithmetic import (
    arithmetic,
    check_sizes,
    check_types,
    extension,
    identity,
    maximum,
    minimum,
    widen,
    wrapped,
)
from actiondbg.kernels.packages import np

_BINARY = ("add", "sub", "mul", "max", "min")
_ARITHMETIC = ("add", "sub", "mul")  # each rounds once
_ROUNDING = ("exp", "tanh")  # their results are not exact, whatever the operand is
_SELECTING = ("max", "min", "relu", "tanh")  # an operand may leave no trace in the result
_UNARY = ("relu", "neg", *_ROUNDING)
ReductionCombiner = Literal["sum", "max", "min"]


@dataclass(frozen=True)
class Elementwise(Operation):
    """A chain of operations on each element, such as ``exp(max((x0 + x1) * x2, x3))``.

    Attributes:
        shape: of operands and result.
        steps: names of operations, applied in this order: add, sub, mul, max and min take a further
            operand, relu, neg, exp and tanh do not.
        result_type: of the result; the operands are extended to it first.
    """

    kind: ClassVar[str] = "elementwise"
    shape: tuple[int, ...]
    steps: tuple[str, ...]
    operand_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32

    @classmethod
    def examples(cls) -> tuple[Operation, ...]:
        return (cls((128, 256), ("add", "mul", "max", "exp")),)

    @property
    def name(self) -> str:
        shape = "x".join(map(str, self.shape))
        types = f"{self.operand_type.value}_{self.result_type.value}"
        return f"{self.kind}_{'_'.join(self.steps)}_{shape}_{types}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        count = 1 + sum(step in _BINARY for step in self.steps)
        return tuple(Tensor(f"x{at}", self.shape, self.operand_type) for at in range(count))

    @property
    def result(self) -> Tensor:
        return Tensor("result", self.shape, self.result_type)

    @property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(Loop(size, "parallel") for size in self.shape)

    @property
    def root(self) -> str:
        return "linalg.generic"

    @property
    def flops(self) -> int:
        return len(self.steps) * self.result.elements

    @property
    def selects(self) -> bool:
        return bool(set(self.steps) & set(_SELECTING))

    def arguments(self) -> Mapping[str, Argument]:
        return {
            "shape": "x".join(map(str, self.shape)),
            "steps": ",".join(self.steps),
            "lhs": self.operand_type.value,
            "result": self.result_type.value,
        }

    def check(self) -> None:
        if not self.shape:
            raise UsageError(f"The shape of an {self.kind} must have at least one dimension.")
        check_sizes(self.kind, {f"dimension {axis}": each for axis, each in enumerate(self.shape)})
        if not self.steps:
            raise UsageError(f"An {self.kind} needs at least one step.")
        for step in self.steps:
            if step not in (*_BINARY, *_UNARY):
                raise UsageError(
                    f"Unknown step '{step}' of an {self.kind}; there are "
                    f"{', '.join((*_BINARY, *_UNARY))}."
                )
            if step in _ROUNDING and not self.result_type.is_float:
                raise UsageError(
                    f"The step {step} of an {self.kind} needs a result of a float type, got "
                    f"{self.result_type.value}."
                )
        check_types(self.kind, (self.operand_type,), self.result_type)

    def body(self, destination: str, root_attributes: str) -> str:
        inputs = self.inputs
        dimensions = ", ".join(f"d{axis}" for axis in range(len(self.shape)))
        maps = ", ".join([f"affine_map<({dimensions}) -> ({dimensions})>"] * (len(inputs) + 1))
        iterators = ", ".join(f'"{loop.type}"' for loop in self.loops)
        own = f" attrs = {{{root_attributes}}}" if root_attributes else ""
        names = ", ".join(f"%{each.name}" for each in inputs)
        types = ", ".join(each.mlir for each in inputs)
        elements = ", ".join(f"%e{at}: {self.operand_type.value}" for at in range(len(inputs)))
        return f"""
            %zero = arith.constant {self.result_type.zero}
            %chain = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} ins({names} : {types}) outs({destination} : {self.result.mlir}){own} {{
            ^bb0({elements}, %old: {self.result_type.value}):
              {self._lines()}
            }} -> {self.result.mlir}
            return %chain : {self.result.mlir}"""  # noqa: E501

    def _lines(self) -> str:
        element = self.result_type.value
        lines: list[str] = []
        operands = [f"%e{at}" for at in range(len(self.inputs))]
        if extend := extension(self.operand_type, self.result_type):
            lines += [
                f"%w{at} = {extend} %e{at} : {self.operand_type.value} to {element}"
                for at in range(len(operands))
            ]
            operands = [f"%w{at}" for at in range(len(operands))]
        current = operands.pop(0)
        for at, step in enumerate(self.steps):
            further = operands.pop(0) if step in _BINARY else ""
            lines.append(f"%s{at} = {self._step(step, current, further)} : {element}")
            current = f"%s{at}"
        return "\n".join([*lines, f"linalg.yield {current} : {element}"])

    def _step(self, step: str, current: str, further: str) -> str:
        element = self.result_type
        if further:
            return f"{arithmetic(step, element)} {current}, {further}"
        if step == "relu":
            return f"{arithmetic('max', element)} {current}, %zero"
        if step == "neg":
            # A subtraction from zero, as integers have no negation.
            return f"{arithmetic('sub', element)} %zero, {current}"
        return f"math.{step} {current}"

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        """Apply the steps, and bound the value and the error of each.

        The bound of absolute values covers each intermediate result: all have to be exact for the
        last to be. An exponential multiplies errors by its value.
        """
        current, *further = (widen(each) for each in inputs)
        magnitude = np.abs(current)
        earlier = rounded = np.zeros(current.shape)  # errors without the last rounding, and with it
        for step in self.steps:
            operand = further.pop(0) if step in _BINARY else np.zeros_like(current)
            current, bound = _apply(step, current, magnitude, operand)
            current = wrapped(current, self.result_type)
            magnitude = bound if step in _ROUNDING else np.maximum(magnitude, bound)
            if step in _ARITHMETIC:
                earlier = rounded * np.abs(operand) if step == "mul" else rounded
                rounded = earlier + np.abs(current)
        exact = not set(self.steps) & set(_ROUNDING)
        errors = earlier if exact else None
        return Reference(current, magnitude, exact, signed_zeros=exact, errors=errors)


def _apply(
    step: str, current: np.ndarray, magnitude: np.ndarray, operand: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    absolute = np.abs(operand)
    if step == "add":
        return current + operand, magnitude + absolute
    if step == "sub":
        return current - operand, magnitude + absolute
    if step == "mul":
        return current * operand, magnitude * absolute
    if step == "min":
        return minimum(current, operand), np.maximum(magnitude, absolute)
    if step in ("max", "relu"):
        return maximum(current, operand), np.maximum(magnitude, absolute)
    if step == "neg":
        return 0 - current, magnitude
    if step == "exp":
        value = np.exp(current)
        return value, value * (1 + magnitude)
    value = np.tanh(current)
    return value, np.abs(value) + (1 - value * value) * magnitude


@dataclass(frozen=True)
class Reduction(Operation):
    """The sum, maximum or minimum over some dimensions.

    Attributes:
        axes: the dimensions that are reduced, from 0, ascending.
        result_type: of the result and the accumulator.
    """

    kind: ClassVar[str] = "reduction"
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    combiner: ReductionCombiner = "sum"
    operand_type: ElementType = ElementType.F32
    result_type: ElementType = ElementType.F32

    @classmethod
    def examples(cls) -> tuple[Operation, ...]:
        return (cls((128, 256), (1,)),)

    @property
    def name(self) -> str:
        shape = "x".join(map(str, self.shape))
        axes = "x".join(map(str, self.axes))
        types = f"{self.operand_type.value}_{self.result_type.value}"
        return f"{self.kind}_{self.combiner}_{shape}_axes_{axes}_{types}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return (Tensor("operand", self.shape, self.operand_type),)

    @property
    def result(self) -> Tensor:
        kept = tuple(self.shape[axis] for axis in self._kept)
        return Tensor("result", kept, self.result_type)

    @property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(
            Loop(size, "reduction" if axis in self.axes else "parallel")
            for axis, size in enumerate(self.shape)
        )

    @property
    def root(self) -> str:
        return "linalg.generic"

    @property
    def flops(self) -> int:
        return self.inputs[0].elements

    @property
    def extreme(self) -> Literal["max", "min"] | None:
        return None if self.combiner == "sum" else self.combiner

    @property
    def reduced_axes(self) -> tuple[int, ...]:
        return self.axes

    def arguments(self) -> Mapping[str, Argument]:
        return {
            "shape": "x".join(map(str, self.shape)),
            "axes": ",".join(map(str, self.axes)),
            "combiner": self.combiner,
            "lhs": self.operand_type.value,
            "result": self.result_type.value,
        }

    def check(self) -> None:
        if not self.shape:
            raise UsageError(f"The shape of a {self.kind} must have at least one dimension.")
        check_sizes(self.kind, {f"dimension {axis}": each for axis, each in enumerate(self.shape)})
        if not self.axes or list(self.axes) != sorted(set(self.axes)):
            raise UsageError(
                f"The axes of a {self.kind} must be ascending, at least one, got {self.axes}."
            )
        if self.axes[0] < 0 or self.axes[-1] >= len(self.shape):
            raise UsageError(
                f"The axes of a {self.kind} must be from 0 to {len(self.shape) - 1}, the dimensions"
                f" of its shape, got {self.axes}."
            )
        check_types(self.kind, (self.operand_type,), self.result_type)

    def body(self, destination: str, root_attributes: str) -> str:
        operand, result, element = self.inputs[0], self.result.mlir, self.result_type
        dimensions = ", ".join(f"d{axis}" for axis in range(len(self.shape)))
        kept = ", ".join(f"d{axis}" for axis in self._kept)
        iterators = ", ".join(f'"{loop.type}"' for loop in self.loops)
        combine = arithmetic("add" if self.combiner == "sum" else self.combiner, element)
        extend = extension(self.operand_type, element)
        extended = f"%wide = {extend} %element : {self.operand_type.value} to {element.value}"
        attributes = f"indexing_maps = [affine_map<({dimensions}) -> ({dimensions})>, affine_map<({dimensions}) -> ({kept})>], iterator_types = [{iterators}]"  # noqa: E501
        # Own attributes of a generic operation are behind its operands.
        own = f" attrs = {{{root_attributes}}}" if root_attributes else ""
        return f"""
            %identity = arith.constant {identity(self.combiner, element)}
            %fill = linalg.fill ins(%identity : {element.value}) outs({destination} : {result}) -> {result}
            %reduced = linalg.generic {{{attributes}}} ins(%operand : {operand.mlir}) outs(%fill : {result}){own} {{
            ^bb0(%element: {self.operand_type.value}, %old: {element.value}):
              {extended if extend else ""}
              %new = {combine} %old, {"%wide" if extend else "%element"} : {element.value}
              linalg.yield %new : {element.value}
            }} -> {result}
            return %reduced : {result}"""  # noqa: E501

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        operand = widen(inputs[0])
        combine = {"sum": np.sum, "max": np.max, "min": np.min}[self.combiner]
        bound = np.sum if self.combiner == "sum" else np.max
        values = np.asarray(combine(operand, axis=self.axes))
        if self.extreme is not None and self.operand_type.is_float:
            # -0.0 is below 0.0, which NumPy does not distinguish.
            signs = combine(
                np.copysign(1.0, operand),
                axis=self.axes,
                where=operand == 0,
                initial=-1.0 if self.extreme == "max" else 1.0,
            )
            values = np.where(values == 0, np.copysign(0.0, signs), values)
        magnitude = np.asarray(bound(np.abs(operand), axis=self.axes))
        return Reference(values, magnitude, signed_zeros=self.extreme is not None)

    @property
    def _kept(self) -> tuple[int, ...]:
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.axes)
