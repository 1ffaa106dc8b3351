func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  %c0 = arith.constant false
  %x = arith.ori %v, %c0 : i1
  memref.store %x, %m[%i] : memref<4xi1>
  return
}
