// ==== loop_that_goes_around_all_numbers
func.func @f(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero : i32)
^head(%i: i32):
  %c = arith.cmpi slt, %i, %n : i32
  cf.cond_br %c, ^body, ^end
^body:
  %j = arith.addi %i, %one : i32
  cf.br ^head(%j : i32)
^end:
  return %i : i32
}
// ---- wrong
func.func @f(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero : i32)
^head(%i: i32):
  %c = arith.cmpi ne, %i, %n : i32
  cf.cond_br %c, ^body, ^end
^body:
  %j = arith.addi %i, %one : i32
  cf.br ^head(%j : i32)
^end:
  return %i : i32
}
// ---- right
func.func @f(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero : i32)
^head(%i: i32):
  %c = arith.cmpi sge, %i, %n : i32
  cf.cond_br %c, ^end, ^body
^body:
  %j = arith.addi %i, %one : i32
  cf.br ^head(%j : i32)
^end:
  return %i : i32
}
// ==== cosine_instead_of_sine
func.func @f(%x: f32, %y: f32) -> f32 {
  %a = math.sin %x : f32
  %b = math.cos %y : f32
  %r = arith.mulf %a, %b : f32
  return %r : f32
}
// ---- wrong
func.func @f(%x: f32, %y: f32) -> f32 {
  %a = math.sin %x : f32
  %b = math.cos %x : f32
  %r = arith.mulf %a, %b : f32
  return %r : f32
}
// ---- right
func.func @f(%x: f32, %y: f32) -> f32 {
  %a = math.sin %x : f32
  %b = math.cos %y : f32
  %r = arith.mulf %b, %a : f32
  return %r : f32
}
// ==== sign_of_an_exponent
func.func @f(%t: tensor<4xf32>, %m: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) (%x: f32, %o: f32) {
    %s = arith.subf %x, %m : f32
    %p = math.exp %s : f32
    linalg.yield %p : f32
  }
  return %a : tensor<4xf32>
}
// ---- wrong
func.func @f(%t: tensor<4xf32>, %m: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.map ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) (%x: f32, %o: f32) {
    %s = arith.subf %m, %x : f32
    %p = math.exp %s : f32
    linalg.yield %p : f32
  }
  return %a : tensor<4xf32>
}
// ---- right
func.func @f(%t: tensor<4xf32>, %m: f32) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = math.exp %m : f32
  %b = linalg.map ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) (%x: f32, %o: f32) {
    %p = arith.divf %x, %c : f32
    linalg.yield %p : f32
  }
  return %b : tensor<4xf32>
}
// ==== root_instead_of_its_reciprocal
func.func @f(%x: f32) -> f32 {
  %r = math.rsqrt %x : f32
  return %r : f32
}
// ---- wrong
func.func @f(%x: f32) -> f32 {
  %r = math.sqrt %x : f32
  return %r : f32
}
// ---- right
func.func @f(%x: f32) -> f32 {
  %c = arith.constant 1.0 : f32
  %q = math.sqrt %x : f32
  %r = arith.divf %c, %q : f32
  return %r : f32
}
// ==== copy_returned_as_the_memory_itself
func.func @f(%m: memref<2xi32>) -> memref<2xi32> {
  %r = memref.alloc() : memref<2xi32>
  memref.copy %m, %r : memref<2xi32> to memref<2xi32>
  return %r : memref<2xi32>
}
// ---- wrong
func.func @f(%m: memref<2xi32>) -> memref<2xi32> {
  return %m : memref<2xi32>
}
// ---- right
func.func @f(%m: memref<2xi32>) -> memref<2xi32> {
  %r = memref.alloc() : memref<2xi32>
  affine.for %i = 0 to 2 {
    %x = affine.load %m[%i] : memref<2xi32>
    affine.store %x, %r[%i] : memref<2xi32>
  }
  return %r : memref<2xi32>
}
// ==== scattered_to_swapped_places
func.func @f(%m: memref<4xi32>, %at: vector<2xindex>, %v: vector<2xi32>) {
  %c0 = arith.constant 0 : index
  %k = arith.constant dense<true> : vector<2xi1>
  vector.scatter %m[%c0] [%at], %k, %v : memref<4xi32>, vector<2xindex>, vector<2xi1>, vector<2xi32>
  return
}
// ---- wrong
func.func @f(%m: memref<4xi32>, %at: vector<2xindex>, %v: vector<2xi32>) {
  %i, %j = vector.to_elements %at : vector<2xindex>
  %x, %y = vector.to_elements %v : vector<2xi32>
  memref.store %x, %m[%j] : memref<4xi32>
  memref.store %y, %m[%i] : memref<4xi32>
  return
}
// ---- right
func.func @f(%m: memref<4xi32>, %at: vector<2xindex>, %v: vector<2xi32>) {
  %i, %j = vector.to_elements %at : vector<2xindex>
  %x, %y = vector.to_elements %v : vector<2xi32>
  memref.store %x, %m[%i] : memref<4xi32>
  memref.store %y, %m[%j] : memref<4xi32>
  return
}
