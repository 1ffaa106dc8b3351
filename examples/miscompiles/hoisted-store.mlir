// A loop that runs no iteration stores a constant. The invariant code motion of affine loops
// hoists the store out of the loop, where it runs.
//
// Upstream: https://github.com/llvm/llvm-project/issues/128273
// Command:  mlir-opt hoisted-store.mlir
//             --canonicalize --affine-loop-invariant-code-motion --cse
// Expected: 7, as the loop is never entered.
// Got:      9.

memref.global "private" @cell : memref<1xi32> = dense<7>

func.func @main() {
  %cell = memref.get_global @cell : memref<1xi32>
  %nine = arith.constant 9 : i32
  affine.for %i = 4 to 4 {
    affine.store %nine, %cell[0] : memref<1xi32>
  }
  %value = affine.load %cell[0] : memref<1xi32>
  vector.print %value : i32
  return
}
