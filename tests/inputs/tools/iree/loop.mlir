// RUN: iree-compile %s --compile-to=stream
// RUN: iree-opt %s --iree-transformation-pipeline --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx

// A loop that doubles a vector as often as an argument says, and a branch on its end.
func.func @double(%x: tensor<8xf32>, %times: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %doubled = scf.for %i = %c0 to %times step %c1 iter_args(%value = %x) -> tensor<8xf32> {
    %sum = arith.addf %value, %value : tensor<8xf32>
    scf.yield %sum : tensor<8xf32>
  }
  %often = arith.cmpi ugt, %times, %c3 : index
  %result = scf.if %often -> tensor<8xf32> {
    %negative = arith.negf %doubled : tensor<8xf32>
    scf.yield %negative : tensor<8xf32>
  } else {
    scf.yield %doubled : tensor<8xf32>
  }
  return %result : tensor<8xf32>
}
