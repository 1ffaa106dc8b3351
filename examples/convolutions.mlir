// Two convolutions with a border of zeros, and one without: tosa-to-linalg-named makes a tensor.pad
// of the border.
func.func @net(%image: tensor<1x8x8x3xf32>) -> (tensor<1x8x8x4xf32>, tensor<1x6x6x4xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %bias = "tosa.const"() <{values = dense<0.5> : tensor<4xf32>}> : () -> tensor<4xf32>
  %first = "tosa.const"() <{values = dense<1.0> : tensor<4x3x3x3xf32>}> : () -> tensor<4x3x3x3xf32>
  %next = "tosa.const"() <{values = dense<2.0> : tensor<4x3x3x4xf32>}> : () -> tensor<4x3x3x4xf32>
  %0 = tosa.conv2d %image, %first, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x4xf32>
  %1 = tosa.conv2d %0, %next, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x4xf32>
  %2 = tosa.conv2d %1, %next, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x4xf32>
  %3 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  return %3, %2 : tensor<1x8x8x4xf32>, tensor<1x6x6x4xf32>
}
