"""MLIR programs for the benchmarks, of any size."""

from __future__ import annotations

from pathlib import Path

PIPELINE = (
    "builtin.module(canonicalize,cse,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-math-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
    "convert-cf-to-llvm,reconcile-unrealized-casts,canonicalize)"
)

_FUNCTION = """\
func.func @f{n}(%a: memref<16x16xf32>, %b: memref<16x16xf32>, %x: i32) -> i32 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %seven = arith.constant 7 : i32
  scf.for %i = %c0 to %c16 step %c1 {{
    scf.for %j = %c0 to %c16 step %c1 {{
      %v = memref.load %a[%i, %j] : memref<16x16xf32>
      %w = arith.addf %v, %v : f32
      %m = math.absf %w : f32
      memref.store %m, %b[%j, %i] : memref<16x16xf32>
    }}
  }}
  %s = arith.addi %x, %zero : i32
  %t = arith.addi %s, %seven : i32
  %u = arith.muli %t, %seven : i32
  %p = arith.cmpi slt, %u, %x : i32
  %r = arith.select %p, %u, %t : i32
  return %r : i32
}}
"""


def many_functions(path: Path, count: int) -> Path:
    """Write loop nests and integer code, about 270 actions a function when lowered."""
    with path.open("w") as file:
        for n in range(count):
            file.write(_FUNCTION.format(n=n))
    return path


def one_function(path: Path, operations: int) -> Path:
    """Write one function of so many operations, in which nothing can be simplified."""
    with path.open("w") as file:
        file.write("func.func @big(%v0: i32, %w: i32) -> i32 {\n")
        for n in range(operations):
            op = ("arith.muli", "arith.xori", "arith.addi")[n % 3]
            file.write(f"  %v{n + 1} = {op} %v{n}, %w : i32\n")
        file.write(f"  return %v{operations} : i32\n}}\n")
    return path


_ADDITIONS = """\
func.func @f{n}(%x: i32, %y: i32) -> i32 {{
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = arith.addi %x, %c1 : i32
  %b = arith.addi %a, %c2 : i32
  %c = arith.muli %b, %y : i32
  %d = arith.addi %c, %c1 : i32
  %e = arith.addi %d, %c2 : i32
  %f = arith.subi %e, %e : i32
  %g = arith.addi %e, %f : i32
  return %g : i32
}}
"""


def additions(path: Path, count: int) -> Path:
    """Write integer code, 68 actions a function when canonicalized."""
    with path.open("w") as file:
        for n in range(count):
            file.write(_ADDITIONS.format(n=n))
    return path
