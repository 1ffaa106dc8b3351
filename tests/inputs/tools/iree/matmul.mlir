// RUN: iree-opt %s --iree-global-optimization-transformation-pipeline --iree-dispatch-creation-pipeline --iree-flow-transformation-pipeline
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu -o %t

// A layer with static shapes: a matrix product, a bias for each column, and a ReLU.
func.func @layer(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>, %bias: tensor<48xf32>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty() : tensor<32x48xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%init : tensor<32x48xf32>) -> tensor<32x48xf32>
  %product = linalg.matmul ins(%x, %w : tensor<32x64xf32>, tensor<64x48xf32>) outs(%filled : tensor<32x48xf32>) -> tensor<32x48xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%product, %bias : tensor<32x48xf32>, tensor<48xf32>) outs(%init : tensor<32x48xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %sum = arith.addf %a, %b : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<32x48xf32>
  return %result : tensor<32x48xf32>
}
