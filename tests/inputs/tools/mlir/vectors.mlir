// RUN: mlir-opt %s --convert-vector-to-scf --canonicalize
// RUN: mlir-opt %s --convert-vector-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts
// RUN: mlir-opt %s --canonicalize --cse

func.func @vectors(%m: memref<16x16xf32>, %v: vector<4x4xf32>, %i: index) -> vector<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %read = vector.transfer_read %m[%i, %i], %zero : memref<16x16xf32>, vector<4x4xf32>
  %turned = vector.transpose %read, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
  %back = vector.transpose %turned, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
  %sum = arith.addf %back, %v : vector<4x4xf32>
  %row = vector.extract %sum[1] : vector<4xf32> from vector<4x4xf32>
  %result = vector.insert %row, %sum [2] : vector<4xf32> into vector<4x4xf32>
  vector.transfer_write %result, %m[%i, %i] : vector<4x4xf32>, memref<16x16xf32>
  return %result : vector<4x4xf32>
}
