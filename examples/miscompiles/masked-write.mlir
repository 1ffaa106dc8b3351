// A vector is read from a tensor through a mask, the other lanes get the padding 0, and all
// lanes are written back. Folding takes the two for a copy onto itself and drops both, so the
// padding is never written.
//
// Upstream: https://github.com/llvm/llvm-project/pull/192966
// Command:  mlir-opt masked-write.mlir --canonicalize
// Expected: 7, 0, 9, 0.
// Got:      7, 8, 9, 10.

func.func private @zero_masked(%t: tensor<4xi32>, %mask: vector<4xi1>) -> tensor<4xi32> {
  %start = arith.constant 0 : index
  %padding = arith.constant 0 : i32
  %read = vector.transfer_read %t[%start], %padding, %mask {in_bounds = [true]}
      : tensor<4xi32>, vector<4xi32>
  %written = vector.transfer_write %read, %t[%start] {in_bounds = [true]}
      : vector<4xi32>, tensor<4xi32>
  return %written : tensor<4xi32>
}

func.func @main() {
  %t = arith.constant dense<[7, 8, 9, 10]> : tensor<4xi32>
  %mask = arith.constant dense<[true, false, true, false]> : vector<4xi1>
  %result = call @zero_masked(%t, %mask) : (tensor<4xi32>, vector<4xi1>) -> tensor<4xi32>
  %start = arith.constant 0 : index
  %padding = arith.constant -1 : i32
  %all = vector.transfer_read %result[%start], %padding {in_bounds = [true]}
      : tensor<4xi32>, vector<4xi32>
  vector.print %all : vector<4xi32>
  return
}
