"""Functions on vectors, tensors and memory that a solver tells from each other."""

from __future__ import annotations

import pytest

from actiondbg.validation.program_reader import ProgramReader
from actiondbg.validation.proof.refinement import NotProved, Proved, Refuted, prove

pytest.importorskip("bitwuzla")

pytestmark = pytest.mark.unit

CONTRACT = """func.func @f(%a: vector<2x2xTYPE>, %b: vector<2xTYPE>, %c: vector<2xTYPE>)
    -> vector<2xTYPE> {
  %r = vector.contract {
    indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k)>,
                     affine_map<(i, k) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } %a, %b, %c : vector<2x2xTYPE>, vector<2xTYPE> into vector<2xTYPE>
  return %r : vector<2xTYPE>
}"""
OUTER = """func.func @f(%a: vector<2x2xTYPE>, %b: vector<2xTYPE>, %c: vector<2xTYPE>)
    -> vector<2xTYPE> {
  %t = vector.transpose %a, [1, 0] : vector<2x2xTYPE> to vector<2x2xTYPE>
  %a0 = vector.extract %t[0] : vector<2xTYPE> from vector<2x2xTYPE>
  %a1 = vector.extract %t[1] : vector<2xTYPE> from vector<2x2xTYPE>
  %b0 = vector.extract %b[0] : TYPE from vector<2xTYPE>
  %b1 = vector.extract %b[1] : TYPE from vector<2xTYPE>
  %r0 = vector.outerproduct %a0, %b0, %c : vector<2xTYPE>, TYPE
  %r = vector.outerproduct %a1, %b1, %r0 : vector<2xTYPE>, TYPE
  return %r : vector<2xTYPE>
}"""
READ = """func.func @f(%m: memref<4xi32>, %i: index, %p: i32) -> vector<2xi32> {
  %r = vector.transfer_read %m[%i], %pBOUNDS : memref<4xi32>, vector<2xi32>
  return %r : vector<2xi32>
}"""
CHECKED = """func.func @f(%m: memref<4xi32>, %i: index, %p: i32) -> vector<2xi32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %j = arith.addi %i, %c1 : index
  %in0 = arith.cmpi slt, %i, %c4 : index
  %in1 = arith.cmpi slt, %j, %c4 : index
  %x = scf.if %in0 -> i32 {
    %l = memref.load %m[%i] : memref<4xi32>
    scf.yield %l : i32
  } else {
    scf.yield %p : i32
  }
  %y = scf.if %in1 -> i32 {
    %l = memref.load %m[%j] : memref<4xi32>
    scf.yield %l : i32
  } else {
    scf.yield %p : i32
  }
  %r = vector.from_elements %x, %y : vector<2xi32>
  return %r : vector<2xi32>
}"""
MASKED = """func.func @f(%v: vector<2xi32>, %k: vector<2xi1>) -> i32 {
  %r = vector.mask %k { vector.reduction <add>, %v : vector<2xi32> into i32 }
    : vector<2xi1> -> i32
  return %r : i32
}"""


def verdict(before: str, after: str) -> Proved | Refuted | NotProved:
    reader = ProgramReader()
    return prove(reader.read(before), reader.read(after), "f")


def test_contraction_of_integers_is_the_sum_of_outer_products() -> None:
    before, after = (text.replace("TYPE", "i16") for text in (CONTRACT, OUTER))
    swapped = after.replace("%a1, %b1, %r0", "%a0, %b1, %r0")
    assert isinstance(verdict(before, after), Proved)
    assert isinstance(verdict(before, swapped), Refuted)


def test_contraction_of_floats_leaves_open_how_it_rounds() -> None:
    before, after = (text.replace("TYPE", "f32") for text in (CONTRACT, OUTER))
    assert isinstance(verdict(before, after), NotProved)
    assert isinstance(verdict(before, before), Proved)


def test_transfer_is_a_load_of_each_element_that_is_in_memory() -> None:
    before = READ.replace("BOUNDS", "")
    wrong = CHECKED.replace("slt, %j, %c4", "sle, %j, %c4")
    assert isinstance(verdict(before, CHECKED), Proved)
    assert isinstance(verdict(before, wrong), Refuted)


def test_promise_of_bounds_may_only_be_forgotten() -> None:
    free, promised = (READ.replace("BOUNDS", text) for text in ("", " {in_bounds = [true]}"))
    assert isinstance(verdict(promised, free), Proved)
    assert isinstance(verdict(free, promised), Refuted)


def test_masked_reduction_of_no_lanes_is_open() -> None:
    found = verdict(MASKED, MASKED)
    assert isinstance(found, NotProved)
    assert "no lanes" in found.reason


