// 300 is cut down to eight bits, which leaves 44, and widened again. One pattern drops the
// sign extension between the casts, which is right. Then another takes the two casts for a
// round trip that changes nothing, as the types at its ends are the same.
//
// Upstream: https://github.com/llvm/llvm-project/issues/90296
// Command:  mlir-opt index-casts.mlir --canonicalize=max-iterations=1
// Expected: 44.
// Got:      300. It takes both patterns: without either of them the output is right.

memref.global "private" @number : memref<1xindex> = dense<300>

func.func private @low_byte(%x: index) -> index {
  %byte = arith.index_cast %x : index to i8
  %wide = arith.extsi %byte : i8 to i32
  %back = arith.index_cast %wide : i32 to index
  return %back : index
}

func.func @main() {
  %zero = arith.constant 0 : index
  %global = memref.get_global @number : memref<1xindex>
  %number = memref.load %global[%zero] : memref<1xindex>
  %low = call @low_byte(%number) : (index) -> index
  vector.print %low : index
  return
}
