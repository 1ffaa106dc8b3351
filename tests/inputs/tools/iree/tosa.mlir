// RUN: iree-opt %s --iree-tosa-input-transformation-pipeline

// What TFLite gives to IREE: a sigmoid of a sum.
func.func @sum(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %sum = tosa.add %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %soft = tosa.sigmoid %sum : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %powers = tosa.exp %soft : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %result = tosa.maximum %powers, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %result : tensor<4x4xf32>
}
