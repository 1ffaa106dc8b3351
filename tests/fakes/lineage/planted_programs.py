"""Random programs in which each operation has a constant of its own, and pipelines for them.

A constant that occurs once in the input marks the operations that use it: wherever it is used in
the output, these operations are the origin.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

FIRST_PLANT = 300_001  # floats of this size are exact, and no pass makes them

_BINARY = ("addf", "subf", "mulf", "divf", "maximumf", "minimumf")
_FOLDED = ("addf", "mulf")  # to constants that are larger than those planted
_TO_LLVM = (
    "convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-math-to-llvm,"
    "convert-math-to-libm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
    "convert-cf-to-llvm,reconcile-unrealized-casts,canonicalize"
)
_BUFFERIZE = (
    "eliminate-empty-tensors,empty-tensor-to-alloc-tensor,"
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map}"
)
_VECTORISED = (
    "func.func(convert-linalg-to-affine-loops,affine-super-vectorize{virtual-vector-size=8}),"
    "canonicalize,cse"
)


class PlantedProgram(NamedTuple):
    """A program.

    Args:
        text: the IR.
        plants: the number of constants planted in it.
    """

    text: str
    plants: int


class Kind(NamedTuple):
    """A kind of programs, and a pipeline that compiles them.

    Args:
        name: of the pipeline.
        program: makes a program of a number of functions.
        passes: the text of ``--pass-pipeline``, without ``builtin.module``.
    """

    name: str
    program: Callable[[random.Random, int], PlantedProgram]
    passes: str

    @property
    def pipeline(self) -> str:
        """The argument of the tool."""
        return f"--pass-pipeline=builtin.module({self.passes})"


class _Writer:
    """The text of a program while it is made."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.names: tuple[str, ...] = _BINARY
        self.lines: list[str] = []
        self._plants = 0
        self._values = 0

    def add(self, line: str) -> None:
        self.lines.append(line)

    def value(self) -> str:
        self._values += 1
        return f"%v{self._values}"

    def plant(self) -> str:
        self._plants += 1
        return f"{(FIRST_PLANT + self._plants - 1) / 1e5:.5f}e+05"

    def constant(self, kind: str = "f32") -> str:
        """Write a constant of its own; return its value."""
        name, number = self.value(), self.plant()
        text = f"dense<{number}> : {kind}" if kind != "f32" else f"{number} : f32"
        self.add(f"{name} = arith.constant {text}")
        return name

    def operations(self, value: str, count: int, kind: str = "f32") -> str:
        """Write a chain of operations, each with a constant; return its last value."""
        for _ in range(count):
            what = self.chance.randrange(9)
            plant, result = self.constant(kind), self.value()
            if what == 0 and kind == "f32":
                flag = self.value()
                self.add(f"{flag} = arith.cmpf ogt, {value}, {plant} : f32")
                other = self.constant()
                self.add(f"{result} = arith.select {flag}, {value}, {other} : f32")
            elif what == 1:
                other = self.constant(kind)
                self.add(f"{result} = math.fma {value}, {plant}, {other} : {kind}")
            else:
                name = self.chance.choice(self.names)
                self.add(f"{result} = arith.{name} {value}, {plant} : {kind}")
            value = result
        return value

    def program(self, head: str = "") -> PlantedProgram:
        return PlantedProgram(head + "\n".join(self.lines) + "\n", self._plants)


def _scalar(chance: random.Random, count: int) -> PlantedProgram:
    """Arithmetic, branches, loops and calls, some of which have constant operands."""
    to = _Writer(chance)
    to.names = _FOLDED
    for number in range(count):
        to.add(f"func.func private @leaf{number}(%x: f32) -> f32 {{")
        to.add(f"return {to.operations('%x', chance.randint(1, 3))} : f32")
        to.add("}")
        to.add(f"func.func @main{number}(%x: f32, %c: i1, %n: index) -> f32 {{")
        value = "%x"
        to.add("%zero = arith.constant 0 : index")
        to.add("%step = arith.constant 4 : index")
        for _ in range(chance.randint(2, 4)):
            value = _scalar_part(to, value, number)
        to.add(f"return {value} : f32")
        to.add("}")
    return to.program()


