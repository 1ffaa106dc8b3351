"""Run two passes with the MLIR inside FlyDSL."""

from flydsl._mlir.ir import Context, Module
from flydsl._mlir.passmanager import PassManager

TEXT = """
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
"""
with Context():
    module = Module.parse(TEXT)
    PassManager.parse("builtin.module(cse,canonicalize)").run(module.operation)
    print(module)
