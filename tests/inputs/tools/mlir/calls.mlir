// RUN: mlir-opt %s --inline
// RUN: mlir-opt %s --inline --symbol-dce --mlir-print-debuginfo
// RUN: mlir-opt %s --canonicalize --print-op-stats
// RUN: mlir-opt %s --symbol-privatize=exclude=main --symbol-dce
// RUN: mlir-opt %s --canonicalize --mlir-print-ir-after-all

func.func private @square(%a: f32) -> f32 {
  %product = arith.mulf %a, %a : f32
  return %product : f32
}

func.func @twice(%a: f32) -> f32 {
  %once = call @square(%a) : (f32) -> f32
  %again = call @square(%once) : (f32) -> f32
  return %again : f32
}

func.func @main() -> f32 {
  %two = arith.constant 2.0 : f32
  %result = call @twice(%two) : (f32) -> f32
  return %result : f32
}
