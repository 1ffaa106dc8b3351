"""Inputs that are chosen by what the program has."""

from __future__ import annotations

import pytest

from actiondbg.validation.function_judgement import FunctionJudgement, JudgementLimits, Query
from actiondbg.validation.inputs import (
    Array,
    Choice,
    View,
    choose_inputs,
    edges_in,
    numbers_in,
    sizes_in,
)
from actiondbg.validation.machine import positions
from actiondbg.validation.module_judge import ModuleJudge
from actiondbg.validation.program_reader import ProgramReader

_FILLED = """
func.func @f(%m: memref<?xi32>, %v: i32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = memref.dim %m, %c0 : memref<?xi32>
  {bound}
  scf.for %i = %c0 to %bound step %c1 {{
    memref.store %v, %m[%i] : memref<?xi32>
  }}
  return
}}
"""
_WHOLE = "%bound = arith.maxsi %size, %c0 : index"
_AT_MOST = {
    "a constant": "%most = arith.constant {} : index\n%bound = arith.minsi %size, %most : index",
    "an affine map": "%bound = affine.min affine_map<(d0) -> (d0, {})>(%size)",
}


_FEW_SECONDS = JudgementLimits(seconds=5)
_NO_TIME = "there was no time for more, and numbers or sizes are arguments"


def _judgement(
    before: str, after: str, *, limits: JudgementLimits = _FEW_SECONDS
) -> FunctionJudgement:
    (found,) = ModuleJudge(limits).judge(Query(before, after))
    return found


@pytest.mark.parametrize("most", [9, 20, 100])
@pytest.mark.parametrize("name", _AT_MOST)
def test_a_size_beyond_a_number_of_the_program(name: str, most: int) -> None:
    before, after = (_FILLED.format(bound=each) for each in (_WHOLE, _AT_MOST[name].format(most)))
    found = _judgement(before, after)
    assert found.verdict == "unknown"  # without real runs, nothing confirms the difference
    assert f"interpreted to differ (memory of argument buffer 0[{most}]" in found.detail


_READ = """
func.func @f(%m: memref<{size}x{size}xi32>, %i: index, %j: index) -> vector<8xi32> {{
  %padding = arith.constant {padding} : i32
  %r = vector.transfer_read %m[%i, %j], %padding : memref<{size}x{size}xi32>, vector<8xi32>
  return %r : vector<8xi32>
}}
"""


@pytest.mark.parametrize("size", [120, 200])
def test_the_end_of_a_static_dimension(size: int) -> None:
    """Only lanes behind the end of a row have the padding."""
    before, after = (_READ.format(size=size, padding=each) for each in (0, 7))
    found = _judgement(before, after)
    assert found.verdict != "equivalent"  # of large memory, nothing confirms the difference here
    assert "0 before, 7 after" in found.detail


def test_the_ends_of_static_dimensions() -> None:
    functions = [ProgramReader().read(_READ.format(size=64, padding=0)).functions["f"]]
    assert edges_in(functions) == (55, 56, 57, 63, 64, 65)


def test_sizes_are_few_and_small() -> None:
    text = _FILLED.format(bound="%bound = arith.constant 1000 : index")
    vector = "func.func @g(%x: i32) {\n%v = vector.broadcast %x : i32 to vector<16xi32>\nreturn\n}"
    functions = [
        ProgramReader().read(each).functions[name] for each, name in ((text, "f"), (vector, "g"))
    ]
    assert 1000 in numbers_in(functions)
    assert sizes_in(functions, numbers_in(functions)) == (17, 33)


def test_a_large_size_is_no_size_of_many_dimensions() -> None:
    module = ProgramReader().read("func.func private @f(%m: memref<?x?xi32>, %n: memref<?xi32>)")
    types = module.functions["f"].inputs
    chosen = choose_inputs(types, Choice(sizes=(11, 100)))
    sizes = {
        size
        for _, input in zip(range(64), chosen, strict=False)
        for argument in input.arguments
        if isinstance(argument, View)
        for size in argument.sizes
    }
    assert 11 in sizes
    assert 100 not in sizes


