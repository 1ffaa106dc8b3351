"""Operations that are cut out of a program."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from actiondbg.kernels.model import Argument, ElementType, Loop, Operation, Reference, Tensor
from actiondbg.kernels.packages import np

DESTINATION = "destination"
ROOT_MARK = "actiondbg_root"
# The mark as the only attribute of an operation, or before others.
_MARK = re.compile(rf"( attrs =)?  ?\{{{ROOT_MARK}\}}|{ROOT_MARK}, |, {ROOT_MARK}\b")

# Functions that compilers replace by approximations for finite numbers.
_APPROXIMATED = re.compile(r"math\.(r?sqrt|log2?|sin|cos|erf|exp2)\b")
# What may return a zero of another sign than its interpretation, as the order of a sum may.
_UNSIGNED = re.compile(
    r"\breduction\b|\b(arith|linalg|math)\.(max|min)|fastmath<[^>]*\b(nsz|fast)\b"
)
# Flags with which NaN or infinities are undefined.
_FINITE = re.compile(r"fastmath<[^>]*\b(nnan|ninf|fast)\b")
# What may hide an operand from an element of the result.
_SELECTING = re.compile(r"(arith\.(max|min|cmp|select)|math\.(tanh|erf)|tensor\.extract\b)")


@dataclass(frozen=True)
class ModelOperation(Operation):
    """A linalg operation of a program, or a group of them that a compiler fuses.

    Attributes:
        symbol: the name, with a digest of the text.
        text: the lines of the body; arguments are ``%NAME``, the root has the attribute ROOT_MARK.
        operands: what the group reads from outside.
        iteration: the loops of the root.
        root_name: of the root, such as ``linalg.matmul``.
        work: arithmetic operations of a call.
        accumulation: the type in which the root adds up.
        count: how often the program has it.
        selected: what the root selects, "max" or "min"; "" if it computes something else.
        selected_axes: the dimensions of the first operand that are reduced then, if it is the
            operand of the root and its windows do not overlap.
        indexed: of each operand, the size of the dimension that its elements are indices of, or 0.
    """

    kind: ClassVar[str] = "model"
    symbol: str
    text: str
    operands: tuple[Tensor, ...]
    output: Tensor
    iteration: tuple[Loop, ...]
    root_name: str
    work: int
    accumulation: ElementType
    count: int = 1
    selected: Literal["max", "min", ""] = ""
    selected_axes: tuple[int, ...] = ()
    indexed: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.symbol

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return self.operands

    @property
    def result(self) -> Tensor:
        return self.output

    @property
    def accumulator(self) -> ElementType:
        return self.accumulation

    @property
    def loops(self) -> tuple[Loop, ...]:
        return self.iteration

    @property
    def root(self) -> str:
        return self.root_name

    @property
    def flops(self) -> int:
        return self.work

    @property
    def extreme(self) -> Literal["max", "min"] | None:
        return self.selected or None

    @property
    def reduced_axes(self) -> tuple[int, ...]:
        return self.selected_axes

    @property
    def index_limits(self) -> tuple[int, ...]:
        return self.indexed

    @property
    def selects(self) -> bool:
        return _SELECTING.search(self.text) is not None

    @property
    def defines_edges(self) -> bool:
        return not (_APPROXIMATED.search(self.text) or _FINITE.search(self.text))

    def arguments(self) -> Mapping[str, Argument]:
        return {
            "root": self.root_name,
            "shape": "x".join(str(loop.size) for loop in self.iteration),
            "count": self.count,
            "lhs": ",".join(each.type.value for each in self.operands),
            "result": self.output.type.value,
        }

    def body(self, destination: str, root_attributes: str) -> str:
        text = re.sub(rf"%{DESTINATION}\b", destination, self.text)
        if root_attributes:
            return text.replace(ROOT_MARK, root_attributes)
        return _MARK.sub("", text)

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        """Interpret the operations.

        Raises:
            Unsupported: an operation cannot be interpreted.
            ActiondbgError: MLIR's Python bindings are not installed.
        """
        from actiondbg.kernels.programs.interpretation import interpret

        reference = interpret(self.function(), inputs, self.accumulator)
        is_sum = any(loop.type == "reduction" for loop in self.iteration)
        signed_zeros = reference.exact and not is_sum and not _UNSIGNED.search(self.text)
        return replace(reference, signed_zeros=signed_zeros)
