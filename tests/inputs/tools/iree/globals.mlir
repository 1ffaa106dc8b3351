// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --compile-to=vm

// A counter and a table that outlive a call.
util.global private mutable @count = 0 : i32
util.global private @table = dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
util.func public @next(%x: tensor<4xf32>) -> (tensor<4xf32>, i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %count = util.global.load @count : i32
  %none = arith.addi %count, %c0 : i32
  %more = arith.addi %none, %c1 : i32
  util.global.store %more, @count : i32
  %table = util.global.load @table : tensor<4xf32>
  %product = arith.mulf %x, %table : tensor<4xf32>
  util.return %product, %more : tensor<4xf32>, i32
}
