// RUN: mlir-opt %s --split-input-file --verify-diagnostics
// RUN: mlir-opt %s --split-input-file --canonicalize

func.func @good(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %x = arith.addi %a, %c0 : i32
  return %x : i32
}

// -----

func.func @bad(%a: i32) -> i64 {
  // expected-error @below {{type of return operand 0}}
  return %a : i32
}

// -----

func.func @also_good(%a: i1) -> i1 {
  %x = arith.andi %a, %a : i1
  return %x : i1
}
