// RUN: mlir-opt %s --linalg-generalize-named-ops
// RUN: mlir-opt %s --linalg-fuse-elementwise-ops --canonicalize
// RUN: mlir-opt %s --linalg-fold-unit-extent-dims
// RUN: mlir-opt %s --one-shot-bufferize=bufferize-function-boundaries --canonicalize
// RUN: mlir-opt %s --one-shot-bufferize=bufferize-function-boundaries --convert-linalg-to-loops --convert-scf-to-cf --expand-strided-metadata --lower-affine --convert-to-llvm --reconcile-unrealized-casts
// RUN: mlir-opt %s --one-shot-bufferize=bufferize-function-boundaries --buffer-deallocation-pipeline

func.func @layer(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty() : tensor<8x4xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  %product = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%filled : tensor<8x4xf32>) -> tensor<8x4xf32>
  %next = tensor.empty() : tensor<8x4xf32>
  %doubled = linalg.add ins(%product, %product : tensor<8x4xf32>, tensor<8x4xf32>) outs(%next : tensor<8x4xf32>) -> tensor<8x4xf32>
  %result = linalg.exp ins(%doubled : tensor<8x4xf32>) outs(%next : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %result : tensor<8x4xf32>
}