def _scalar_part(to: _Writer, value: str, number: int) -> str:
    chance, result = to.chance, to.value()
    what = chance.choice(("call", "if", "for", "chain", "constant"))
    if what == "call":
        to.add(f"{result} = func.call @leaf{number}({value}) : (f32) -> f32")
    elif what == "constant":
        to.add(f"{result} = func.call @leaf{number}({to.constant()}) : (f32) -> f32")
        joined = to.value()
        to.add(f"{joined} = arith.addf {result}, {value} : f32")
        return joined
    elif what == "if":
        to.add(f"{result} = scf.if %c -> f32 {{")
        to.add(f"scf.yield {to.operations(value, chance.randint(1, 2))} : f32")
        to.add("} else {")
        to.add(f"scf.yield {to.operations(value, chance.randint(1, 2))} : f32")
        to.add("}")
    elif what == "for":
        carried, index = to.value(), to.value()
        to.add(
            f"{result} = scf.for {index} = %zero to %n step %step "
            f"iter_args({carried} = {value}) -> f32 {{"
        )
        to.add(f"scf.yield {to.operations(carried, chance.randint(1, 3))} : f32")
        to.add("}")
    else:
        return to.operations(value, chance.randint(1, 3))
    return result


def _loops(chance: random.Random, count: int) -> PlantedProgram:
    """Loops of affine over memrefs, of which each reads what an earlier one writes."""
    to = _Writer(chance)
    for number in range(count):
        to.add(f"func.func @loops{number}(%a: memref<64xf32>, %b: memref<64xf32>) {{")
        buffers = ["%a", "%b"]
        for _ in range(chance.randint(2, 4)):
            if chance.random() < 0.3:
                buffers.append(to.value())
                to.add(f"{buffers[-1]} = memref.alloc() : memref<64xf32>")
            source, target = chance.choice(buffers[:2]), chance.choice(buffers)
            index, loaded = to.value(), to.value()
            to.add(f"affine.for {index} = 0 to 64 {{")
            to.add(f"{loaded} = affine.load {source}[{index}] : memref<64xf32>")
            value = to.operations(loaded, chance.randint(1, 3))
            to.add(f"affine.store {value}, {target}[{index}] : memref<64xf32>")
            to.add("}")
        to.add("return")
        to.add("}")
    return to.program()


_MAPS = """\
#map = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
"""
_SHAPE = "tensor<8x16xf32>"


def _tensors(chance: random.Random, count: int) -> PlantedProgram:
    """Operations of linalg on tensors: elementwise, filled, multiplied and reduced."""
    to = _Writer(chance)
    for number in range(count):
        to.add(
            f"func.func @tensors{number}(%a: {_SHAPE}, %b: {_SHAPE}, %w: tensor<16x16xf32>) "
            f"-> {_SHAPE} {{"
        )
        value = "%a"
        for _ in range(chance.randint(2, 4)):
            value = _tensor_part(to, value)
        to.add(f"return {value} : {_SHAPE}")
        to.add("}")
    return to.program(_MAPS)


def _tensor_part(to: _Writer, value: str) -> str:
    empty, result = to.value(), to.value()
    to.add(f"{empty} = tensor.empty() : {_SHAPE}")
    if to.chance.random() < 0.25:
        plant, filled = to.constant(), to.value()
        to.add(f"{filled} = linalg.fill ins({plant} : f32) outs({empty} : {_SHAPE}) -> {_SHAPE}")
        to.add(
            f"{result} = linalg.matmul ins({value}, %w : {_SHAPE}, tensor<16x16xf32>) "
            f"outs({filled} : {_SHAPE}) -> {_SHAPE}"
        )
        return result
    other = to.chance.choice(("%b", value))
    element, second, out = to.value(), to.value(), to.value()
    to.add(
        f"{result} = linalg.generic {{indexing_maps = [#map, #map, #map], "
        'iterator_types = ["parallel", "parallel"]} '
        f"ins({value}, {other} : {_SHAPE}, {_SHAPE}) outs({empty} : {_SHAPE}) {{"
    )
    to.add(f"^bb0({element}: f32, {second}: f32, {out}: f32):")
    changed = to.operations(element, to.chance.randint(1, 3))
    joined = to.value()
    to.add(f"{joined} = arith.addf {changed}, {second} : f32")
    to.add(f"linalg.yield {to.operations(joined, 1)} : f32")
    to.add(f"}} -> {_SHAPE}")
    return result


