"""Run two passes over a module of hardware."""

import circt
from circt.ir import Context, Location, Module
from circt.passmanager import PassManager

TEXT = """
hw.module @m(in %a: i8, in %b: i8, out o: i8) {
  %0 = comb.add %a, %b : i8
  %1 = comb.add %a, %b : i8
  %2 = comb.and %0, %1 : i8
  hw.output %2 : i8
}
"""
with Context() as context, Location.file("model.sv", 3, 5):
    circt.register_dialects(context)
    module = Module.parse(TEXT)
    PassManager.parse("builtin.module(cse,canonicalize)").run(module.operation)
    print(module)
