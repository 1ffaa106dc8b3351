// RUN: mlir-opt %s --canonicalize
// RUN: mlir-opt %s --cse
// RUN: mlir-opt %s --sccp --canonicalize --symbol-dce
// RUN: mlir-opt %s --int-range-optimizations --canonicalize
// RUN: mlir-opt %s --arith-expand --convert-arith-to-llvm
// RUN: mlir-opt %s --canonicalize=test-convergence --mlir-print-op-generic
// RUN: mlir-opt %s --arith-unsigned-when-equivalent

func.func @identities(%a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.addi %a, %c0 : i32
  %y = arith.muli %x, %c1 : i32
  %z = arith.subi %y, %y : i32
  %w = arith.ori %z, %b : i32
  return %w : i32
}

func.func @constants() -> i64 {
  %c6 = arith.constant 6 : i64
  %c7 = arith.constant 7 : i64
  %product = arith.muli %c6, %c7 : i64
  %less = arith.cmpi slt, %product, %c7 : i64
  %chosen = arith.select %less, %c6, %product : i64
  return %chosen : i64
}

func.func @twice(%a: index, %b: index) -> (index, index) {
  %first = arith.addi %a, %b : index
  %second = arith.addi %a, %b : index
  %quotient = arith.ceildivsi %first, %second : index
  %rest = arith.remui %second, %first : index
  return %quotient, %rest : index, index
}

func.func private @unused(%a: i1) -> i1 {
  %true = arith.constant true
  %not = arith.xori %a, %true : i1
  %again = arith.xori %not, %true : i1
  return %again : i1
}

func.func @sums(%a: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %x = arith.addi %a, %c3 : i32
  %y = arith.addi %x, %c4 : i32
  %z = arith.subi %y, %c3 : i32
  return %z : i32
}