PACK = """func.func @f(%t: tensor<3x2xi8>, %p: i8) -> tensor<2x2x2xi8> {
  %e = tensor.empty() : tensor<2x2x2xi8>
  %r = linalg.pack %t padding_value(%p : i8) outer_dims_perm = [1, 0]
    inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<3x2xi8> -> tensor<2x2x2xi8>
  return %r : tensor<2x2x2xi8>
}"""
BY_HAND = """func.func @f(%t: tensor<3x2xi8>, %p: i8) -> tensor<2x2x2xi8> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tensor.extract %t[%c0, %c0] : tensor<3x2xi8>
  %b = tensor.extract %t[%c1, %c0] : tensor<3x2xi8>
  %c = tensor.extract %t[%c2, %c0] : tensor<3x2xi8>
  %d = tensor.extract %t[%c0, %c1] : tensor<3x2xi8>
  %e = tensor.extract %t[%c1, %c1] : tensor<3x2xi8>
  %f = tensor.extract %t[%c2, %c1] : tensor<3x2xi8>
  %r = tensor.from_elements %a, %b, %c, %p, %d, %e, %f, %p : tensor<2x2x2xi8>
  return %r : tensor<2x2x2xi8>
}"""
UNPACK = """func.func @f(%t: tensor<2x2x2xi8>) -> tensor<3x2xi8> {
  %e = tensor.empty() : tensor<3x2xi8>
  %r = linalg.unpack %t outer_dims_perm = [1, 0] inner_dims_pos = [0] inner_tiles = [2]
    into %e : tensor<2x2x2xi8> -> tensor<3x2xi8>
  return %r : tensor<3x2xi8>
}"""
UNPACKED_BY_HAND = """func.func @f(%t: tensor<2x2x2xi8>) -> tensor<3x2xi8> {
  %0 = tensor.extract_slice %t[0, 0, 0] [2, 2, 1] [1, 1, 1]
    : tensor<2x2x2xi8> to tensor<2x2xi8>
  %1 = tensor.extract_slice %t[0, 0, 1] [2, 1, 1] [1, 1, 1] : tensor<2x2x2xi8> to tensor<2xi8>
  %e = tensor.empty() : tensor<3x2xi8>
  %a = tensor.extract_slice %0[0, 0] [2, 1] [1, 1] : tensor<2x2xi8> to tensor<2xi8>
  %b = tensor.extract_slice %0[0, 1] [2, 1] [1, 1] : tensor<2x2xi8> to tensor<2xi8>
  %f = tensor.insert_slice %a into %e[0, 0] [1, 2] [1, 1] : tensor<2xi8> into tensor<3x2xi8>
  %g = tensor.insert_slice %1 into %f[1, 0] [1, 2] [1, 1] : tensor<2xi8> into tensor<3x2xi8>
  %r = tensor.insert_slice %b into %g[2, 0] [1, 2] [1, 1] : tensor<2xi8> into tensor<3x2xi8>
  return %r : tensor<3x2xi8>
}"""


def test_packing_puts_elements_into_tiles_and_pads_the_last() -> None:
    assert isinstance(verdict(PACK, BY_HAND), Proved)
    assert isinstance(verdict(PACK, BY_HAND.replace("%c, %p, %d", "%p, %c, %d")), Refuted)


def test_unpacking_takes_elements_out_of_tiles() -> None:
    assert isinstance(verdict(UNPACK, UNPACKED_BY_HAND), Proved)
    assert isinstance(verdict(UNPACK, UNPACKED_BY_HAND.replace("%1 into", "%a into")), Refuted)


COMPLEX = """func.func @f(%a: i1, %x: f32, %y: f32) -> (f32, f32) {
  %u = complex.create %x, %y : complex<f32>
  %v = complex.create %y, %x : complex<f32>
  %w = arith.select %a, %u, %v : complex<f32>
  %r = complex.re %w : complex<f32>
  %i = complex.im %w : complex<f32>
  return %r, %i : f32, f32
}"""
PARTS = """func.func @f(%a: i1, %x: f32, %y: f32) -> (f32, f32) {
  %r = arith.select %a, %x, %y : f32
  %i = arith.select %a, %y, %x : f32
  return %r, %i : f32, f32
}"""


def test_complex_numbers_are_pairs() -> None:
    assert isinstance(verdict(COMPLEX, PARTS), Proved)
    assert isinstance(verdict(COMPLEX, PARTS.replace("%r, %i : f32", "%i, %r : f32")), Refuted)