_PLANES = """
func.func @f(%m: memref<?x?x?xi32>, %other: memref<?x?xi32>, %v: i32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.dim %m, %c0 : memref<?x?x?xi32>
  %b = memref.dim %m, %c1 : memref<?x?x?xi32>
  %c = memref.dim %m, %c2 : memref<?x?x?xi32>
  %most = arith.constant 16 : index
  %bound = arith.minsi %{cut}, %{most} : index
  scf.for %i = %c0 to %{first} step %c1 {{
    scf.for %j = %c0 to %{second} step %c1 {{
      scf.for %k = %c0 to %{third} step %c1 {{
        memref.store %v, %m[%i, %j, %k] : memref<?x?x?xi32>
      }}
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize("cut", ["a", "b", "c"])
def test_one_large_size_of_many_dimensions(cut: str) -> None:
    names = {"first": "a", "second": "b", "third": "c"}
    bounds = {name: "bound" if each == cut else each for name, each in names.items()}
    before = _PLANES.format(cut=cut, most=cut, **bounds)
    after = _PLANES.format(cut=cut, most="most", **bounds)
    assert "memory of argument buffer 0" in _judgement(before, after).detail


_CLAMPED = """
#same = affine_map<(d0) -> (d0)>
func.func @f(%t: tensor<64xf32>) -> tensor<64xf32> {{
  %most = arith.constant {} : f32
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {{indexing_maps = [#same, #same], iterator_types = ["parallel"]}}
      ins(%t : tensor<64xf32>) outs(%none : tensor<64xf32>) {{
  ^bb0(%x: f32, %_: f32):
    %is_large = arith.cmpf ogt, %x, %most : f32
    %y = math.tanh %x : f32
    %z = arith.select %is_large, %zero, %y : f32
    linalg.yield %z : f32
  }} -> tensor<64xf32>
  return %r : tensor<64xf32>
}}
"""


def test_the_floats_of_the_program() -> None:
    """The solver knows no tanh."""
    found = _judgement(_CLAMPED.format(97.25), _CLAMPED.format(98.25))
    assert "0.0 before, 1.0 after" in found.detail


@pytest.mark.parametrize("element", ["f32", "i8"])
def test_arguments_and_rows_of_a_first_input_differ(element: str) -> None:
    """Some functions take so long that no other input is run."""
    text = f"func.func private @f(%a: tensor<4x256x{element}>, %b: tensor<4x256x{element}>)"
    types = ProgramReader().read(text).functions["f"].inputs
    first = next(choose_inputs(types, Choice()))
    arrays = [each.values for each in first.arguments if isinstance(each, Array)]
    rows = [values[at : at + 256] for values in arrays for at in range(0, 1024, 256)]
    assert len(set(rows)) == 8


def test_a_large_operand_of_an_unknown_operation() -> None:
    """The results are not computed of all operands each: that took minutes."""
    kind = "tensor<16x16x32xf32>"
    before, after = (
        f"""
func.func @f(%a: {kind}, %b: {kind}) -> {kind} {{
  %r = linalg.softmax dimension(2) ins(%{operand} : {kind}) outs(%a : {kind}) -> {kind}
  return %r : {kind}
}}
"""
        for operand in "ab"
    )
    found = _judgement(before, after)
    assert found.detail == "seems to differ, but nothing is known of linalg.softmax"
    assert found.seconds < 4


_ACTIVATED = """
func.func @f(%v: vector<8xf32>) -> f32 {{
  %sum = vector.reduction <add>, %v fastmath<reassoc> : vector<8xf32> into f32
  %zero = arith.constant 0.0 : f32
  %r = arith.{} %sum, %zero : f32
  return %r : f32
}}
"""


def test_nans_where_the_order_of_sums_is_open() -> None:
    found = _judgement(_ACTIVATED.format("maximumf"), _ACTIVATED.format("maxnumf"))
    assert found.verdict == "unknown"
    assert "make a difference (result 0: nan before, 0.0 after)" in found.detail


_MATRICES = """
func.func @f(%a: tensor<2x4xf32>, %b: tensor<4x2xf32>, %c: tensor<2x2xf32>) -> tensor<2x2xf32> {{
  {}
  %r = linalg.matmul ins(%x, %b : tensor<2x4x{type}>, tensor<4x2xf32>)
    outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}}
"""
_SUM_OF_WHOLES = """
func.func @f(%v: vector<4xf32>) -> i32 {{
  {}
  return %r : i32
}}
"""
_SCALAR = """
func.func @f(%x: f32) -> f32 {{
  {}
  return %r : f32
}}
"""
_TANH = """
  %two = arith.constant 2.0 : f32
  %one = arith.constant 1.0 : f32
  %twice = arith.mulf %x, %two : f32
  %e = math.exp %twice : f32
  %less = arith.subf %e, %one : f32
  %more = arith.addf %e, %one : f32
  %r = arith.divf %less, %more : f32
"""
# The function, and what is in it before and after.
_HIDDEN_BY_SMALL_WHOLE_NUMBERS = {
    "operands lose bits": (
        _MATRICES.replace("{type}", "f32"),
        "%x = tensor.cast %a : tensor<2x4xf32> to tensor<2x4xf32>",
        "%n = arith.truncf %a : tensor<2x4xf32> to tensor<2x4xbf16>\n"
        "%x = arith.extf %n : tensor<2x4xbf16> to tensor<2x4xf32>",
    ),
    "fractions are lost before the sum": (
        _SUM_OF_WHOLES,
        "%s = vector.reduction <add>, %v : vector<4xf32> into f32\n"
        "%r = arith.fptosi %s : f32 to i32",
        "%i = arith.fptosi %v : vector<4xf32> to vector<4xi32>\n"
        "%r = vector.reduction <add>, %i : vector<4xi32> into i32",
    ),
    "an exponential overflows": (_SCALAR, "%r = math.tanh %x : f32", _TANH),
    "a product with zero": (
        _SCALAR,
        "%z = arith.constant 0.0 : f32\n%r = arith.mulf %x, %z fastmath<nsz> : f32",
        "%r = arith.constant 0.0 : f32",
    ),
}


@pytest.mark.parametrize("name", _HIDDEN_BY_SMALL_WHOLE_NUMBERS)
def test_what_small_whole_numbers_hide(name: str) -> None:
    text, *bodies = _HIDDEN_BY_SMALL_WHOLE_NUMBERS[name]
    found = _judgement(*(text.format(each) for each in bodies))
    assert found.verdict != "equivalent"  # without real runs, not every difference is confirmed
    assert " before, " in found.detail


_NARROWED = """
func.func @f(%x: f64) -> {type} {{
  %single = arith.truncf %x : f64 to f32
  %twice = arith.truncf %single : f32 to {type}
  %once = arith.truncf %x : f64 to {type}
  return %{result} : {type}
}}
"""


@pytest.mark.parametrize("type", ["bf16", "f16"])
def test_numbers_that_round_twice(type: str) -> None:
    found = _judgement(*(_NARROWED.format(type=type, result=each) for each in ("twice", "once")))
    assert "result 0: 1.0 before, 1.00" in found.detail


def test_a_proof_says_what_it_assumes_of_indices_in_vectors() -> None:
    lines = "%r = arith.addi %v, %v {} : vector<4xindex>\nreturn %r : vector<4xindex>"
    text = f"func.func @f(%v: vector<4xindex>) -> vector<4xindex> {{{{\n{lines}\n}}}}"
    found = _judgement(text.format(""), text.format("overflow<nsw>"))
    assert found.detail == "proved for indices of 32 bits"


_LAYER = """
#both = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: tensor<32x64xf32>, %b: tensor<64x48xf32>) -> tensor<32x48xf32> {{
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<32x48xf32>
  %o = linalg.fill ins(%zero : f32) outs(%none : tensor<32x48xf32>) -> tensor<32x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x48xf32>)
      outs(%o : tensor<32x48xf32>) -> tensor<32x48xf32>
  %r = linalg.generic {{indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}}
      ins(%p : tensor<32x48xf32>) outs(%none : tensor<32x48xf32>) {{
  ^bb0(%x: f32, %_: f32):
    %y = arith.{} %x, %zero : f32
    linalg.yield %y : f32
  }} -> tensor<32x48xf32>
  return %r : tensor<32x48xf32>
}}
"""


def test_nans_of_a_product_that_is_judged_by_smaller_sizes() -> None:
    found = _judgement(_LAYER.format("maximumf"), _LAYER.format("maxnumf"))
    assert found.verdict == "unknown", found.detail


_HALVES = """
func.func @f(%m: memref<256x{type}>, %o: memref<1x{type}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c256 step %c128 {{
    scf.for %j = %c0 to %c128 step %c1 {{
      %at = arith.addi %{half}, %j : index
      %x = memref.load %m[%at] : memref<256x{type}>
      %y = memref.load %o[%c0] : memref<1x{type}>
      %z = arith.{name} %x, %y : {type}
      memref.store %z, %o[%c0] : memref<1x{type}>
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(("type", "name"), [("f32", "maximumf"), ("i32", "maxsi")])
def test_special_numbers_do_not_hide_all_others(type: str, name: str) -> None:
    before, after = (_HALVES.format(type=type, name=name, half=half) for half in ("i", "c0"))
    assert "memory of argument buffer 1[0]: " in _judgement(before, after).detail


def test_places_of_nothing_with_a_huge_size() -> None:
    """They were listed for each other dimension first, in gigabytes."""
    assert positions((2**62, 0), (1, 1)) == []


_LONG_LOOPS = """
func.func @f(%n: i32, %m: memref<1xi32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %times = arith.constant 30000 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = scf.while (%i = %zero) : (i32) -> i32 {{
    scf.for %k = %c0 to %times step %c1 {{
      %x = memref.load %m[%c0] : memref<1xi32>
      %y = arith.addi %x, %one : i32
      memref.store %y, %m[%c0] : memref<1xi32>
    }}
    %j = arith.addi %i, %one : i32
    %again = arith.cmpi slt, %j, %{end} : i32
    scf.condition(%again) %j : i32
  }} do {{
  ^bb0(%i: i32):
    scf.yield %i : i32
  }}
  return
}}
"""


def test_one_input_shows_little_where_numbers_decide() -> None:
    """The loop ends in time if it runs once."""
    found = _judgement(_LONG_LOOPS.format(end="n"), _LONG_LOOPS.format(end="one"))
    assert found.verdict == "unknown"
    assert found.detail == f"the same on 1 input; {_NO_TIME}"


_NESTED = """
func.func @f(%n: i32, %m: memref<8192xi32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = arith.constant 8192 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^next(%zero : i32)
^next(%i: i32):
  {loops}
    %x = memref.load %m[%c1] : memref<8192xi32>
    %y = arith.addi %x, %one : i32
    memref.store %y, %m[%c1] : memref<8192xi32>
  {ends}
  %j = arith.addi %i, %one : i32
  %again = arith.cmpi {compared} : i32
  cf.cond_br %again, ^next(%j : i32), ^end
^end:
  return
}}
"""


def test_two_inputs_of_smaller_sizes_show_little_where_numbers_decide() -> None:
    depth = 6
    loops = "\n".join(f"scf.for %k{at} = %c0 to %all step %c1 {{" for at in range(depth))
    texts = [
        _NESTED.format(loops=loops, ends="}\n" * depth, compared=each)
        for each in ("slt, %j, %n", "sgt, %n, %j")
    ]
    found = _judgement(*texts, limits=JudgementLimits(seconds=5, steps=1000))
    assert found.verdict == "unknown"
    assert found.detail == f"the same on 2 inputs of smaller sizes; {_NO_TIME}"


_PRODUCT = """
func.func @f(%a: memref<?x?xi32>, %b: memref<?x?xi32>, %o: memref<?x?xi32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.dim %a, %c0 : memref<?x?xi32>
  %k = memref.dim %a, %c1 : memref<?x?xi32>
  %n = memref.dim %b, %c1 : memref<?x?xi32>
  {product}
  return
}}
"""
_NAMED = """
  linalg.matmul ins(%a, %b : memref<?x?xi32>, memref<?x?xi32>) outs(%o : memref<?x?xi32>)
"""
_IN_LOOPS = """
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %l = %c0 to %k step %c1 {
        %x = memref.load %a[%i, %l] : memref<?x?xi32>
        %y = memref.load %b[%l, %j] : memref<?x?xi32>
        %z = memref.load %o[%i, %j] : memref<?x?xi32>
        %p = arith.muli %x, %y : i32
        %s = arith.addi %z, %p : i32
        memref.store %s, %o[%i, %j] : memref<?x?xi32>
      }
    }
  }
"""
_REPEATED = """
func.func @f(%m: memref<?xi32>, %v: i32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %number = arith.constant {number} : index
  %times = arith.constant {times} : index
  %size = memref.dim %m, %c0 : memref<?xi32>
  scf.for %k = %c0 to %times step %c1 {{
    scf.for %i = %c0 to %size step %c1 {{
      scf.for %j = %c0 to %size step %c1 {{
        %at = arith.subi %size, %c1 : index
        memref.store %v, %m[%j] : memref<?xi32>
      }}
    }}
  }}
  return
}}
"""
_LONG = {
    "a product in loops": [_PRODUCT.format(product=each) for each in (_NAMED, _IN_LOOPS)],
    # The run before takes long, too.
    "large sizes": [_REPEATED.format(number=100, times=each) for each in (1, 8)],
    "a run in small tiles": [_REPEATED.format(number=40, times=each) for each in (1, 40)],
}


@pytest.mark.parametrize("inputs", [1, 2])
def test_as_few_inputs_as_were_asked_for_are_no_lack_of_time(inputs: int) -> None:
    limits = JudgementLimits(seconds=5, inputs=inputs)
    found = _judgement(*_LONG["a product in loops"], limits=limits)
    assert (found.verdict, found.inputs) == ("equivalent", inputs)
    assert _NO_TIME not in found.detail


@pytest.mark.parametrize("name", _LONG)
def test_larger_sizes_that_take_too_long_are_left_out(name: str) -> None:
    assert _judgement(*_LONG[name]).verdict == "equivalent"


def test_a_loop_that_ends_for_small_sizes_only() -> None:
    endless = """
  %bound = arith.maxsi %size, %c0 : index
  %most = arith.constant 20 : index
  %is_large = arith.cmpi sgt, %size, %most : index
  scf.while : () -> () {
    scf.condition(%is_large)
  } do {
    scf.yield
  }"""
    found = _judgement(*(_FILLED.format(bound=each) for each in (_WHOLE, endless)))
    assert found.verdict == "unknown"
    assert "after the action, the run takes too many steps" in found.detail


# The first argument has the elements of the second one, without tiles.
_PACKED = """
func.func @f(%from: tensor<?x?xf32>, %to: tensor<?x?x16x1xf32>) -> tensor<?x?x16x1xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %to, %c0 : tensor<?x?x16x1xf32>
  %columns = tensor.dim %to, %c1 : tensor<?x?x16x1xf32>
  %r = scf.for %i = %c0 to %rows step %c1 iter_args(%all = %to) -> (tensor<?x?x16x1xf32>) {{
    %at = affine.apply affine_map<(d0) -> (d0 * {step})>(%i)
    %part = tensor.extract_slice %from[%at, 0] [16, %columns] [1, 1]
        : tensor<?x?xf32> to tensor<16x?xf32>
    %old = tensor.extract_slice %all[%i, 0, 0, 0] [1, %columns, 16, 1] [1, 1, 1, 1]
        : tensor<?x?x16x1xf32> to tensor<1x?x16x1xf32>
    %new = linalg.pack %part inner_dims_pos = [0, 1] inner_tiles = [16, 1] into %old
        : tensor<16x?xf32> -> tensor<1x?x16x1xf32>
    %next = tensor.insert_slice %new into %all[%i, 0, 0, 0] [1, %columns, 16, 1] [1, 1, 1, 1]
        : tensor<1x?x16x1xf32> into tensor<?x?x16x1xf32>
    scf.yield %next : tensor<?x?x16x1xf32>
  }}
  return %r : tensor<?x?x16x1xf32>
}}
"""


def test_a_size_that_is_a_multiple_of_that_of_another_argument() -> None:
    found = _judgement(_PACKED.format(step=16), _PACKED.format(step=15))
    assert found.verdict == "unknown"  # without real runs, nothing confirms the difference
    assert "interpreted to differ (result 0[1," in found.detail


def test_sizes_of_arguments_without_tiles() -> None:
    read = ProgramReader().read(_PACKED.format(step=16))
    chosen = choose_inputs(read.functions["f"].inputs, Choice())
    shapes = {
        tuple(each.shape for each in input.arguments if isinstance(each, Array))
        for input in (next(chosen) for _ in range(48))
        if input.is_larger
    }
    assert {((32, 2), (2, 2, 16, 1)), ((2, 32), (2, 2, 16, 1))} <= shapes