def _vectors(chance: random.Random, count: int) -> PlantedProgram:
    """Arithmetic on vectors of one and two dimensions."""
    to = _Writer(chance)
    for number in range(count):
        kind = chance.choice(("vector<4xf32>", "vector<2x4xf32>"))
        to.add(f"func.func @vectors{number}(%x: {kind}) -> {kind} {{")
        value = to.operations("%x", chance.randint(2, 6), kind)
        if chance.random() < 0.5:
            single, result = to.constant(), to.value()
            to.add(f"{result} = vector.broadcast {single} : f32 to {kind}")
            joined = to.value()
            to.add(f"{joined} = arith.mulf {value}, {result} : {kind}")
            value = joined
        to.add(f"return {value} : {kind}")
        to.add("}")
    return to.program()


def _tosa(chance: random.Random, count: int) -> PlantedProgram:
    """Elementwise operations of TOSA."""
    to, shape = _Writer(chance), "tensor<4x8xf32>"
    for number in range(count):
        to.add(f"func.func @tosa{number}(%x: {shape}) -> {shape} {{")
        value = "%x"
        for _ in range(chance.randint(2, 5)):
            plant, result = to.value(), to.value()
            if chance.random() < 0.2:
                to.add(
                    f"{result} = tosa.clamp {value} {{min_val = 0.0 : f32, "
                    f"max_val = {to.plant()} : f32}} : ({shape}) -> {shape}"
                )
                value = result
                continue
            to.add(
                f'{plant} = "tosa.const"() <{{values = dense<{to.plant()}> : tensor<1x1xf32>}}> '
                ": () -> tensor<1x1xf32>"
            )
            name = chance.choice(("add", "sub", "maximum", "minimum", "pow"))
            to.add(
                f"{result} = tosa.{name} {value}, {plant} : ({shape}, tensor<1x1xf32>) -> {shape}"
            )
            value = result
        to.add(f"return {value} : {shape}")
        to.add("}")
    return to.program()


_TILE = """\
module attributes {transform.with_named_sequence} {
"""
_TILED = """\
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %all = transform.structured.match ops{["linalg.generic"]} in %root
      : (!transform.any_op) -> !transform.any_op
  %tiled, %loops:2 = transform.structured.tile_using_for %all tile_sizes [4, 8]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.structured.vectorize %tiled vector_sizes [4, 8] : !transform.any_op
  transform.yield
}
}
"""


def _scheduled(chance: random.Random, count: int) -> PlantedProgram:
    made = _tensors(chance, count)
    text = made.text.removeprefix(_MAPS)
    return made._replace(text=f"{_MAPS}{_TILE}{text}{_TILED}")


def _parallel(chance: random.Random, count: int) -> PlantedProgram:
    """Parallel loops over memrefs."""
    to, kind = _Writer(chance), "memref<8x16xf32>"
    for number in range(count):
        to.add(f"func.func @parallel{number}(%a: {kind}, %b: {kind}) {{")
        to.add("%zero = arith.constant 0 : index")
        to.add("%one = arith.constant 1 : index")
        to.add("%rows = arith.constant 8 : index")
        to.add("%columns = arith.constant 16 : index")
        for _ in range(chance.randint(1, 3)):
            row, column, loaded = to.value(), to.value(), to.value()
            to.add(
                f"scf.parallel ({row}, {column}) = (%zero, %zero) to (%rows, %columns) "
                "step (%one, %one) {"
            )
            to.add(f"{loaded} = memref.load %a[{row}, {column}] : {kind}")
            value = to.operations(loaded, chance.randint(1, 3))
            to.add(f"memref.store {value}, %b[{row}, {column}] : {kind}")
            to.add("scf.reduce")
            to.add("}")
        to.add("return")
        to.add("}")
    return to.program()


