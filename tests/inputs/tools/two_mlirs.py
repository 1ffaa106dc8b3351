"""Run passes in two MLIRs of different versions, in the order of the words: iree, triton."""

import sys

import iree.compiler.ir as iree_ir
from iree.compiler.passmanager import PassManager
from triton._C.libtriton import ir as triton_ir
from triton._C.libtriton import passes

TEXT = """
FUNCTION public @NAME(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  RETURN %2 : i32
}
"""


def text_of(name: str, dialect: str, function: str) -> str:
    text = TEXT.replace("NAME", name).replace("FUNCTION", f"{dialect}.{function}")
    return text.replace("RETURN", f"{dialect}.return")


def iree(name: str) -> None:
    with iree_ir.Context():
        module = iree_ir.Module.parse(text_of(name, "func", "func"))
        PassManager.parse("builtin.module(cse,canonicalize)").run(module.operation)
        print(module)


def triton(name: str) -> None:
    context = triton_ir.context()
    triton_ir.load_dialects(context)
    with open(f"{name}.mlir", "w") as file:
        file.write(text_of(name, "tt", "func"))
    module = triton_ir.parse_mlir_module(f"{name}.mlir", context)
    manager = triton_ir.pass_manager(context)
    passes.common.add_cse(manager)
    passes.common.add_canonicalizer(manager)
    try:
        manager.run(module, "two_mlirs")
    except TypeError:  # Triton until 3.4
        manager.run(module)
    print(module)


for number, word in enumerate(sys.argv[1:]):
    globals()[word](f"{word}{number}")
