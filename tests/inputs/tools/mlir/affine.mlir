// RUN: mlir-opt %s --pass-pipeline=builtin.module(func.func(affine-loop-unroll{unroll-factor=4}))
// RUN: mlir-opt %s --affine-loop-fusion --affine-scalrep
// RUN: mlir-opt %s --affine-super-vectorize=virtual-vector-size=8
// RUN: mlir-opt %s --lower-affine --canonicalize
// RUN: mlir-opt %s --affine-loop-tile=tile-size=4 --affine-simplify-structures

func.func @nest(%a: memref<16x16xf32>, %b: memref<16x16xf32>) {
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 16 {
      %x = affine.load %a[%i, %j] : memref<16x16xf32>
      %y = arith.mulf %x, %x : f32
      affine.store %y, %b[%i, %j] : memref<16x16xf32>
    }
  }
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 16 {
      %x = affine.load %b[%i, %j] : memref<16x16xf32>
      %y = arith.addf %x, %x : f32
      affine.store %y, %b[%j, %i] : memref<16x16xf32>
    }
  }
  return
}
