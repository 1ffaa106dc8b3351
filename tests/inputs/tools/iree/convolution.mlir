// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-to=executable-configurations
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic --compile-to=hal

// A convolution with a stride, then the sum over each picture.
func.func @pictures(%picture: tensor<1x17x17x8xf32>, %filter: tensor<3x3x8x16xf32>) -> tensor<1x16xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty() : tensor<1x8x8x16xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%init : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%picture, %filter : tensor<1x17x17x8xf32>, tensor<3x3x8x16xf32>) outs(%filled : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %sums = tensor.empty() : tensor<1x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%sums : tensor<1x16xf32>) -> tensor<1x16xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, c)>],
    iterator_types = ["parallel", "reduction", "reduction", "parallel"]
  } ins(%conv : tensor<1x8x8x16xf32>) outs(%start : tensor<1x16xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %next = arith.addf %a, %sum : f32
    linalg.yield %next : f32
  } -> tensor<1x16xf32>
  return %result : tensor<1x16xf32>
}
