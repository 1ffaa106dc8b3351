// ==== mask_of_a_read_dropped
func.func @f(%m: memref<4xi32>, %k: vector<4xi1>, %pad: i32) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %r = vector.transfer_read %m[%c0], %pad, %k {in_bounds = [true]} : memref<4xi32>, vector<4xi32>
  return %r : vector<4xi32>
}
// ---- wrong
func.func @f(%m: memref<4xi32>, %k: vector<4xi1>, %pad: i32) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %r = vector.load %m[%c0] : memref<4xi32>, vector<4xi32>
  return %r : vector<4xi32>
}
// ---- right
func.func @f(%m: memref<4xi32>, %k: vector<4xi1>, %pad: i32) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %all = vector.load %m[%c0] : memref<4xi32>, vector<4xi32>
  %pads = vector.broadcast %pad : i32 to vector<4xi32>
  %r = arith.select %k, %all, %pads : vector<4xi1>, vector<4xi32>
  return %r : vector<4xi32>
}
// ==== padding_of_a_read
func.func @f(%m: memref<3xi32>, %pad: i32) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %r = vector.transfer_read %m[%c0], %pad {in_bounds = [false]} : memref<3xi32>, vector<4xi32>
  return %r : vector<4xi32>
}
// ---- wrong
func.func @f(%m: memref<3xi32>, %pad: i32) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %zeros = arith.constant dense<0> : vector<4xi32>
  %x = vector.load %m[%c0] : memref<3xi32>, vector<3xi32>
  %r = vector.insert_strided_slice %x, %zeros {offsets = [0], strides = [1]} : vector<3xi32> into vector<4xi32>
  return %r : vector<4xi32>
}
// ---- right
func.func @f(%m: memref<3xi32>, %pad: i32) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %pads = vector.broadcast %pad : i32 to vector<4xi32>
  %x = vector.load %m[%c0] : memref<3xi32>, vector<3xi32>
  %r = vector.insert_strided_slice %x, %pads {offsets = [0], strides = [1]} : vector<3xi32> into vector<4xi32>
  return %r : vector<4xi32>
}
// ==== read_taken_to_be_inside
func.func @f(%m: memref<?xi32>, %v: vector<4xi32>) {
  %c0 = arith.constant 0 : index
  vector.transfer_write %v, %m[%c0] {in_bounds = [false]} : vector<4xi32>, memref<?xi32>
  return
}
// ---- wrong
func.func @f(%m: memref<?xi32>, %v: vector<4xi32>) {
  %c0 = arith.constant 0 : index
  vector.transfer_write %v, %m[%c0] {in_bounds = [true]} : vector<4xi32>, memref<?xi32>
  return
}
// ---- right
func.func @f(%m: memref<?xi32>, %v: vector<4xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %m, %c0 : memref<?xi32>
  %k = vector.create_mask %n : vector<4xi1>
  vector.maskedstore %m[%c0], %k, %v : memref<?xi32>, vector<4xi1>, vector<4xi32>
  return
}
// ==== shuffle_off_by_one
func.func @f(%x: vector<4xi32>, %y: vector<4xi32>) -> vector<4xi32> {
  %0 = vector.extract_strided_slice %x {offsets = [1], sizes = [3], strides = [1]} : vector<4xi32> to vector<3xi32>
  %1 = vector.extract %y[0] : i32 from vector<4xi32>
  %2 = vector.broadcast %1 : i32 to vector<4xi32>
  %r = vector.insert_strided_slice %0, %2 {offsets = [0], strides = [1]} : vector<3xi32> into vector<4xi32>
  return %r : vector<4xi32>
}
// ---- wrong
func.func @f(%x: vector<4xi32>, %y: vector<4xi32>) -> vector<4xi32> {
  %r = vector.shuffle %x, %y [1, 2, 3, 5] : vector<4xi32>, vector<4xi32>
  return %r : vector<4xi32>
}
// ---- right
func.func @f(%x: vector<4xi32>, %y: vector<4xi32>) -> vector<4xi32> {
  %r = vector.shuffle %x, %y [1, 2, 3, 4] : vector<4xi32>, vector<4xi32>
  return %r : vector<4xi32>
}
// ==== transpositions_composed_the_other_way
func.func @f(%x: vector<2x3x4xi8>) -> vector<3x4x2xi8> {
  %y = vector.transpose %x, [2, 0, 1] : vector<2x3x4xi8> to vector<4x2x3xi8>
  %r = vector.transpose %y, [2, 0, 1] : vector<4x2x3xi8> to vector<3x4x2xi8>
  return %r : vector<3x4x2xi8>
}
// ---- wrong
func.func @f(%x: vector<2x3x4xi8>) -> vector<3x4x2xi8> {
  %r = vector.shape_cast %x : vector<2x3x4xi8> to vector<3x4x2xi8>
  return %r : vector<3x4x2xi8>
}
// ---- right
func.func @f(%x: vector<2x3x4xi8>) -> vector<3x4x2xi8> {
  %r = vector.transpose %x, [1, 2, 0] : vector<2x3x4xi8> to vector<3x4x2xi8>
  return %r : vector<3x4x2xi8>
}
// ==== kind_of_a_reduction
func.func @f(%x: vector<3xi16>) -> i16 {
  %r = vector.reduction <minui>, %x : vector<3xi16> into i16
  return %r : i16
}
// ---- wrong
func.func @f(%x: vector<3xi16>) -> i16 {
  %a, %b, %c = vector.to_elements %x : vector<3xi16>
  %s = arith.minsi %a, %b : i16
  %r = arith.minsi %s, %c : i16
  return %r : i16
}
// ---- right
func.func @f(%x: vector<3xi16>) -> i16 {
  %a, %b, %c = vector.to_elements %x : vector<3xi16>
  %s = arith.minui %a, %b : i16
  %r = arith.minui %s, %c : i16
  return %r : i16
}
// ==== accumulator_of_a_contraction_lost
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @f(%x: vector<2x2xi32>, %y: vector<2x2xi32>, %z: vector<2x2xi32>) -> vector<2x2xi32> {
  %r = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %z : vector<2x2xi32>, vector<2x2xi32> into vector<2x2xi32>
  return %r : vector<2x2xi32>
}
// ---- wrong
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @f(%x: vector<2x2xi32>, %y: vector<2x2xi32>, %z: vector<2x2xi32>) -> vector<2x2xi32> {
  %zeros = arith.constant dense<0> : vector<2x2xi32>
  %r = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %zeros : vector<2x2xi32>, vector<2x2xi32> into vector<2x2xi32>
  return %r : vector<2x2xi32>
}
// ---- right
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @f(%x: vector<2x2xi32>, %y: vector<2x2xi32>, %z: vector<2x2xi32>) -> vector<2x2xi32> {
  %zeros = arith.constant dense<0> : vector<2x2xi32>
  %p = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %zeros : vector<2x2xi32>, vector<2x2xi32> into vector<2x2xi32>
  %r = arith.addi %z, %p : vector<2x2xi32>
  return %r : vector<2x2xi32>
}
// ==== dimension_of_a_reduction
func.func @f(%x: vector<2x2xi32>, %z: vector<2xi32>) -> vector<2xi32> {
  %r = vector.multi_reduction <add>, %x, %z [0] : vector<2x2xi32> to vector<2xi32>
  return %r : vector<2xi32>
}
// ---- wrong
func.func @f(%x: vector<2x2xi32>, %z: vector<2xi32>) -> vector<2xi32> {
  %r = vector.multi_reduction <add>, %x, %z [1] : vector<2x2xi32> to vector<2xi32>
  return %r : vector<2xi32>
}
// ---- right
func.func @f(%x: vector<2x2xi32>, %z: vector<2xi32>) -> vector<2xi32> {
  %a = vector.extract %x[0] : vector<2xi32> from vector<2x2xi32>
  %b = vector.extract %x[1] : vector<2xi32> from vector<2x2xi32>
  %s = arith.addi %a, %z : vector<2xi32>
  %r = arith.addi %b, %s : vector<2xi32>
  return %r : vector<2xi32>
}
// ==== outer_product_of_swapped_vectors
func.func @f(%x: vector<2xi32>, %y: vector<2xi32>) -> vector<2x2xi32> {
  %r = vector.outerproduct %x, %y : vector<2xi32>, vector<2xi32>
  return %r : vector<2x2xi32>
}
// ---- wrong
func.func @f(%x: vector<2xi32>, %y: vector<2xi32>) -> vector<2x2xi32> {
  %r = vector.outerproduct %y, %x : vector<2xi32>, vector<2xi32>
  return %r : vector<2x2xi32>
}
// ---- right
func.func @f(%x: vector<2xi32>, %y: vector<2xi32>) -> vector<2x2xi32> {
  %t = vector.outerproduct %y, %x : vector<2xi32>, vector<2xi32>
  %r = vector.transpose %t, [1, 0] : vector<2x2xi32> to vector<2x2xi32>
  return %r : vector<2x2xi32>
}
// ==== slices_inserted_in_the_other_order
func.func @f(%x: vector<2xi32>, %y: vector<2xi32>, %z: vector<4xi32>) -> vector<4xi32> {
  %a = vector.insert_strided_slice %x, %z {offsets = [0], strides = [1]} : vector<2xi32> into vector<4xi32>
  %r = vector.insert_strided_slice %y, %a {offsets = [1], strides = [1]} : vector<2xi32> into vector<4xi32>
  return %r : vector<4xi32>
}
// ---- wrong
func.func @f(%x: vector<2xi32>, %y: vector<2xi32>, %z: vector<4xi32>) -> vector<4xi32> {
  %a = vector.insert_strided_slice %y, %z {offsets = [1], strides = [1]} : vector<2xi32> into vector<4xi32>
  %r = vector.insert_strided_slice %x, %a {offsets = [0], strides = [1]} : vector<2xi32> into vector<4xi32>
  return %r : vector<4xi32>
}
// ---- right
func.func @f(%x: vector<2xi32>, %y: vector<2xi32>, %z: vector<4xi32>) -> vector<4xi32> {
  %a = vector.insert_strided_slice %y, %z {offsets = [1], strides = [1]} : vector<2xi32> into vector<4xi32>
  %first = vector.extract %x[0] : i32 from vector<2xi32>
  %r = vector.insert %first, %a [0] : i32 into vector<4xi32>
  return %r : vector<4xi32>
}
// ==== gather_without_its_other_value
func.func @f(%m: memref<4xi32>, %k: vector<4xi1>, %other: vector<4xi32>) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %at = arith.constant dense<[3, 2, 1, 0]> : vector<4xindex>
  %r = vector.gather %m[%c0] [%at], %k, %other : memref<4xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  return %r : vector<4xi32>
}
// ---- wrong
func.func @f(%m: memref<4xi32>, %k: vector<4xi1>, %other: vector<4xi32>) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %x = vector.maskedload %m[%c0], %k, %other : memref<4xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  %r = vector.shuffle %x, %x [3, 2, 1, 0] : vector<4xi32>, vector<4xi32>
  return %r : vector<4xi32>
}
// ---- right
func.func @f(%m: memref<4xi32>, %k: vector<4xi1>, %other: vector<4xi32>) -> vector<4xi32> {
  %c0 = arith.constant 0 : index
  %x = vector.load %m[%c0] : memref<4xi32>, vector<4xi32>
  %y = vector.shuffle %x, %x [3, 2, 1, 0] : vector<4xi32>, vector<4xi32>
  %r = arith.select %k, %y, %other : vector<4xi1>, vector<4xi32>
  return %r : vector<4xi32>
}
// ==== order_of_bytes
func.func @f(%x: vector<2xi8>) -> vector<1xi16> {
  %r = vector.bitcast %x : vector<2xi8> to vector<1xi16>
  return %r : vector<1xi16>
}
// ---- wrong
func.func @f(%x: vector<2xi8>) -> vector<1xi16> {
  %a, %b = vector.to_elements %x : vector<2xi8>
  %l = arith.extui %b : i8 to i16
  %h = arith.extui %a : i8 to i16
  %e = arith.constant 8 : i16
  %s = arith.shli %h, %e : i16
  %o = arith.ori %l, %s : i16
  %r = vector.broadcast %o : i16 to vector<1xi16>
  return %r : vector<1xi16>
}
// ---- right
func.func @f(%x: vector<2xi8>) -> vector<1xi16> {
  %a, %b = vector.to_elements %x : vector<2xi8>
  %l = arith.extui %a : i8 to i16
  %h = arith.extui %b : i8 to i16
  %e = arith.constant 8 : i16
  %s = arith.shli %h, %e : i16
  %o = arith.ori %l, %s : i16
  %r = vector.broadcast %o : i16 to vector<1xi16>
  return %r : vector<1xi16>
}
// ==== compressing_store_becomes_masked
func.func @f(%m: memref<3xi32>, %k: vector<2xi1>, %v: vector<2xi32>) {
  %c0 = arith.constant 0 : index
  vector.compressstore %m[%c0], %k, %v : memref<3xi32>, vector<2xi1>, vector<2xi32>
  return
}
// ---- wrong
func.func @f(%m: memref<3xi32>, %k: vector<2xi1>, %v: vector<2xi32>) {
  %c0 = arith.constant 0 : index
  vector.maskedstore %m[%c0], %k, %v : memref<3xi32>, vector<2xi1>, vector<2xi32>
  return
}
// ---- right
func.func @f(%m: memref<3xi32>, %k: vector<2xi1>, %v: vector<2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = vector.extract %k[0] : i1 from vector<2xi1>
  %q = vector.extract %k[1] : i1 from vector<2xi1>
  %a = vector.extract %v[0] : i32 from vector<2xi32>
  %b = vector.extract %v[1] : i32 from vector<2xi32>
  scf.if %p {
    memref.store %a, %m[%c0] : memref<3xi32>
  }
  %at = arith.select %p, %c1, %c0 : index
  scf.if %q {
    memref.store %b, %m[%at] : memref<3xi32>
  }
  return
}
// ==== place_of_an_insertion
func.func @f(%v: vector<4xi32>, %x: i32, %i: index) -> i32 {
  %a = vector.insert %x, %v [%i] : i32 into vector<4xi32>
  %r = vector.extract %a[%i] : i32 from vector<4xi32>
  return %r : i32
}
// ---- wrong
func.func @f(%v: vector<4xi32>, %x: i32, %i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %a = vector.insert %x, %v [%c0] : i32 into vector<4xi32>
  %r = vector.extract %a[%i] : i32 from vector<4xi32>
  return %r : i32
}
// ---- right
func.func @f(%v: vector<4xi32>, %x: i32, %i: index) -> i32 {
  return %x : i32
}