def _named(chance: random.Random, count: int) -> PlantedProgram:
    """Named operations of linalg: a convolution or a pooling, products, maps, reductions, pads."""
    to = _Writer(chance)
    image, batch, rows = "tensor<1x8x8x4xf32>", "tensor<2x8x8xf32>", "tensor<2x8xf32>"
    for number in range(count):
        to.add(
            f"func.func @named{number}(%x: tensor<1x10x10x4xf32>, %w: tensor<3x3x4x4xf32>, "
            f"%a: {batch}, %b: {batch}) -> ({image}, {batch}, {rows}) {{"
        )
        first, window = to.value(), to.value()
        if chance.random() < 0.5:
            given = ("conv_2d_nhwc_hwcf", "%w", "tensor<3x3x4x4xf32>")
        else:
            to.add(f"{window} = tensor.empty() : tensor<3x3xf32>")
            given = ("pooling_nhwc_max", window, "tensor<3x3xf32>")
        name, operand, kind = given
        to.add(
            f"{first} = linalg.{name} ins(%x, {operand} : tensor<1x10x10x4xf32>, {kind}) "
            f"outs({_filled(to, image)} : {image}) -> {image}"
        )
        product, mapped, element, init = (to.value() for _ in range(4))
        to.add(
            f"{product} = linalg.batch_matmul ins(%a, %b : {batch}, {batch}) "
            f"outs({_filled(to, batch)} : {batch}) -> {batch}"
        )
        to.add(
            f"{mapped} = linalg.map ins({product} : {batch}) outs(%b : {batch}) "
            f"({element}: f32, {init}: f32) {{"
        )
        to.add(f"linalg.yield {to.operations(element, chance.randint(1, 3))} : f32\n}}")
        reduced, each, sum_ = (to.value() for _ in range(3))
        to.add(
            f"{reduced} = linalg.reduce ins({mapped} : {batch}) outs({_filled(to, rows)} : {rows}) "
            f"dimensions = [2] ({each}: f32, {sum_}: f32) {{"
        )
        joined, changed = to.value(), to.operations(each, 1)
        to.add(f"{joined} = arith.addf {changed}, {sum_} : f32")
        to.add(f"linalg.yield {joined} : f32\n}}")
        to.add(f"return {first}, {mapped}, {reduced} : {image}, {batch}, {rows}\n}}")
    return to.program()


def _filled(to: _Writer, kind: str) -> str:
    """Write a tensor that is filled with a constant of its own; return its value."""
    plant, empty, filled = to.constant(), to.value(), to.value()
    to.add(f"{empty} = tensor.empty() : {kind}")
    to.add(f"{filled} = linalg.fill ins({plant} : f32) outs({empty} : {kind}) -> {kind}")
    return filled


def _control(chance: random.Random, count: int) -> PlantedProgram:
    """Loops with conditions, nested branches, switches, and a variable in memory."""
    to = _Writer(chance)
    for number in range(count):
        to.add(f"func.func @control{number}(%x: f32, %c: i1, %n: index) -> f32 {{")
        to.add("%variable = memref.alloca() : memref<f32>")
        to.add(f"memref.store {to.constant()}, %variable[] : memref<f32>")
        value = "%x"
        for _ in range(chance.randint(2, 4)):
            value = chance.choice((_while, _nested, _switch, _variable))(to, value)
        to.add(f"return {value} : f32\n}}")
    return to.program()


def _while(to: _Writer, value: str) -> str:
    result, before, after, flag = (to.value() for _ in range(4))
    to.add(f"{result} = scf.while ({before} = {value}) : (f32) -> f32 {{")
    to.add(f"{flag} = arith.cmpf olt, {before}, {to.constant()} : f32")
    to.add(f"scf.condition({flag}) {to.operations(before, 1)} : f32\n}} do {{")
    to.add(f"^bb0({after}: f32):")
    to.add(f"scf.yield {to.operations(after, to.chance.randint(1, 2))} : f32\n}}")
    return result


def _nested(to: _Writer, value: str) -> str:
    result, inner, flag = (to.value() for _ in range(3))
    to.add(f"{flag} = arith.cmpf ogt, {value}, {to.constant()} : f32")
    to.add(f"{result} = scf.if %c -> f32 {{\n{inner} = scf.if {flag} -> f32 {{")
    to.add(f"scf.yield {to.operations(value, 1)} : f32\n}} else {{\nscf.yield {value} : f32\n}}")
    to.add(f"scf.yield {inner} : f32\n}} else {{")
    to.add(f"scf.yield {to.operations(value, 1)} : f32\n}}")
    return result


def _switch(to: _Writer, value: str) -> str:
    result = to.value()
    to.add(f"{result} = scf.index_switch %n -> f32")
    for label in ("case 2", "case 5"):
        to.add(f"{label} {{")
        to.add(f"scf.yield {to.operations(value, 1)} : f32\n}}")
    to.add(f"default {{\nscf.yield {value} : f32\n}}")
    return result


