// RUN: mlir-opt %s --canonicalize
// RUN: mlir-opt %s --fold-memref-alias-ops --canonicalize
// RUN: mlir-opt %s --expand-strided-metadata --finalize-memref-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts
// RUN: mlir-opt %s --mem2reg
// RUN: mlir-opt %s --promote-buffers-to-stack --buffer-hoisting

func.func @window(%m: memref<16x16xf32>, %i: index) -> f32 {
  %c1 = arith.constant 1 : index
  %view = memref.subview %m[%i, 0] [4, 4] [1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
  %value = memref.load %view[%c1, %c1] : memref<4x4xf32, strided<[16, 1], offset: ?>>
  return %value : f32
}

func.func @scratch(%a: i32) -> i32 {
  %cell = memref.alloca() : memref<i32>
  memref.store %a, %cell[] : memref<i32>
  %value = memref.load %cell[] : memref<i32>
  %buffer = memref.alloc() : memref<4xi32>
  %c2 = arith.constant 2 : index
  memref.store %value, %buffer[%c2] : memref<4xi32>
  %result = memref.load %buffer[%c2] : memref<4xi32>
  memref.dealloc %buffer : memref<4xi32>
  return %result : i32
}
