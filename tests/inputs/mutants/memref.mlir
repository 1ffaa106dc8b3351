// ==== stride_of_a_subview_forgotten
func.func @f(%m: memref<8xi32>, %i: index) -> i32 {
  %v = memref.subview %m[1] [3] [2] : memref<8xi32> to memref<3xi32, strided<[2], offset: 1>>
  %r = memref.load %v[%i] : memref<3xi32, strided<[2], offset: 1>>
  return %r : i32
}
// ---- wrong
func.func @f(%m: memref<8xi32>, %i: index) -> i32 {
  %j = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
  %r = memref.load %m[%j] : memref<8xi32>
  return %r : i32
}
// ---- right
func.func @f(%m: memref<8xi32>, %i: index) -> i32 {
  %j = affine.apply affine_map<(d0) -> (d0 * 2 + 1)>(%i)
  %r = memref.load %m[%j] : memref<8xi32>
  return %r : i32
}
// ==== direction_of_a_copy
func.func @f(%a: memref<4xi32>, %b: memref<4xi32>) {
  memref.copy %a, %b : memref<4xi32> to memref<4xi32>
  return
}
// ---- wrong
func.func @f(%a: memref<4xi32>, %b: memref<4xi32>) {
  memref.copy %b, %a : memref<4xi32> to memref<4xi32>
  return
}
// ---- right
func.func @f(%a: memref<4xi32>, %b: memref<4xi32>) {
  affine.for %i = 0 to 4 {
    %x = affine.load %a[%i] : memref<4xi32>
    affine.store %x, %b[%i] : memref<4xi32>
  }
  return
}
// ==== buffer_used_after_it_is_freed
func.func @f(%x: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<2xi32>
  memref.store %x, %m[%c0] : memref<2xi32>
  %r = memref.load %m[%c0] : memref<2xi32>
  memref.dealloc %m : memref<2xi32>
  return %r : i32
}
// ---- wrong
func.func @f(%x: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<2xi32>
  memref.store %x, %m[%c0] : memref<2xi32>
  memref.dealloc %m : memref<2xi32>
  %r = memref.load %m[%c0] : memref<2xi32>
  return %r : i32
}
// ---- right
func.func @f(%x: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloca() : memref<i32>
  memref.store %x, %m[] : memref<i32>
  %r = memref.load %m[] : memref<i32>
  return %r : i32
}
// ==== stores_swapped
func.func @f(%m: memref<4xi32>, %i: index, %j: index) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  memref.store %one, %m[%i] : memref<4xi32>
  memref.store %two, %m[%j] : memref<4xi32>
  return
}
// ---- wrong
func.func @f(%m: memref<4xi32>, %i: index, %j: index) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  memref.store %two, %m[%j] : memref<4xi32>
  memref.store %one, %m[%i] : memref<4xi32>
  return
}
// ---- right
func.func @f(%m: memref<4xi32>, %i: index, %j: index) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %same = arith.cmpi eq, %i, %j : index
  %x = arith.select %same, %two, %one : i32
  memref.store %two, %m[%j] : memref<4xi32>
  memref.store %x, %m[%i] : memref<4xi32>
  return
}
// ==== store_removed_that_is_read_in_between
func.func @f(%m: memref<4xi32>, %x: i32, %y: i32, %i: index) -> i32 {
  %c0 = arith.constant 0 : index
  memref.store %x, %m[%c0] : memref<4xi32>
  %r = memref.load %m[%i] : memref<4xi32>
  memref.store %y, %m[%c0] : memref<4xi32>
  return %r : i32
}
// ---- wrong
func.func @f(%m: memref<4xi32>, %x: i32, %y: i32, %i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %r = memref.load %m[%i] : memref<4xi32>
  memref.store %y, %m[%c0] : memref<4xi32>
  return %r : i32
}
// ---- right
func.func @f(%m: memref<4xi32>, %x: i32, %y: i32, %i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %is0 = arith.cmpi eq, %i, %c0 : index
  %old = memref.load %m[%i] : memref<4xi32>
  %r = arith.select %is0, %x, %old : i32
  memref.store %y, %m[%c0] : memref<4xi32>
  return %r : i32
}
// ==== two_buffers_made_one
func.func @f(%x: i32, %y: i32) -> i32 {
  %a = memref.alloca() : memref<i32>
  %b = memref.alloca() : memref<i32>
  memref.store %x, %a[] : memref<i32>
  memref.store %y, %b[] : memref<i32>
  %r = memref.load %a[] : memref<i32>
  return %r : i32
}
// ---- wrong
func.func @f(%x: i32, %y: i32) -> i32 {
  %a = memref.alloca() : memref<i32>
  memref.store %x, %a[] : memref<i32>
  memref.store %y, %a[] : memref<i32>
  %r = memref.load %a[] : memref<i32>
  return %r : i32
}
// ---- right
func.func @f(%x: i32, %y: i32) -> i32 {
  %a = memref.alloca() : memref<i32>
  memref.store %x, %a[] : memref<i32>
  %r = memref.load %a[] : memref<i32>
  memref.store %y, %a[] : memref<i32>
  return %r : i32
}
// ==== load_moved_over_a_store
func.func @f(%m: memref<2xi32>, %x: i32) -> i32 {
  %c1 = arith.constant 1 : index
  memref.store %x, %m[%c1] : memref<2xi32>
  %r = memref.load %m[%c1] : memref<2xi32>
  return %r : i32
}
// ---- wrong
func.func @f(%m: memref<2xi32>, %x: i32) -> i32 {
  %c1 = arith.constant 1 : index
  %r = memref.load %m[%c1] : memref<2xi32>
  memref.store %x, %m[%c1] : memref<2xi32>
  return %r : i32
}
// ---- right
func.func @f(%m: memref<2xi32>, %x: i32) -> i32 {
  %c1 = arith.constant 1 : index
  memref.store %x, %m[%c1] : memref<2xi32>
  return %x : i32
}
// ==== buffer_read_before_it_is_written
func.func @f(%x: i32) -> i32 {
  %m = memref.alloca() : memref<i32>
  memref.store %x, %m[] : memref<i32>
  %r = memref.load %m[] : memref<i32>
  return %r : i32
}
// ---- wrong
func.func @f(%x: i32) -> i32 {
  %m = memref.alloca() : memref<i32>
  %r = memref.load %m[] : memref<i32>
  memref.store %x, %m[] : memref<i32>
  return %r : i32
}
// ---- right
func.func @f(%x: i32) -> i32 {
  return %x : i32
}
// ==== transposition_becomes_reshape
func.func @f(%m: memref<2x3xi32>, %i: index, %j: index) -> i32 {
  %t = memref.transpose %m (a, b) -> (b, a) : memref<2x3xi32> to memref<3x2xi32, strided<[1, 3]>>
  %r = memref.load %t[%i, %j] : memref<3x2xi32, strided<[1, 3]>>
  return %r : i32
}
// ---- wrong
func.func @f(%m: memref<2x3xi32>, %i: index, %j: index) -> i32 {
  %t = memref.reinterpret_cast %m to offset: [0], sizes: [3, 2], strides: [2, 1] : memref<2x3xi32> to memref<3x2xi32>
  %r = memref.load %t[%i, %j] : memref<3x2xi32>
  return %r : i32
}
// ---- right
func.func @f(%m: memref<2x3xi32>, %i: index, %j: index) -> i32 {
  %r = memref.load %m[%j, %i] : memref<2x3xi32>
  return %r : i32
}
// ==== size_of_a_collapsed_dimension
func.func @f(%m: memref<2x3xi32>, %i: index) -> i32 {
  %t = memref.collapse_shape %m [[0, 1]] : memref<2x3xi32> into memref<6xi32>
  %r = memref.load %t[%i] : memref<6xi32>
  return %r : i32
}
// ---- wrong
func.func @f(%m: memref<2x3xi32>, %i: index) -> i32 {
  %a = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%i)
  %b = affine.apply affine_map<(d0) -> (d0 mod 2)>(%i)
  %r = memref.load %m[%a, %b] : memref<2x3xi32>
  return %r : i32
}
// ---- right
func.func @f(%m: memref<2x3xi32>, %i: index) -> i32 {
  %a = affine.apply affine_map<(d0) -> (d0 floordiv 3)>(%i)
  %b = affine.apply affine_map<(d0) -> (d0 mod 3)>(%i)
  %r = memref.load %m[%a, %b] : memref<2x3xi32>
  return %r : i32
}
// ==== memory_that_may_be_unwritten
func.func @f(%c: i1, %x: i32) -> i32 {
  %m = memref.alloca() : memref<i32>
  scf.if %c {
    memref.store %x, %m[] : memref<i32>
  }
  %r = memref.load %m[] : memref<i32>
  return %r : i32
}
// ---- wrong
func.func @f(%c: i1, %x: i32) -> i32 {
  %z = arith.constant 0 : i32
  %r = arith.select %c, %z, %x : i32
  return %r : i32
}
// ---- right
func.func @f(%c: i1, %x: i32) -> i32 {
  return %x : i32
}
// ==== overlapping_copy_in_the_wrong_order
func.func @f(%m: memref<4xi32>) {
  %b = memref.alloc() : memref<3xi32>
  %s = memref.subview %m[0] [3] [1] : memref<4xi32> to memref<3xi32, strided<[1]>>
  %d = memref.subview %m[1] [3] [1] : memref<4xi32> to memref<3xi32, strided<[1], offset: 1>>
  memref.copy %s, %b : memref<3xi32, strided<[1]>> to memref<3xi32>
  memref.copy %b, %d : memref<3xi32> to memref<3xi32, strided<[1], offset: 1>>
  memref.dealloc %b : memref<3xi32>
  return
}
// ---- wrong
func.func @f(%m: memref<4xi32>) {
  affine.for %i = 0 to 3 {
    %x = affine.load %m[%i] : memref<4xi32>
    affine.store %x, %m[%i + 1] : memref<4xi32>
  }
  return
}
// ---- right
func.func @f(%m: memref<4xi32>) {
  affine.for %i = 0 to 3 {
    %x = affine.load %m[-%i + 2] : memref<4xi32>
    affine.store %x, %m[-%i + 3] : memref<4xi32>
  }
  return
}
// ==== memory_of_the_caller_freed
func.func @f(%m: memref<2xi32>, %i: index) -> i32 {
  %r = memref.load %m[%i] : memref<2xi32>
  return %r : i32
}
// ---- wrong
func.func @f(%m: memref<2xi32>, %i: index) -> i32 {
  %r = memref.load %m[%i] : memref<2xi32>
  memref.dealloc %m : memref<2xi32>
  return %r : i32
}
// ---- right
func.func @f(%m: memref<2xi32>, %i: index) -> i32 {
  %copy = memref.alloc() : memref<2xi32>
  memref.copy %m, %copy : memref<2xi32> to memref<2xi32>
  %r = memref.load %copy[%i] : memref<2xi32>
  memref.dealloc %copy : memref<2xi32>
  return %r : i32
}
