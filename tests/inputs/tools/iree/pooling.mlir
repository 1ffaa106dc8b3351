// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic --compile-to=stream
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --compile-to=hal

// Pooling of an image with padding, then a transposition and a sum over all but the channels.
func.func @pool(%image: tensor<1x14x14x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x14x14x8xf32> to tensor<1x16x16x8xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %empty = tensor.empty() : tensor<1x8x8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %pooled = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%padded, %window : tensor<1x16x16x8xf32>, tensor<2x2xf32>)
      outs(%start : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %turned_empty = tensor.empty() : tensor<8x1x8x8xf32>
  %turned = linalg.transpose ins(%pooled : tensor<1x8x8x8xf32>)
      outs(%turned_empty : tensor<8x1x8x8xf32>) permutation = [3, 0, 1, 2]
  %channels = tensor.empty() : tensor<8xf32>
  %sums = linalg.fill ins(%zero : f32) outs(%channels : tensor<8xf32>) -> tensor<8xf32>
  %result = linalg.reduce { arith.addf } ins(%turned : tensor<8x1x8x8xf32>)
      outs(%sums : tensor<8xf32>) dimensions = [1, 2, 3]
  return %result : tensor<8xf32>
}
