// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic -o %t
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic --iree-opt-level=O3 --compile-to=hal

// Per row, the sum of squares and the largest value, in one pass over the matrix.
func.func @rows(%matrix: tensor<24x100xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<24xf32>
  %sums = linalg.fill ins(%zero : f32) outs(%empty : tensor<24xf32>) -> tensor<24xf32>
  %tops = linalg.fill ins(%lowest : f32) outs(%empty : tensor<24xf32>) -> tensor<24xf32>
  %both:2 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%matrix : tensor<24x100xf32>) outs(%sums, %tops : tensor<24xf32>, tensor<24xf32>) {
  ^bb0(%x: f32, %sum: f32, %top: f32):
    %square = arith.mulf %x, %x : f32
    %next_sum = arith.addf %sum, %square : f32
    %next_top = arith.maximumf %top, %x : f32
    linalg.yield %next_sum, %next_top : f32, f32
  } -> (tensor<24xf32>, tensor<24xf32>)
  return %both#0, %both#1 : tensor<24xf32>, tensor<24xf32>
}
