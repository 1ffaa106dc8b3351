"""Run two passes with the Python bindings of a wheel; the argument is the wheel's name."""

import importlib
import sys

PACKAGES = {
    "cannbot": "cannbotdsl._mlir",
    "cutlass": "cutlass._mlir",
    "finch": "mlir_finch",
    "flydsl": "flydsl._mlir",
    "iree": "iree.compiler",
    "numba": "numba_cuda_mlir._mlir",
    "safetensors": "mlir",
    "torch": "torch_mlir",
}
TEXT = """
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  %1 = arith.addf %a, %b : tensor<4xf32>
  %2 = arith.mulf %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""
package = PACKAGES[sys.argv[1]]
ir = importlib.import_module(f"{package}.ir")
passmanager = importlib.import_module(f"{package}.passmanager")

with ir.Context():
    module = ir.Module.parse(TEXT)
    passmanager.PassManager.parse("builtin.module(cse,canonicalize)").run(module.operation)
    print(module)
