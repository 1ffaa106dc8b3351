// RUN: mlir-opt %s --canonicalize
// RUN: mlir-opt %s --lift-cf-to-scf --canonicalize
// RUN: mlir-opt %s --convert-cf-to-llvm --convert-func-to-llvm --convert-arith-to-llvm --reconcile-unrealized-casts
// RUN: mlir-opt %s --remove-dead-values
// RUN: mlir-opt %s --sccp

func.func @known(%a: i32) -> i32 {
  %true = arith.constant true
  cf.cond_br %true, ^left(%a : i32), ^right
^left(%x: i32):
  %sum = arith.addi %x, %x : i32
  cf.br ^end(%sum : i32)
^right:
  %c4 = arith.constant 4 : i32
  cf.br ^end(%c4 : i32)
^end(%result: i32):
  return %result : i32
}

func.func @count(%limit: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^head(%c0 : i32)
^head(%i: i32):
  %more = arith.cmpi slt, %i, %limit : i32
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %i, %c1 : i32
  cf.br ^head(%next : i32)
^end:
  return %i : i32
}

func.func @choose(%which: i32, %a: f32, %b: f32) -> f32 {
  cf.switch %which : i32, [
    default: ^other(%a : f32),
    1: ^other(%b : f32),
    2: ^other(%b : f32)
  ]
^other(%value: f32):
  return %value : f32
}
