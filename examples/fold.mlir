// Three plus two is five: `mlir-opt fold.mlir --canonicalize` makes one addition of these two.
// The pattern AddIAddConstant does it, at the second one.

func.func @shift(%x: i32) -> i32 {
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %once = arith.addi %x, %two : i32
  %twice = arith.addi %once, %three : i32
  return %twice : i32
}
