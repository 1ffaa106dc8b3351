"""Exact lineages of vectorised programs, against tags that the vectorisers copy.

The constants are few, and equal ones occur often: they alone tell nothing apart.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.lineage.stage import Operation
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.elements import some

BUILDS = ("pypi",)
_CONSTANTS = ("2.5", "3.5", "7.25", "9.125", "1.75")
_NAMES = ("addf", "mulf", "subf", "divf")
_VECTORISE = "affine-super-vectorize{virtual-vector-size=8}"
PIPELINES = (
    f"func.func({_VECTORISE})",
    f"func.func({_VECTORISE},affine-loop-unroll{{unroll-factor=2}}),canonicalize,cse",
    f"func.func(affine-loop-fusion,{_VECTORISE}),canonicalize",
    f"canonicalize,cse,func.func(affine-scalrep,{_VECTORISE})",
)
_HEAD = """\
#map = affine_map<(d0) -> (d0)>
module attributes {transform.with_named_sequence} {
"""
_SCHEDULE = """\
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %all = transform.structured.match ops{["linalg.generic"]} in %root
      : (!transform.any_op) -> !transform.any_op
  %tiled, %loop = transform.structured.tile_using_for %all tile_sizes [8]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.structured.vectorize %tiled vector_sizes [8] : !transform.any_op
  transform.yield
}
}
"""


class Writer:
    """Chains of operations with tags and repeated constants."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.lines: list[str] = []
        self._values = self._tags = 0

    def value(self) -> str:
        self._values += 1
        return f"%v{self._values}"

    def chain(self, first: str) -> str:
        """Write operations on a value; return the last result."""
        value = first
        for _ in range(self.chance.randint(1, 5)):
            constant, result = self.value(), self.value()
            self._tags += 1
            number = self.chance.choice(_CONSTANTS)
            self.lines.append(f"{constant} = arith.constant {number} : f32")
            other = self.chance.choice((constant, constant, value, first))
            name = self.chance.choice(_NAMES)
            self.lines.append(
                f"{result} = arith.{name} {value}, {other} {{tag = {self._tags} : i32}} : f32"
            )
            value = result
        return value


def loops(seed: int) -> str:
    to = Writer(seed)
    for number in range(4):
        to.lines.append(f"func.func @f{number}(%a: memref<64xf32>, %b: memref<64xf32>) {{")
        for _ in range(to.chance.randint(2, 4)):
            index, loaded = to.value(), to.value()
            to.lines.append(f"affine.for {index} = 0 to 64 {{")
            to.lines.append(f"{loaded} = affine.load %a[{index}] : memref<64xf32>")
            to.lines.append(f"affine.store {to.chain(loaded)}, %b[{index}] : memref<64xf32>\n}}")
        to.lines.append("return\n}")
    return "\n".join(to.lines) + "\n"


def tensors(seed: int) -> str:
    to, shape = Writer(seed), "tensor<64xf32>"
    for number in range(4):
        to.lines.append(f"func.func @f{number}(%a: {shape}) -> {shape} {{")
        result = "%a"
        for _ in range(to.chance.randint(2, 4)):
            given, result, element, out = (result, *(to.value() for _ in range(3)))
            to.lines.append(
                f"{result} = linalg.generic {{indexing_maps = [#map, #map], "
                f'iterator_types = ["parallel"]}} ins({given} : {shape}) outs(%a : {shape}) {{\n'
                f"^bb0({element}: f32, {out}: f32):"
            )
            to.lines.append(f"linalg.yield {to.chain(element)} : f32\n}} -> {shape}")
        to.lines.append(f"return {result} : {shape}\n}}")
    return f"{_HEAD}{chr(10).join(to.lines)}\n{_SCHEDULE}"


def tag_of(operation: Operation) -> str | None:
    found = re.search(r"tag = (\d+)", operation.text.partition("\n")[0])
    return found[1] if found else None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["loops", "tensors"])
def test_nothing_is_made_of_another(kind: str, seed: int, mlir_opt: str, tmp_path: Path) -> None:
    source, run = tmp_path / "in.mlir", tmp_path / "run.adbrec"
    source.write_text(loops(seed) if kind == "loops" else tensors(seed))
    passes = PIPELINES[seed % len(PIPELINES)] if kind == "loops" else "transform-interpreter"
    flag = f"--pass-pipeline=builtin.module({passes})"
    assert not record([mlir_opt, str(source), flag, "-o", "/dev/null"], run, lineage=True).status
    lineage = RecordedLineage(open_recording(run))
    first, last = lineage.stages
    related = lineage.relate(first, last, exact=True)
    pairs = [
        (tag_of(first[one]), tag_of(last[other]))
        for one, other in zip(related.sources, related.targets, strict=True)
    ]
    tagged = [(one, other) for one, other in pairs if one and other]
    assert not [(one, other) for one, other in some(tagged) if one != other]
    made = {other for other in last if tag_of(other)}
    reached = made & {last[other] for other in related.targets}
    assert len(reached) > len(made) / 2
