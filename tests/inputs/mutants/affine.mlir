// ==== minimum_instead_of_maximum
func.func @f(%i: index, %j: index) -> index {
  %r = affine.max affine_map<(d0, d1) -> (d0, d1 + 1)>(%i, %j)
  return %r : index
}
// ---- wrong
func.func @f(%i: index, %j: index) -> index {
  %r = affine.min affine_map<(d0, d1) -> (d0, d1 + 1)>(%i, %j)
  return %r : index
}
// ---- right
func.func @f(%i: index, %j: index) -> index {
  %one = arith.constant 1 : index
  %k = arith.addi %j, %one : index
  %c = arith.cmpi slt, %i, %k : index
  %r = arith.select %c, %k, %i : index
  return %r : index
}
// ==== floordiv_becomes_division_to_zero
func.func @f(%i: index) -> index {
  %r = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%i)
  return %r : index
}
// ---- wrong
func.func @f(%i: index) -> index {
  %four = arith.constant 4 : index
  %r = arith.divsi %i, %four : index
  return %r : index
}
// ---- right
func.func @f(%i: index) -> index {
  %two = arith.constant 2 : index
  %r = arith.shrsi %i, %two : index
  return %r : index
}
// ==== ceildiv_becomes_floordiv_and_one
func.func @f(%i: index) -> index {
  %c = arith.constant 15 : index
  %k = arith.andi %i, %c : index
  %r = affine.apply affine_map<(d0) -> (d0 ceildiv 4)>(%k)
  return %r : index
}
// ---- wrong
func.func @f(%i: index) -> index {
  %c = arith.constant 15 : index
  %k = arith.andi %i, %c : index
  %r = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 1)>(%k)
  return %r : index
}
// ---- right
func.func @f(%i: index) -> index {
  %c = arith.constant 15 : index
  %k = arith.andi %i, %c : index
  %r = affine.apply affine_map<(d0) -> ((d0 + 3) floordiv 4)>(%k)
  return %r : index
}
// ==== modulo_of_negatives_becomes_remainder
func.func @f(%i: index) -> index {
  %r = affine.apply affine_map<(d0) -> (d0 mod 8)>(%i)
  return %r : index
}
// ---- wrong
func.func @f(%i: index) -> index {
  %eight = arith.constant 8 : index
  %r = arith.remsi %i, %eight : index
  return %r : index
}
// ---- right
func.func @f(%i: index) -> index {
  %seven = arith.constant 7 : index
  %r = arith.andi %i, %seven : index
  return %r : index
}
// ==== store_forwarded_past_another_store
func.func @f(%m: memref<8xi32>, %i: index, %j: index, %x: i32, %y: i32) -> i32 {
  affine.store %x, %m[symbol(%i)] : memref<8xi32>
  affine.store %y, %m[symbol(%j)] : memref<8xi32>
  %r = affine.load %m[symbol(%i)] : memref<8xi32>
  return %r : i32
}
// ---- wrong
func.func @f(%m: memref<8xi32>, %i: index, %j: index, %x: i32, %y: i32) -> i32 {
  affine.store %x, %m[symbol(%i)] : memref<8xi32>
  affine.store %y, %m[symbol(%j)] : memref<8xi32>
  return %x : i32
}
// ---- right
func.func @f(%m: memref<8xi32>, %i: index, %j: index, %x: i32, %y: i32) -> i32 {
  affine.store %x, %m[symbol(%i)] : memref<8xi32>
  affine.store %y, %m[symbol(%j)] : memref<8xi32>
  %same = arith.cmpi eq, %i, %j : index
  %r = arith.select %same, %y, %x : i32
  return %r : i32
}
// ==== loops_exchanged_against_a_dependence
func.func @f(%m: memref<4x4xi32>) {
  affine.for %i = 1 to 4 {
    affine.for %j = 0 to 3 {
      %x = affine.load %m[%i - 1, %j + 1] : memref<4x4xi32>
      affine.store %x, %m[%i, %j] : memref<4x4xi32>
    }
  }
  return
}
// ---- wrong
func.func @f(%m: memref<4x4xi32>) {
  affine.for %j = 0 to 3 {
    affine.for %i = 1 to 4 {
      %x = affine.load %m[%i - 1, %j + 1] : memref<4x4xi32>
      affine.store %x, %m[%i, %j] : memref<4x4xi32>
    }
  }
  return
}
// ---- right
func.func @f(%m: memref<4x4xi32>) {
  affine.for %i = 1 to 4 {
    affine.for %j = 0 to 3 {
      %x = affine.load %m[%i - 1, -%j + 3] : memref<4x4xi32>
      affine.store %x, %m[%i, -%j + 2] : memref<4x4xi32>
    }
  }
  return
}
// ==== bound_of_an_if
func.func @f(%i: index, %x: i32, %y: i32) -> i32 {
  %r = affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) -> i32 {
    affine.yield %x : i32
  } else {
    affine.yield %y : i32
  }
  return %r : i32
}
// ---- wrong
func.func @f(%i: index, %x: i32, %y: i32) -> i32 {
  %r = affine.if affine_set<(d0) : (-d0 + 3 >= 0)>(%i) -> i32 {
    affine.yield %y : i32
  } else {
    affine.yield %x : i32
  }
  return %r : i32
}
// ---- right
func.func @f(%i: index, %x: i32, %y: i32) -> i32 {
  %r = affine.if affine_set<(d0) : (-d0 + 2 >= 0)>(%i) -> i32 {
    affine.yield %y : i32
  } else {
    affine.yield %x : i32
  }
  return %r : i32
}
// ==== tile_without_the_minimum_of_its_end
func.func @f(%m: memref<?xi32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %m, %c0 : memref<?xi32>
  affine.for %i = 0 to %n {
    affine.store %x, %m[%i] : memref<?xi32>
  }
  return
}
// ---- wrong
func.func @f(%m: memref<?xi32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %m, %c0 : memref<?xi32>
  affine.for %t = 0 to %n step 2 {
    affine.for %i = affine_map<(d0) -> (d0)>(%t) to affine_map<(d0) -> (d0 + 2)>(%t) {
      affine.store %x, %m[%i] : memref<?xi32>
    }
  }
  return
}
// ---- right
func.func @f(%m: memref<?xi32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %m, %c0 : memref<?xi32>
  affine.for %t = 0 to %n step 2 {
    affine.for %i = affine_map<(d0) -> (d0)>(%t) to min affine_map<(d0)[s0] -> (d0 + 2, s0)>(%t)[%n] {
      affine.store %x, %m[%i] : memref<?xi32>
    }
  }
  return
}
// ==== parallel_loop_becomes_one_without_its_step
func.func @f(%m: memref<4xi32>) {
  affine.parallel (%i) = (0) to (4) step (2) {
    %x = affine.load %m[%i] : memref<4xi32>
    affine.store %x, %m[%i + 1] : memref<4xi32>
  }
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
  affine.for %i = 0 to 2 {
    %x = affine.load %m[%i * 2] : memref<4xi32>
    affine.store %x, %m[%i * 2 + 1] : memref<4xi32>
  }
  return
}
// ==== basis_of_a_delinearization
func.func @f(%i: index) -> index {
  %a:2 = affine.delinearize_index %i into (3, 4) : index, index
  return %a#0 : index
}
// ---- wrong
func.func @f(%i: index) -> index {
  %r = affine.apply affine_map<(d0) -> (d0 floordiv 3)>(%i)
  return %r : index
}
// ---- right
func.func @f(%i: index) -> index {
  %r = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%i)
  return %r : index
}
// ==== loop_that_may_not_run_becomes_product
func.func @f(%n: index, %x: i32) -> i32 {
  %z = arith.constant 0 : i32
  %r = affine.for %i = 5 to %n iter_args(%s = %z) -> i32 {
    %t = arith.addi %s, %x : i32
    affine.yield %t : i32
  }
  return %r : i32
}
// ---- wrong
func.func @f(%n: index, %x: i32) -> i32 {
  %k = arith.constant 5 : index
  %d = arith.subi %n, %k : index
  %e = arith.index_cast %d : index to i32
  %r = arith.muli %e, %x : i32
  return %r : i32
}
// ---- right
func.func @f(%n: index, %x: i32) -> i32 {
  %k = arith.constant 5 : index
  %z = arith.constant 0 : index
  %d = arith.subi %n, %k : index
  %f = arith.maxsi %d, %z : index
  %e = arith.index_cast %f : index to i32
  %r = arith.muli %e, %x : i32
  return %r : i32
}
