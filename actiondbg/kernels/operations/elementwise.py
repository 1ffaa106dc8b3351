"""Chains of elementwise operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from actiondbg.errors import UsageError
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Argument, Loop, Operation, Reference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.operations.element_types import (
    arithmetic,
    check_sizes,
    check_types,
    extension,
)
from actiondbg.kernels.operations.wide_arrays import maximum, minimum, widen

if TYPE_CHECKING:
    import numpy as np

_BINARY = ("add", "sub", "mul", "max", "min")
_ROUNDING = ("exp", "tanh")  # their results are not exact, whatever the operand is
_SELECTING = ("max", "min", "relu", "tanh")  # an operand may leave no trace in the result
_SIGNING = ("max", "min", "relu")  # the sign of a zero in their results is defined
_UNARY = ("relu", "neg", *_ROUNDING)


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
            # A subtraction from zero, as integers have no negation; only the sign of 0 differs.
            return f"{arithmetic('sub', element)} %zero, {current}"
        return f"math.{step} {current}"

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        """Apply the steps, and bound the value and the error of each.

        The bound of absolute values covers each intermediate result: all have to be exact for the
        last to be. An exponential multiplies errors by its value.
        """
        import numpy

        current, *further = (widen(each) for each in inputs)
        magnitude = numpy.abs(current)
        for step in self.steps:
            operand = further.pop(0) if step in _BINARY else numpy.zeros_like(current)
            current, bound = _apply(step, current, magnitude, operand)
            magnitude = bound if step in _ROUNDING else numpy.maximum(magnitude, bound)
        return Reference(
            current,
            magnitude,
            exact=not set(self.steps) & set(_ROUNDING),
            signed_zeros=set(self.steps) <= set(_SIGNING),
        )


def _apply(
    step: str, current: np.ndarray, magnitude: np.ndarray, operand: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    import numpy

    absolute = numpy.abs(operand)
    if step == "add":
        return current + operand, magnitude + absolute
    if step == "sub":
        return current - operand, magnitude + absolute
    if step == "mul":
        return current * operand, magnitude * absolute
    if step == "min":
        return minimum(current, operand), numpy.maximum(magnitude, absolute)
    if step in ("max", "relu"):
        return maximum(current, operand), numpy.maximum(magnitude, absolute)
    if step == "neg":
        return -current, magnitude
    if step == "exp":
        value = numpy.exp(current)
        return value, value * (1 + magnitude)
    value = numpy.tanh(current)
    return value, numpy.abs(value) + (1 - value * value) * magnitude
