// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --compile-to=executable-targets

// A softmax over rows, and a transposition of its result.
func.func @softmax(%x: tensor<16x64xf32>) -> tensor<64x16xf32> {
  %init = tensor.empty() : tensor<16x64xf32>
  %soft = linalg.softmax dimension(1) ins(%x : tensor<16x64xf32>) outs(%init : tensor<16x64xf32>) -> tensor<16x64xf32>
  %turned = tensor.empty() : tensor<64x16xf32>
  %result = linalg.transpose ins(%soft : tensor<16x64xf32>) outs(%turned : tensor<64x16xf32>) permutation = [1, 0]
  return %result : tensor<64x16xf32>
}
