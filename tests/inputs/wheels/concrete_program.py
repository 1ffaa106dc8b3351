"""Make a module with the bindings of Concrete, without the rest of it, which needs PyTorch."""

from mlir.ir import Context, Location, Module

with Context(), Location.unknown():
    print(Module.create())
