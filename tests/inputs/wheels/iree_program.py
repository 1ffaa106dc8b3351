"""Compile a function for the CPU, up to the executables."""

from iree.compiler.ir import Context, Module
from iree.compiler.passmanager import PassManager

TEXT = """
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  %1 = arith.addf %a, %b : tensor<4xf32>
  %2 = arith.mulf %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""
with Context():
    module = Module.parse(TEXT)
    PassManager.parse("builtin.module(cse,canonicalize)").run(module.operation)
    print(module)