def _variable(to: _Writer, value: str) -> str:
    loaded, joined = to.value(), to.value()
    to.add(f"{loaded} = memref.load %variable[] : memref<f32>")
    to.add(f"{joined} = arith.addf {loaded}, {value} : f32")
    result = to.operations(joined, 1)
    to.add(f"memref.store {result}, %variable[] : memref<f32>")
    return result


TENSORS = Kind("tensors", _tensors, "")
KINDS = (
    Kind(
        "inline, fold, CSE, LICM to LLVM",
        _scalar,
        f"inline,canonicalize,cse,loop-invariant-code-motion,symbol-dce,{_TO_LLVM}",
    ),
    Kind(
        "sccp, peel to LLVM",
        _scalar,
        f"inline,sccp,func.func(scf-for-loop-peeling),canonicalize,cse,{_TO_LLVM}",
    ),
    Kind(
        "affine: fuse, tile, jam",
        _loops,
        "func.func(affine-loop-fusion,affine-loop-tile{tile-size=8},"
        "affine-loop-unroll-jam{unroll-jam-factor=2},affine-scalrep),canonicalize,cse,lower-affine",
    ),
    Kind(
        "affine: vectorise, unroll to LLVM",
        _loops,
        "func.func(affine-super-vectorize{virtual-vector-size=8},"
        "affine-loop-unroll{unroll-factor=2},convert-vector-to-scf),canonicalize,cse,lower-affine,"
        f"convert-scf-to-cf,convert-vector-to-llvm,{_TO_LLVM}",
    ),
    Kind(
        "affine: jam, vectorise",
        _loops,
        "func.func(affine-loop-unroll-jam{unroll-jam-factor=2},"
        "affine-super-vectorize{virtual-vector-size=8})",
    ),
    Kind(
        "linalg: fuse, bufferize, loops",
        _tensors,
        "func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),canonicalize,cse,"
        f"{_BUFFERIZE},func.func(convert-linalg-to-loops),canonicalize,cse",
    ),
    Kind(
        "linalg: parallel to LLVM",
        _tensors,
        "func.func(linalg-fuse-elementwise-ops),canonicalize,cse,"
        f"{_BUFFERIZE},func.func(convert-linalg-to-parallel-loops),canonicalize,cse,{_TO_LLVM}",
    ),
    Kind(
        "vector to LLVM",
        _vectors,
        "convert-vector-to-llvm,convert-math-to-llvm,convert-arith-to-llvm,convert-func-to-llvm,"
        "reconcile-unrealized-casts,canonicalize",
    ),
    Kind(
        "vector to LLVM, arithmetic first",
        _vectors,
        "convert-arith-to-llvm,convert-math-to-llvm,convert-vector-to-llvm,convert-func-to-llvm,"
        "reconcile-unrealized-casts,canonicalize",
    ),
    Kind(
        "TOSA: fused, loops",
        _tosa,
        "func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor,"
        f"linalg-fuse-elementwise-ops),canonicalize,cse,{_BUFFERIZE},"
        "func.func(convert-linalg-to-loops),canonicalize,cse",
    ),
    Kind(
        "transform: tile, vectorise",
        _scheduled,
        "transform-interpreter,canonicalize,cse",
    ),
    Kind(
        "GPU: outlined",
        _parallel,
        "func.func(gpu-map-parallel-loops,convert-parallel-loops-to-gpu),canonicalize,"
        "gpu-kernel-outlining,lower-affine,canonicalize,cse",
    ),
    Kind(
        "OpenMP: outlined",
        _parallel,
        f"convert-scf-to-openmp,canonicalize,cse,{_TO_LLVM},convert-openmp-to-llvm",
    ),
    Kind(
        "async: outlined",
        _parallel,
        "async-parallel-for,canonicalize,cse",
    ),
    Kind(
        "named: generalised, vectorised",
        _named,
        f"func.func(linalg-generalize-named-ops),{_BUFFERIZE},{_VECTORISED}",
    ),
    Kind(
        "named: fused, vectorised",
        _named,
        "func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),"
        f"{_BUFFERIZE},{_VECTORISED}",
    ),
    Kind(
        "control: memory to values, blocks to LLVM",
        _control,
        f"canonicalize,control-flow-sink,mem2reg,sccp,canonicalize,cse,{_TO_LLVM}",
    ),
)
