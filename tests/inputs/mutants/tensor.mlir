// ==== offset_of_a_slice_of_a_slice
func.func @f(%t: tensor<12xi32>) -> tensor<2xi32> {
  %a = tensor.extract_slice %t[2] [5] [2] : tensor<12xi32> to tensor<5xi32>
  %r = tensor.extract_slice %a[1] [2] [2] : tensor<5xi32> to tensor<2xi32>
  return %r : tensor<2xi32>
}
// ---- wrong
func.func @f(%t: tensor<12xi32>) -> tensor<2xi32> {
  %r = tensor.extract_slice %t[3] [2] [4] : tensor<12xi32> to tensor<2xi32>
  return %r : tensor<2xi32>
}
// ---- right
func.func @f(%t: tensor<12xi32>) -> tensor<2xi32> {
  %r = tensor.extract_slice %t[4] [2] [4] : tensor<12xi32> to tensor<2xi32>
  return %r : tensor<2xi32>
}
// ==== overlapping_slices_inserted_in_the_other_order
func.func @f(%x: tensor<2xi32>, %y: tensor<2xi32>, %t: tensor<4xi32>) -> tensor<4xi32> {
  %a = tensor.insert_slice %x into %t[1] [2] [1] : tensor<2xi32> into tensor<4xi32>
  %r = tensor.insert_slice %y into %a[2] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %r : tensor<4xi32>
}
// ---- wrong
func.func @f(%x: tensor<2xi32>, %y: tensor<2xi32>, %t: tensor<4xi32>) -> tensor<4xi32> {
  %a = tensor.insert_slice %y into %t[2] [2] [1] : tensor<2xi32> into tensor<4xi32>
  %r = tensor.insert_slice %x into %a[1] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %r : tensor<4xi32>
}
// ---- right
func.func @f(%x: tensor<2xi32>, %y: tensor<2xi32>, %t: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.insert_slice %y into %t[2] [2] [1] : tensor<2xi32> into tensor<4xi32>
  %first = tensor.extract %x[%c0] : tensor<2xi32>
  %r = tensor.insert %first into %a[%c1] : tensor<4xi32>
  return %r : tensor<4xi32>
}
// ==== value_of_a_pad
func.func @f(%t: tensor<2xi32>, %x: i32) -> tensor<4xi32> {
  %r = tensor.pad %t low[1] high[1] {
  ^body(%i: index):
    tensor.yield %x : i32
  } : tensor<2xi32> to tensor<4xi32>
  return %r : tensor<4xi32>
}
// ---- wrong
func.func @f(%t: tensor<2xi32>, %x: i32) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %r = tensor.pad %t low[1] high[1] {
  ^body(%i: index):
    tensor.yield %zero : i32
  } : tensor<2xi32> to tensor<4xi32>
  return %r : tensor<4xi32>
}
// ---- right
func.func @f(%t: tensor<2xi32>, %x: i32) -> tensor<4xi32> {
  %s = tensor.splat %x : tensor<4xi32>
  %r = tensor.insert_slice %t into %s[1] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %r : tensor<4xi32>
}
// ==== pad_at_the_other_end
func.func @f(%t: tensor<?xi32>, %x: i32) -> tensor<?xi32> {
  %r = tensor.pad %t low[1] high[0] {
  ^body(%i: index):
    tensor.yield %x : i32
  } : tensor<?xi32> to tensor<?xi32>
  return %r : tensor<?xi32>
}
// ---- wrong
func.func @f(%t: tensor<?xi32>, %x: i32) -> tensor<?xi32> {
  %r = tensor.pad %t low[0] high[1] {
  ^body(%i: index):
    tensor.yield %x : i32
  } : tensor<?xi32> to tensor<?xi32>
  return %r : tensor<?xi32>
}
// ---- right
func.func @f(%t: tensor<?xi32>, %x: i32) -> tensor<?xi32> {
  %one = tensor.splat %x : tensor<1xi32>
  %r = tensor.concat dim(0) %one, %t : (tensor<1xi32>, tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}
// ==== reshape_becomes_transposition
func.func @f(%t: tensor<2x3xi32>) -> tensor<3x2xi32> {
  %a = tensor.collapse_shape %t [[0, 1]] : tensor<2x3xi32> into tensor<6xi32>
  %r = tensor.expand_shape %a [[0, 1]] output_shape [3, 2] : tensor<6xi32> into tensor<3x2xi32>
  return %r : tensor<3x2xi32>
}
// ---- wrong
func.func @f(%t: tensor<2x3xi32>) -> tensor<3x2xi32> {
  %r = tensor.generate {
  ^body(%i: index, %j: index):
    %x = tensor.extract %t[%j, %i] : tensor<2x3xi32>
    tensor.yield %x : i32
  } : tensor<3x2xi32>
  return %r : tensor<3x2xi32>
}
// ---- right
func.func @f(%t: tensor<2x3xi32>) -> tensor<3x2xi32> {
  %r = tensor.generate {
  ^body(%i: index, %j: index):
    %k = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%i, %j)
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 3)>(%k)
    %column = affine.apply affine_map<(d0) -> (d0 mod 3)>(%k)
    %x = tensor.extract %t[%row, %column] : tensor<2x3xi32>
    tensor.yield %x : i32
  } : tensor<3x2xi32>
  return %r : tensor<3x2xi32>
}
// ==== other_size_of_a_tensor
func.func @f(%t: tensor<?x?xi32>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %t, %c0 : tensor<?x?xi32>
  %n = tensor.dim %t, %c1 : tensor<?x?xi32>
  %empty = tensor.empty(%n, %m) : tensor<?x?xi32>
  %r = tensor.dim %empty, %c0 : tensor<?x?xi32>
  return %r : index
}
// ---- wrong
func.func @f(%t: tensor<?x?xi32>) -> index {
  %c0 = arith.constant 0 : index
  %r = tensor.dim %t, %c0 : tensor<?x?xi32>
  return %r : index
}
// ---- right
func.func @f(%t: tensor<?x?xi32>) -> index {
  %c1 = arith.constant 1 : index
  %r = tensor.dim %t, %c1 : tensor<?x?xi32>
  return %r : index
}
// ==== insertion_forwarded_to_any_extraction
func.func @f(%t: tensor<4xi32>, %x: i32, %i: index, %j: index) -> i32 {
  %a = tensor.insert %x into %t[%i] : tensor<4xi32>
  %r = tensor.extract %a[%j] : tensor<4xi32>
  return %r : i32
}
// ---- wrong
func.func @f(%t: tensor<4xi32>, %x: i32, %i: index, %j: index) -> i32 {
  return %x : i32
}
// ---- right
func.func @f(%t: tensor<4xi32>, %x: i32, %i: index, %j: index) -> i32 {
  %old = tensor.extract %t[%j] : tensor<4xi32>
  %same = arith.cmpi eq, %i, %j : index
  %r = arith.select %same, %x, %old : i32
  return %r : i32
}
// ==== concatenation_in_the_other_order
func.func @f(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<4xi32> {
  %r = tensor.concat dim(0) %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
// ---- wrong
func.func @f(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %a = tensor.insert_slice %y into %e[0] [2] [1] : tensor<2xi32> into tensor<4xi32>
  %r = tensor.insert_slice %x into %a[2] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %r : tensor<4xi32>
}
// ---- right
func.func @f(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %a = tensor.insert_slice %x into %e[0] [2] [1] : tensor<2xi32> into tensor<4xi32>
  %r = tensor.insert_slice %y into %a[2] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %r : tensor<4xi32>
}
// ==== insertion_into_another_element
func.func @f(%x: i32) -> tensor<2xi32> {
  %e = tensor.empty() : tensor<2xi32>
  %c0 = arith.constant 0 : index
  %r = tensor.insert %x into %e[%c0] : tensor<2xi32>
  return %r : tensor<2xi32>
}
// ---- wrong
func.func @f(%x: i32) -> tensor<2xi32> {
  %e = tensor.empty() : tensor<2xi32>
  %c0 = arith.constant 1 : index
  %r = tensor.insert %x into %e[%c0] : tensor<2xi32>
  return %r : tensor<2xi32>
}
// ---- right
func.func @f(%x: i32) -> tensor<2xi32> {
  %r = tensor.splat %x : tensor<2xi32>
  return %r : tensor<2xi32>
}
// ==== buffer_changed_before_its_tensor_is_read
func.func @f(%t: tensor<4xi32>, %x: i32) -> (tensor<4xi32>, i32) {
  %c0 = arith.constant 0 : index
  %a = tensor.insert %x into %t[%c0] : tensor<4xi32>
  %r = tensor.extract %t[%c0] : tensor<4xi32>
  return %a, %r : tensor<4xi32>, i32
}
// ---- wrong
func.func @f(%t: tensor<4xi32>, %x: i32) -> (tensor<4xi32>, i32) {
  %c0 = arith.constant 0 : index
  %m = bufferization.to_buffer %t : tensor<4xi32> to memref<4xi32>
  %n = memref.alloc() : memref<4xi32>
  memref.copy %m, %n : memref<4xi32> to memref<4xi32>
  memref.store %x, %n[%c0] : memref<4xi32>
  %r = memref.load %n[%c0] : memref<4xi32>
  %a = bufferization.to_tensor %n restrict : memref<4xi32> to tensor<4xi32>
  return %a, %r : tensor<4xi32>, i32
}
// ---- right
func.func @f(%t: tensor<4xi32>, %x: i32) -> (tensor<4xi32>, i32) {
  %c0 = arith.constant 0 : index
  %m = bufferization.to_buffer %t : tensor<4xi32> to memref<4xi32>
  %n = memref.alloc() : memref<4xi32>
  memref.copy %m, %n : memref<4xi32> to memref<4xi32>
  memref.store %x, %n[%c0] : memref<4xi32>
  %r = memref.load %m[%c0] : memref<4xi32>
  %a = bufferization.to_tensor %n restrict : memref<4xi32> to tensor<4xi32>
  return %a, %r : tensor<4xi32>, i32
}
