// RUN: iree-opt %s --iree-stablehlo-input-transformation-pipeline

// What JAX and TensorFlow give to IREE.
func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
  %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %relu = stablehlo.maximum %product, %zeros : tensor<4x3xf32>
  %sum = stablehlo.reduce(%relu init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
}
