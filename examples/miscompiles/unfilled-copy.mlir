// A loop stores into a buffer by an affine and by an ordinary store. The generation of copies
// into fast memory makes a fast buffer for the affine one and copies it back after the loop,
// but leaves both stores on the slow buffer: what is copied back was never written.
//
// Upstream: https://github.com/llvm/llvm-project/issues/217538
// Command:  mlir-opt unfilled-copy.mlir
//             --pass-pipeline='builtin.module(func.func(cse,affine-data-copy-generate{fast-mem-space=0}))'
// Expected: 5.
// Got:      what happened to be in the memory, another number in each run.

memref.global "private" @slow : memref<4xi32> = dense<[10, 20, 30, 40]>

func.func @main() {
  %zero = arith.constant 0 : index
  %five = arith.constant 5 : i32
  %slow = memref.get_global @slow : memref<4xi32>
  affine.for %i = 0 to 3 {
    affine.store %five, %slow[0] : memref<4xi32>
    memref.store %five, %slow[%zero] : memref<4xi32>
  }
  %value = memref.load %slow[%zero] : memref<4xi32>
  vector.print %value : i32
  return
}
