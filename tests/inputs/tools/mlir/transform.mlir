// RUN: mlir-opt %s --transform-interpreter --canonicalize

module attributes {transform.with_named_sequence} {
  func.func @tiled(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %product = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
    return %product : tensor<8x4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %matmul tile_sizes [4, 2, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
