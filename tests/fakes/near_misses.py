"""Inputs with one success of a pattern, or two, and failures that are near to it.

The failure in the line that ends in ``// here`` is due to the precondition alone.
"""

from __future__ import annotations

from tests.fakes.silent_patterns import Case

_BOTH = (
    "the operand of the definer of operand 0 and the operand of the definer of operand 1 are the "
    "same value"
)
_YIELDED = (
    "the value that the region yields and operand 0 of the definer of the operand are the same "
    "value"
)

NEAR_MISSES = (
    Case(
        "FoldWaw",
        ("--canonicalize",),
        "the indices are those of the write that made the tensor",
        frozenset(
            [
                "operand 2 and operand 2 of the definer of operand 1 are the same value",
                "the operation and the definer of operand 1 have the same operands of type index",
            ]
        ),
        """\
func.func @f(%t: tensor<4x4xf32>, %u: tensor<4x4xf32>, %v: vector<1x4xf32>, %w:
      vector<1x4xf32>, %i: index) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = vector.transfer_write %v, %t[%c1, %c0] {in_bounds = [true, true]} :
      vector<1x4xf32>, tensor<4x4xf32>
  %1 = vector.transfer_write %w, %0[%c1, %c0] {in_bounds = [true, true]} :
      vector<1x4xf32>, tensor<4x4xf32>
  %2 = vector.transfer_write %v, %u[%c1, %c0] {in_bounds = [true, true]} :
      vector<1x4xf32>, tensor<4x4xf32>
  %3 = vector.transfer_write %w, %2[%i, %c0] {in_bounds = [true, true]} : // here
      vector<1x4xf32>, tensor<4x4xf32>
  return %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}
""",
    ),
    Case(
        "FoldWaw",
        ("--canonicalize",),
        "the same, where no index is a constant",
        frozenset(
            ["the operation and the definer of operand 1 have the same operands of type index"]
        ),
        """\
func.func @f(%t: tensor<4x4xf32>, %u: tensor<4x4xf32>, %v: vector<1x4xf32>, %w:
      vector<1x4xf32>, %i: index, %j: index) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %0 = vector.transfer_write %v, %t[%i, %j] : vector<1x4xf32>, tensor<4x4xf32>
  %1 = vector.transfer_write %w, %0[%i, %j] : vector<1x4xf32>, tensor<4x4xf32>
  %2 = vector.transfer_write %v, %u[%i, %j] : vector<1x4xf32>, tensor<4x4xf32>
  %3 = vector.transfer_write %w, %2[%j, %i] : vector<1x4xf32>, tensor<4x4xf32> // here
  return %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}
""",
    ),
    Case(
        "FoldWaw",
        ("--canonicalize",),
        "the same, where one index is another",
        frozenset(
            [
                "operand 3 and operand 3 of the definer of operand 1 are the same value",
                "the operation and the definer of operand 1 have the same operands of type index",
            ]
        ),
        """\
func.func @f(%t: tensor<?x?xf32>, %u: tensor<?x?xf32>, %v: vector<4xf32>, %i: index, %j:
      index, %k: index, %z: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>,
      tensor<?x?xf32>) {
  %0 = vector.transfer_write %v, %t[%i, %j] : vector<4xf32>, tensor<?x?xf32>
  %1 = vector.transfer_write %v, %0[%i, %j] : vector<4xf32>, tensor<?x?xf32>
  %2 = vector.transfer_write %v, %u[%i, %j] : vector<4xf32>, tensor<?x?xf32>
  %3 = vector.transfer_write %v, %2[%i, %k] : vector<4xf32>, tensor<?x?xf32> // here
  %4 = vector.transfer_write %v, %z[%i, %j] : vector<4xf32>, tensor<?x?xf32>
  return %1, %3, %4 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
""",
    ),
    Case(
        "TransferReadAfterWriteToBroadcast",
        ("--canonicalize",),
        "the indices are those of the write, where one index of the write is another",
        frozenset(
            ["the operation and the definer of operand 0 have the same operands of type index"]
        ),
        """\
func.func @f(%t: tensor<4x4xf32>, %u: tensor<4x4xf32>, %v: vector<4x2xf32>, %i: index) ->
      (vector<4x2x6xf32>, vector<4x2x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %0 = vector.transfer_write %v, %t[%c0, %c0] {in_bounds = [true, true]} :
      vector<4x2xf32>, tensor<4x4xf32>
  %1 = vector.transfer_read %0[%c0, %c0], %z {in_bounds = [true, true, true],
      permutation_map = affine_map<(d0, d1) -> (d0, d1, 0)>} : tensor<4x4xf32>, vector<4x2x6xf32>
  %2 = vector.transfer_write %v, %u[%c0, %i] {in_bounds = [true, true]} :
      vector<4x2xf32>, tensor<4x4xf32>
  %3 = vector.transfer_read %2[%c0, %c0], %z {in_bounds = [true, true, true], // here
      permutation_map = affine_map<(d0, d1) -> (d0, d1, 0)>} : tensor<4x4xf32>, vector<4x2x6xf32>
  return %1, %3 : vector<4x2x6xf32>, vector<4x2x6xf32>
}
""",
    ),
    Case(
        "TransferReadAfterWriteToBroadcast",
        ("--canonicalize",),
        "the same, where one index of the read is another",
        frozenset(
            [
                "operand 1 and operand 2 of the definer of operand 0 are the same value",
                "the operation and the definer of operand 0 have the same operands of type index",
            ]
        ),
        """\
func.func @f(%t: tensor<4x4xf32>, %u: tensor<4x4xf32>, %v: vector<4x2xf32>, %i: index) ->
      (vector<4x2x6xf32>, vector<4x2x6xf32>, vector<4x2x6xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %0 = vector.transfer_write %v, %t[%c0, %c0] {in_bounds = [true, true]} :
      vector<4x2xf32>, tensor<4x4xf32>
  %1 = vector.transfer_read %0[%c0, %c0], %z {in_bounds = [true, true, true],
      permutation_map = affine_map<(d0, d1) -> (d0, d1, 0)>} : tensor<4x4xf32>, vector<4x2x6xf32>
  %3 = vector.transfer_read %0[%i, %c0], %z {in_bounds = [true, true, true], // here
      permutation_map = affine_map<(d0, d1) -> (d0, d1, 0)>} : tensor<4x4xf32>, vector<4x2x6xf32>
  %4 = vector.transfer_read %u[%c0, %c0], %z {in_bounds = [true, true, true],
      permutation_map = affine_map<(d0, d1) -> (d0, d1, 0)>} : tensor<4x4xf32>, vector<4x2x6xf32>
  return %1, %3, %4 : vector<4x2x6xf32>, vector<4x2x6xf32>, vector<4x2x6xf32>
}
""",
    ),
    Case(
        "FoldInsertStridedSliceOfExtract",
        ("--canonicalize",),
        "the vector is that from which the slice was extracted",
        frozenset(["the operand of the definer of operand 0 and operand 1 are the same value"]),
        """\
func.func @f(%v: vector<8x16xf32>, %w: vector<8x16xf32>, %s: vector<8x4xf32>) ->
      (vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>) {
  %0 = vector.extract_strided_slice %v {offsets = [0, 2], sizes = [8, 4], strides = [1,
      1]} : vector<8x16xf32> to vector<8x4xf32>
  %1 = vector.insert_strided_slice %0, %v {offsets = [0, 2], strides = [1, 1]} :
      vector<8x4xf32> into vector<8x16xf32>
  %2 = vector.insert_strided_slice %0, %w {offsets = [0, 2], strides = [1, 1]} : // here
      vector<8x4xf32> into vector<8x16xf32>
  %3 = vector.insert_strided_slice %s, %v {offsets = [0, 2], strides = [1, 1]} :
      vector<8x4xf32> into vector<8x16xf32>
  return %1, %2, %3 : vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>
}
""",
    ),
    Case(
        "FoldInsertStridedSliceOfExtract",
        ("--canonicalize",),
        "the offsets are those of the extraction",
        frozenset(
            ["the attributes offsets of the operation and of the definer of operand 0 are equal"]
        ),
        """\
func.func @f(%v: vector<8x16xf32>, %w: vector<8x16xf32>, %s: vector<8x4xf32>) ->
      (vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>) {
  %0 = vector.extract_strided_slice %v {offsets = [0, 2], sizes = [8, 4], strides = [1,
      1]} : vector<8x16xf32> to vector<8x4xf32>
  %1 = vector.insert_strided_slice %0, %v {offsets = [0, 2], strides = [1, 1]} :
      vector<8x4xf32> into vector<8x16xf32>
  %2 = vector.insert_strided_slice %0, %v {offsets = [0, 4], strides = [1, 1]} : // here
      vector<8x4xf32> into vector<8x16xf32>
  %3 = vector.insert_strided_slice %s, %v {offsets = [0, 2], strides = [1, 1]} :
      vector<8x4xf32> into vector<8x16xf32>
  return %1, %2, %3 : vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>
}
""",
    ),
    Case(
        "ShuffleSplat",
        ("--canonicalize",),
        "both vectors are splats of one scalar",
        frozenset([_BOTH]),
        """\
func.func @f(%x: f32, %y: f32, %v: vector<4xf32>) -> (vector<8xf32>, vector<8xf32>,
      vector<8xf32>) {
  %0 = vector.broadcast %x : f32 to vector<4xf32>
  %1 = vector.broadcast %x : f32 to vector<4xf32>
  %2 = vector.shuffle %0, %1 [0, 4, 1, 5, 2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
  %3 = vector.broadcast %y : f32 to vector<4xf32>
  %4 = vector.shuffle %0, %3 [0, 4, 1, 5, 2, 6, 3, 7] : vector<4xf32>, vector<4xf32> // here
  %5 = vector.shuffle %0, %v [0, 4, 1, 5, 2, 6, 3, 7] : vector<4xf32>, vector<4xf32>
  return %2, %4, %5 : vector<8xf32>, vector<8xf32>, vector<8xf32>
}
""",
    ),
    Case(
        "InsertSplatToSplat",
        ("--canonicalize",),
        "both vectors are splats of one scalar",
        frozenset([_BOTH]),
        """\
func.func @f(%x: f32, %y: f32, %v: vector<4xf32>, %i: index) -> (vector<2x4xf32>,
      vector<2x4xf32>, vector<2x4xf32>) {
  %0 = vector.broadcast %x : f32 to vector<2x4xf32>
  %1 = vector.broadcast %x : f32 to vector<4xf32>
  %2 = vector.insert %1, %0 [%i] : vector<4xf32> into vector<2x4xf32>
  %3 = vector.broadcast %y : f32 to vector<4xf32>
  %4 = vector.insert %3, %0 [%i] : vector<4xf32> into vector<2x4xf32> // here
  %5 = vector.insert %v, %0 [%i] : vector<4xf32> into vector<2x4xf32>
  return %2, %4, %5 : vector<2x4xf32>, vector<2x4xf32>, vector<2x4xf32>
}
""",
    ),
    Case(
        "FoldFillWithPad",
        ("--canonicalize",),
        "the padding is the value of the fill",
        frozenset([_YIELDED]),
        """\
func.func @f(%t: tensor<4xf32>, %u: tensor<4xf32>, %x: f32, %y: f32) -> (tensor<8xf32>,
      tensor<8xf32>, tensor<8xf32>) {
  %0 = linalg.fill ins(%x : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %1 = tensor.pad %0 low[2] high[2] { ^bb0(%i: index): tensor.yield %x : f32 } :
      tensor<4xf32> to tensor<8xf32>
  %2 = tensor.pad %0 low[2] high[2] { ^bb0(%i: index): tensor.yield %y : f32 } : // here
      tensor<4xf32> to tensor<8xf32>
  %3 = tensor.pad %u low[2] high[2] { ^bb0(%i: index): tensor.yield %x : f32 } :
      tensor<4xf32> to tensor<8xf32>
  return %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
""",
    ),
    Case(
        "FoldEmptyTensorWithDimOp",
        ("--canonicalize",),
        "the index is a constant",
        frozenset(["operand 1 is a constant"]),
        """\
func.func @f(%n: index, %k: index, %b: tensor<?x?xf32>) -> (index, index, index) {
  %c1 = arith.constant 1 : index
  %0 = tensor.empty(%n, %k) : tensor<?x?xf32>
  %1 = tensor.dim %0, %c1 : tensor<?x?xf32>
  %2 = tensor.dim %0, %k : tensor<?x?xf32> // here
  %3 = tensor.dim %b, %c1 : tensor<?x?xf32>
  return %1, %2, %3 : index, index, index
}
""",
    ),
    Case(
        "InsertSliceOpCastFolder<mlir::tensor::InsertSliceOp*",
        ("--canonicalize",),
        "the source or the destination is defined by tensor.cast",
        frozenset(["operand 0 is defined by tensor.cast"]),
        """\
func.func @f(%a: tensor<4x4xf32>, %b: tensor<8x8xf32>, %s: tensor<?x?xf32>, %n: index) ->
      (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = tensor.cast %a : tensor<4x4xf32> to tensor<?x?xf32>
  %1 = tensor.insert_slice %0 into %b[0, 0] [%n, %n] [1, 1] : tensor<?x?xf32> into tensor<8x8xf32>
  %2 = tensor.insert_slice %s into %b[0, 0] [%n, %n] [1, 1] : tensor<?x?xf32> into // here
      tensor<8x8xf32>
  %e = math.exp %s : tensor<?x?xf32>
  %3 = tensor.insert_slice %e into %b[0, 0] [%n, %n] [1, 1] : tensor<?x?xf32> into tensor<8x8xf32>
  return %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
""",
    ),
    Case(
        "FoldTargetTensorCast",
        ("--canonicalize",),
        "the result is cast",
        frozenset(["all users of the result are tensor.cast"]),
        """\
func.func private @use(tensor<?x?xf32>)
func.func @f(%a: tensor<?x?xf32>, %x: f32, %n: index) -> (tensor<4x6xf32>, tensor<?x?xf32>) {
  %0 = tensor.pad %a low[0, 1] high[0, %n] { ^bb0(%i: index, %j: index): tensor.yield %x
      : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<4x6xf32>
  %2 = tensor.pad %a low[0, 1] high[0, %n] { ^bb0(%i: index, %j: index): tensor.yield %x // here
      : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  call @use(%2) : (tensor<?x?xf32>) -> ()
  return %1, %2 : tensor<4x6xf32>, tensor<?x?xf32>
}
""",
    ),
    Case(
        "CollapseShapeOpMemRefCastFolder",
        ("--canonicalize",),
        "the source is defined by memref.cast",
        frozenset(["the operand is defined by memref.cast"]),
        """\
func.func private @use(memref<?xf32>)
func.func private @make() -> memref<?x?xf32>
func.func @f(%a: memref<4x6xf32>, %b: memref<?x?xf32>) {
  %0 = memref.cast %a : memref<4x6xf32> to memref<?x?xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  call @use(%1) : (memref<?xf32>) -> ()
  %2 = memref.collapse_shape %b [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  call @use(%2) : (memref<?xf32>) -> ()
  %3 = call @make() : () -> memref<?x?xf32>
  %4 = memref.collapse_shape %3 [[0, 1]] : memref<?x?xf32> into memref<?xf32> // here
  call @use(%4) : (memref<?xf32>) -> ()
  return
}
""",
    ),
    Case(
        "TrivialSubViewOpFolder",
        ("--canonicalize",),
        "offsets are 0, strides are 1, and sizes are those of the source",
        frozenset(["the shapes of the operand and the result are equal"]),
        """\
func.func private @use(memref<4x6xf32, strided<[6, 1]>>)
func.func private @use2(memref<3x6xf32, strided<[6, 1]>>)
func.func private @use3(memref<4x6xf32, strided<[12, 1]>>)
func.func @f(%a: memref<4x6xf32>, %b: memref<4x12xf32>) {
  %0 = memref.subview %a[0, 0] [4, 6] [1, 1] : memref<4x6xf32> to memref<4x6xf32, strided<[6, 1]>>
  call @use(%0) : (memref<4x6xf32, strided<[6, 1]>>) -> ()
  %1 = memref.subview %a[0, 0] [3, 6] [1, 1] : memref<4x6xf32> to memref<3x6xf32, // here
      strided<[6, 1]>>
  call @use2(%1) : (memref<3x6xf32, strided<[6, 1]>>) -> ()
  %2 = memref.subview %b[0, 0] [4, 6] [1, 1] : memref<4x12xf32> to memref<4x6xf32,
      strided<[12, 1]>>
  call @use3(%2) : (memref<4x6xf32, strided<[12, 1]>>) -> ()
  return
}
""",
    ),
    Case(
        "ParallelOpSingleOrZeroIterationDimsFolder",
        ("--canonicalize",),
        "the bounds are constants",
        frozenset(["operand 1 is a constant"]),
        """\
func.func @f(%a: memref<8xf32>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%c1) step (%c1) { memref.store %x, %a[%i] : memref<8xf32> }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) { memref.store %x, %a[%i] : memref<8xf32> } // here
  return
}
""",
    ),
    Case(
        "CombineIfs",
        ("--canonicalize",),
        "the operation before it has the same condition",
        frozenset(["the operand is an operand of the operation before it too"]),
        """\
func.func private @a()
func.func private @b()
func.func @f(%p: i1, %q: i1) {
  scf.if %p { func.call @a() : () -> () }
  scf.if %p { func.call @b() : () -> () }
  call @a() : () -> ()
  scf.if %p { func.call @a() : () -> () }
  scf.if %q { func.call @b() : () -> () } // here
  return
}
""",
    ),
    Case(
        "FoldFillWithTranspose",
        ("--canonicalize",),
        "the source is defined by linalg.fill",
        frozenset(["operand 0 is defined by linalg.fill"]),
        """\
func.func @f(%t: tensor<3x4xf32>, %o: tensor<4x3xf32>, %x: f32, %y: f32, %b:
      tensor<3x4xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
  %0 = linalg.fill ins(%x : f32) outs(%t : tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = linalg.transpose ins(%0 : tensor<3x4xf32>) outs(%o : tensor<4x3xf32>) permutation = [1, 0]
  %c = arith.constant 1.0 : f32
  %2 = linalg.fill ins(%c : f32) outs(%t : tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = linalg.transpose ins(%2 : tensor<3x4xf32>) outs(%o : tensor<4x3xf32>) permutation = [1, 0]
  %4 = linalg.copy ins(%b : tensor<3x4xf32>) outs(%t : tensor<3x4xf32>) -> tensor<3x4xf32>
  %5 = linalg.transpose ins(%4 : tensor<3x4xf32>) outs(%o : tensor<4x3xf32>) permutation // here
      = [1, 0]
  return %1, %3, %5 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
}
""",
    ),
)
