"""Compile a function on encrypted numbers."""

from concrete import fhe


@fhe.compiler({"x": "encrypted"})
def add(x):
    return x + 42


print(add.compile(range(10)).mlir)
