func.func @conv(%a: tensor<1x5x5x?xf32>, %w: tensor<2x3x3x4xf32>, %b: tensor<2xf32>,
                %zp: tensor<1xf32>) -> tensor<1x?x?x2xf32> {
  %0 = tosa.depthwise_conv2d %a, %w, %b, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>,
    pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
    : (tensor<1x5x5x?xf32>, tensor<2x3x3x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<1x?x?x2xf32>
  return %0 : tensor<1x?x?x2xf32>
}
