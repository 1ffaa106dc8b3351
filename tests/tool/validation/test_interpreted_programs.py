"""The interpreter prints what MLIR's runner prints."""

from __future__ import annotations

import pytest

from tests.conftest import LIBRARY
from tests.tool.validation.printed import executed, interpreted
from tests.tool.validation.random_programs import join_programs, random_function

BUILDS = LIBRARY

_PROGRAMS = {
    "vectors in memory": """\
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %memory = memref.alloc() : memref<4xvector<2x3xi32>>
  %first = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : vector<2x3xi32>
  scf.for %i = %c0 to %c3 step %c1 {
    memref.store %first, %memory[%i] : memref<4xvector<2x3xi32>>
  }
  %sum = arith.addi %first, %first : vector<2x3xi32>
  memref.store %sum, %memory[%c1] : memref<4xvector<2x3xi32>>
  scf.for %i = %c0 to %c3 step %c1 {
    %loaded = memref.load %memory[%i] : memref<4xvector<2x3xi32>>
    vector.print %loaded : vector<2x3xi32>
  }
  return
}
""",
    "printing": """\
func.func @main() {
  %true = arith.constant true
  %byte = arith.constant -3 : i8
  %index = arith.constant -1 : index
  %half = arith.constant 0.5 : f32
  %double = arith.constant 1.0e+20 : f64
  vector.print %true : i1
  vector.print %byte : i8
  vector.print %index : index
  vector.print %half : f32
  vector.print %double : f64
  vector.print punctuation <open>
  vector.print %byte : i8 punctuation <comma>
  vector.print %byte : i8 punctuation <no_punctuation>
  vector.print punctuation <close>
  vector.print punctuation <newline>
  %row = arith.constant dense<[1.5, -2.0]> : vector<2xf32>
  vector.print %row : vector<2xf32>
  return
}
""",
    "threads that insert slices": """\
func.func @main() {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0 : i32
  %start = arith.constant dense<[10, 20, 30, 40, 50, 60]> : tensor<6xi32>
  %result = scf.forall (%i) = (0) to (6) step (2) shared_outs(%out = %start) -> (tensor<6xi32>) {
    %slice = tensor.extract_slice %out[%i] [2] [1] : tensor<6xi32> to tensor<2xi32>
    %value = tensor.extract %slice[%c0] : tensor<2xi32>
    %number = arith.index_cast %i : index to i32
    %sum = arith.addi %value, %number : i32
    %new = tensor.insert %sum into %slice[%c0] : tensor<2xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %new into %out[%i] [2] [1] : tensor<2xi32> into tensor<6xi32>
    }
  }
  %read = vector.transfer_read %result[%c0], %pad : tensor<6xi32>, vector<6xi32>
  vector.print %read : vector<6xi32>
  return
}
""",
    "affine vectors": """\
func.func @main() {
  %memory = memref.alloc() : memref<3x8xi32>
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 8 {
      %number = affine.apply affine_map<(d0, d1) -> (d0 * 10 + d1)>(%i, %j)
      %value = arith.index_cast %number : index to i32
      affine.store %value, %memory[%i, %j] : memref<3x8xi32>
    }
  }
  affine.for %i = 0 to 2 {
    %row = affine.vector_load %memory[%i + 1, %i * 2 + 1] : memref<3x8xi32>, vector<4xi32>
    vector.print %row : vector<4xi32>
    affine.vector_store %row, %memory[%i, 4] : memref<3x8xi32>, vector<4xi32>
  }
  affine.for %i = 0 to 3 {
    %row = affine.vector_load %memory[%i, 0] : memref<3x8xi32>, vector<8xi32>
    vector.print %row : vector<8xi32>
  }
  return
}
""",
    "strides, offsets and bases": """\
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %memory = memref.alloc() : memref<6x5xi32>
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 5 {
      %number = affine.apply affine_map<(d0, d1) -> (d0 * 5 + d1)>(%i, %j)
      %value = arith.index_cast %number : index to i32
      affine.store %value, %memory[%i, %j] : memref<6x5xi32>
    }
  }
  %window = memref.subview %memory[%c1, 2] [2, 2] [2, %c1]
    : memref<6x5xi32> to memref<2x2xi32, strided<[10, ?], offset: ?>>
  %row = memref.subview %window[1, 0] [1, 2] [1, 1] : memref<2x2xi32, strided<[10, ?], offset: ?>>
    to memref<2xi32, strided<[?], offset: ?>>
  %base, %offset, %size, %stride = memref.extract_strided_metadata %row
    : memref<2xi32, strided<[?], offset: ?>> -> memref<i32>, index, index, index
  vector.print %offset : index
  vector.print %size : index
  %again = memref.reinterpret_cast %base to offset: [%offset], sizes: [2], strides: [3]
    : memref<i32> to memref<2xi32, strided<[3], offset: ?>>
  %first = memref.load %row[%c1] : memref<2xi32, strided<[?], offset: ?>>
  %second = memref.load %again[%c1] : memref<2xi32, strided<[3], offset: ?>>
  vector.print %first : i32
  vector.print %second : i32
  %shape = memref.alloc() : memref<2xi32>
  %ten = arith.constant 10 : i32
  %three = arith.constant 3 : i32
  memref.store %ten, %shape[%c0] : memref<2xi32>
  memref.store %three, %shape[%c1] : memref<2xi32>
  %tall = memref.reshape %memory(%shape) : (memref<6x5xi32>, memref<2xi32>) -> memref<?x?xi32>
  %rows = memref.dim %tall, %c0 : memref<?x?xi32>
  %item = memref.load %tall[%c1, %c1] : memref<?x?xi32>
  vector.print %rows : index
  vector.print %item : i32
  return
}
""",
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_programs_print_the_same(mlir_opt: str, name: str) -> None:
    printed = executed(_PROGRAMS[name], mlir_opt)
    assert printed.strip()
    assert interpreted(_PROGRAMS[name]) == printed


@pytest.mark.parametrize("first", [0, 1000])
def test_random_programs_print_the_same(mlir_opt: str, first: int) -> None:
    text = join_programs([random_function(seed) for seed in range(first, first + 8)])
    printed = executed(text, mlir_opt)
    assert len(printed.splitlines()) > 50
    assert interpreted(text) == printed
