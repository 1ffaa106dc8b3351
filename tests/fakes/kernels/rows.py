"""Rows of a report: right, wrong, crashed and not profiled dispatches of two kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from actiondbg.kernels.model import (
    Argument,
    Configuration,
    Dispatch,
    ElementType,
    Loop,
    Operation,
    Reference,
    Tensor,
)
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.results.entry import Compilation, Profile, Row, Verification

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Negation(Operation):
    """``result = -source``."""

    kind: ClassVar[str] = "negation"
    size: int

    @property
    def name(self) -> str:
        return f"negation_{self.size}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return (Tensor("source", (self.size,), ElementType.F32),)

    @property
    def result(self) -> Tensor:
        return Tensor("result", (self.size,), ElementType.F32)

    @property
    def loops(self) -> tuple[Loop, ...]:
        return (Loop(self.size, "parallel"),)

    @property
    def root(self) -> str:
        return "linalg.negf"

    @property
    def flops(self) -> int:
        return self.size

    def arguments(self) -> Mapping[str, Argument]:
        return {"size": self.size, "result": "f32"}

    def body(self, destination: str, root_attributes: str) -> str:
        type = self.result.mlir
        return f"""
            %negated = linalg.negf ins(%source : {type}) outs({destination} : {type}) -> {type}
            return %negated : {type}"""

    def reference(self, inputs: Sequence[np.ndarray]) -> Reference:
        import numpy

        return Reference(-inputs[0].astype(numpy.float64), numpy.abs(inputs[0]))


TILED = Configuration("mlir", "mlir_tile_8x8", {"tile": [8, 8], "unroll": True})
PLAIN = Configuration("mlir", "mlir_plain", {"passes": ["cse", "canonicalize"], "m": 4})
MATMUL = Dispatch(Matmul(512, 512, 512), TILED)
NEGATION = Dispatch(Negation(1000), PLAIN)

FAST = Row(
    MATMUL,
    Compilation(0.4, "yes"),
    Verification("SUCCESS", "equal", 0, 512 * 512, 0.0),
    Profile(
        (0.0041, 0.0040, 0.0043),
        0,
        100.0,
        10e9,
        confirmed=0.00405,
        call_seconds=2.5e-5,
        counts={"page-faults": 0.5, "task-clock": 4123456.0},
    ),
)
WRONG = Row(
    NEGATION,
    Compilation(None, "no", detail="The tile sizes were dropped."),
    Verification(
        "FAILED",
        "equal",
        4,
        1000,
        float("inf"),
        ("[4]: got 1, expected -1", "[5]: got \\nan, expected -2"),
        "....xx..\n..\\n..xx",
        'Every wrong element has an index % 8 >= 4, "the second half".',
    ),
    Profile((1e-6,), 3, 100.0, 10e9),
    culprit="#7 pass-execution (cse)",
    culprit_folder="bisect/negation",
)
BROKEN = Row(
    Dispatch(Matmul(8, 8, 8), TILED),
    Compilation(0.1, error="cc failed with exit status 1."),
    Verification("NOT COMPILED", detail="cc failed with exit status 1."),
)
ONLY_COMPILED = Row(Dispatch(Matmul(8, 8, 8), PLAIN), Compilation(0.1))
ROWS = [FAST, WRONG, BROKEN, ONLY_COMPILED]
