// RUN: iree-compile %s --compile-to=flow

// A product of integers whose sizes are known only when it runs.
util.func public @product(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %init = tensor.empty(%m, %n) : tensor<?x?xi32>
  %filled = linalg.fill ins(%zero : i32) outs(%init : tensor<?x?xi32>) -> tensor<?x?xi32>
  %product = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%filled : tensor<?x?xi32>) -> tensor<?x?xi32>
  util.return %product : tensor<?x?xi32>
}
