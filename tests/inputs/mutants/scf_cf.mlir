// ==== loop_with_an_iteration_too_many
func.func @f(%n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %m = arith.minsi %n, %c8 : index
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%sum = %zero) -> i32 {
    %x = arith.index_cast %i : index to i32
    %next = arith.addi %sum, %x : i32
    scf.yield %next : i32
  }
  return %r : i32
}
// ---- wrong
func.func @f(%n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %m = arith.minsi %n, %c8 : index
  %end = arith.addi %m, %c1 : index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%sum = %zero) -> i32 {
    %x = arith.index_cast %i : index to i32
    %next = arith.addi %sum, %x : i32
    scf.yield %next : i32
  }
  return %r : i32
}
// ---- right
func.func @f(%n: index) -> i32 {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %m = arith.minsi %n, %c8 : index
  %r = scf.for %i = %c1 to %m step %c1 iter_args(%sum = %zero) -> i32 {
    %x = arith.index_cast %i : index to i32
    %next = arith.addi %sum, %x : i32
    scf.yield %next : i32
  }
  return %r : i32
}
// ==== store_hoisted_out_of_a_loop_that_may_not_run
func.func @f(%n: index, %x: i32, %m: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %end = arith.minsi %n, %c3 : index
  scf.for %i = %c0 to %end step %c1 {
    memref.store %x, %m[%c0] : memref<4xi32>
  }
  return
}
// ---- wrong
func.func @f(%n: index, %x: i32, %m: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  memref.store %x, %m[%c0] : memref<4xi32>
  return
}
// ---- right
func.func @f(%n: index, %x: i32, %m: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %runs = arith.cmpi sgt, %n, %c0 : index
  scf.if %runs {
    memref.store %x, %m[%c0] : memref<4xi32>
  }
  return
}
// ==== division_hoisted_out_of_an_if
func.func @f(%c: i1, %x: i16, %y: i16) -> i16 {
  %r = scf.if %c -> i16 {
    %q = arith.divui %x, %y : i16
    scf.yield %q : i16
  } else {
    scf.yield %x : i16
  }
  return %r : i16
}
// ---- wrong
func.func @f(%c: i1, %x: i16, %y: i16) -> i16 {
  %q = arith.divui %x, %y : i16
  %r = arith.select %c, %q, %x : i16
  return %r : i16
}
// ---- right
func.func @f(%c: i1, %x: i16, %y: i16) -> i16 {
  %one = arith.constant 1 : i16
  %d = arith.select %c, %y, %one : i16
  %r = arith.divui %x, %d : i16
  return %r : i16
}
// ==== branches_of_an_if_swapped
func.func @f(%x: i32, %y: i32) -> i32 {
  %c = arith.cmpi ult, %x, %y : i32
  %r = scf.if %c -> i32 {
    scf.yield %y : i32
  } else {
    scf.yield %x : i32
  }
  return %r : i32
}
// ---- wrong
func.func @f(%x: i32, %y: i32) -> i32 {
  %c = arith.cmpi ult, %x, %y : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%x : i32)
^bb2:
  cf.br ^bb3(%y : i32)
^bb3(%r: i32):
  return %r : i32
}
// ---- right
func.func @f(%x: i32, %y: i32) -> i32 {
  %c = arith.cmpi ult, %x, %y : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%y : i32)
^bb2:
  cf.br ^bb3(%x : i32)
^bb3(%r: i32):
  return %r : i32
}
// ==== default_of_a_switch
func.func @f(%x: index) -> i32 {
  %r = scf.index_switch %x -> i32
  case 2 {
    %a = arith.constant 20 : i32
    scf.yield %a : i32
  }
  case 5 {
    %b = arith.constant 50 : i32
    scf.yield %b : i32
  }
  default {
    %d = arith.constant 7 : i32
    scf.yield %d : i32
  }
  return %r : i32
}
// ---- wrong
func.func @f(%x: index) -> i32 {
  %c2 = arith.constant 2 : index
  %a = arith.constant 20 : i32
  %b = arith.constant 50 : i32
  %is2 = arith.cmpi eq, %x, %c2 : index
  %r = arith.select %is2, %a, %b : i32
  return %r : i32
}
// ---- right
func.func @f(%x: index) -> i32 {
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %a = arith.constant 20 : i32
  %b = arith.constant 50 : i32
  %d = arith.constant 7 : i32
  %is2 = arith.cmpi eq, %x, %c2 : index
  %is5 = arith.cmpi eq, %x, %c5 : index
  %rest = arith.select %is5, %b, %d : i32
  %r = arith.select %is2, %a, %rest : i32
  return %r : i32
}
// ==== cases_of_a_branch_shifted
func.func @f(%x: i32) -> i32 {
  %a = arith.constant 10 : i32
  %b = arith.constant 20 : i32
  %d = arith.constant 30 : i32
  cf.switch %x : i32, [
    default: ^end(%d : i32),
    0: ^end(%a : i32),
    1: ^end(%b : i32)
  ]
^end(%r: i32):
  return %r : i32
}
// ---- wrong
func.func @f(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %a = arith.constant 10 : i32
  %b = arith.constant 20 : i32
  %d = arith.constant 30 : i32
  %is0 = arith.cmpi eq, %x, %c0 : i32
  %c1 = arith.constant 1 : i32
  %is1 = arith.cmpi sge, %x, %c1 : i32
  %rest = arith.select %is1, %b, %d : i32
  %r = arith.select %is0, %a, %rest : i32
  return %r : i32
}
// ---- right
func.func @f(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %a = arith.constant 10 : i32
  %b = arith.constant 20 : i32
  %d = arith.constant 30 : i32
  %is0 = arith.cmpi eq, %x, %c0 : i32
  %c1 = arith.constant 1 : i32
  %is1 = arith.cmpi eq, %x, %c1 : i32
  %rest = arith.select %is1, %b, %d : i32
  %r = arith.select %is0, %a, %rest : i32
  return %r : i32
}
// ==== loops_fused_though_one_reads_what_comes_later
func.func @f(%a: memref<5xi32>, %b: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %two = arith.constant 2 : i32
  scf.for %i = %c0 to %c5 step %c1 {
    %x = memref.load %a[%i] : memref<5xi32>
    %y = arith.muli %x, %two : i32
    memref.store %y, %a[%i] : memref<5xi32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %j = arith.addi %i, %c1 : index
    %x = memref.load %a[%j] : memref<5xi32>
    memref.store %x, %b[%i] : memref<4xi32>
  }
  return
}
// ---- wrong
func.func @f(%a: memref<5xi32>, %b: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %two = arith.constant 2 : i32
  scf.for %i = %c0 to %c4 step %c1 {
    %x = memref.load %a[%i] : memref<5xi32>
    %y = arith.muli %x, %two : i32
    memref.store %y, %a[%i] : memref<5xi32>
    %j = arith.addi %i, %c1 : index
    %z = memref.load %a[%j] : memref<5xi32>
    memref.store %z, %b[%i] : memref<4xi32>
  }
  %x = memref.load %a[%c4] : memref<5xi32>
  %y = arith.muli %x, %two : i32
  memref.store %y, %a[%c4] : memref<5xi32>
  return
}
// ---- right
func.func @f(%a: memref<5xi32>, %b: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %two = arith.constant 2 : i32
  %first = memref.load %a[%c0] : memref<5xi32>
  %twice = arith.muli %first, %two : i32
  memref.store %twice, %a[%c0] : memref<5xi32>
  scf.for %i = %c1 to %c5 step %c1 {
    %x = memref.load %a[%i] : memref<5xi32>
    %y = arith.muli %x, %two : i32
    memref.store %y, %a[%i] : memref<5xi32>
    %j = arith.subi %i, %c1 : index
    memref.store %y, %b[%j] : memref<4xi32>
  }
  return
}
// ==== unrolled_without_the_rest
func.func @f(%v: tensor<?xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %n = tensor.dim %v, %c0 : tensor<?xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %x = tensor.extract %v[%i] : tensor<?xi32>
    %next = arith.addi %sum, %x : i32
    scf.yield %next : i32
  }
  return %r : i32
}
// ---- wrong
func.func @f(%v: tensor<?xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %n = tensor.dim %v, %c0 : tensor<?xi32>
  %rest = arith.remui %n, %c2 : index
  %even = arith.subi %n, %rest : index
  %r = scf.for %i = %c0 to %even step %c2 iter_args(%sum = %zero) -> i32 {
    %j = arith.addi %i, %c1 : index
    %x = tensor.extract %v[%i] : tensor<?xi32>
    %y = tensor.extract %v[%j] : tensor<?xi32>
    %s = arith.addi %sum, %x : i32
    %next = arith.addi %s, %y : i32
    scf.yield %next : i32
  }
  return %r : i32
}
// ---- right
func.func @f(%v: tensor<?xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %n = tensor.dim %v, %c0 : tensor<?xi32>
  %rest = arith.remui %n, %c2 : index
  %even = arith.subi %n, %rest : index
  %most = scf.for %i = %c0 to %even step %c2 iter_args(%sum = %zero) -> i32 {
    %j = arith.addi %i, %c1 : index
    %x = tensor.extract %v[%i] : tensor<?xi32>
    %y = tensor.extract %v[%j] : tensor<?xi32>
    %s = arith.addi %sum, %x : i32
    %next = arith.addi %s, %y : i32
    scf.yield %next : i32
  }
  %r = scf.for %i = %even to %n step %c1 iter_args(%sum = %most) -> i32 {
    %x = tensor.extract %v[%i] : tensor<?xi32>
    %next = arith.addi %sum, %x : i32
    scf.yield %next : i32
  }
  return %r : i32
}
// ==== carried_values_swapped
func.func @f(%x: i32, %y: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (i32, i32) {
    %s = arith.addi %a, %b : i32
    scf.yield %b, %s : i32, i32
  }
  return %r#0, %r#1 : i32, i32
}
// ---- wrong
func.func @f(%x: i32, %y: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %y, %b = %x) -> (i32, i32) {
    %s = arith.addi %a, %b : i32
    scf.yield %b, %s : i32, i32
  }
  return %r#0, %r#1 : i32, i32
}
// ---- right
func.func @f(%x: i32, %y: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%b = %y, %a = %x) -> (i32, i32) {
    %s = arith.addi %a, %b : i32
    scf.yield %s, %b : i32, i32
  }
  return %r#1, %r#0 : i32, i32
}
// ==== while_that_yields_the_next_value
func.func @f(%x: i8) -> i8 {
  %one = arith.constant 1 : i8
  %r = scf.while (%a = %x) : (i8) -> i8 {
    %five = arith.constant 5 : i8
    %go = arith.cmpi ugt, %a, %five : i8
    scf.condition(%go) %a : i8
  } do {
  ^body(%a: i8):
    %half = arith.shrui %a, %one : i8
    scf.yield %half : i8
  }
  return %r : i8
}
// ---- wrong
func.func @f(%x: i8) -> i8 {
  %one = arith.constant 1 : i8
  %r = scf.while (%a = %x) : (i8) -> i8 {
    %five = arith.constant 5 : i8
    %half = arith.shrui %a, %one : i8
    %go = arith.cmpi ugt, %a, %five : i8
    scf.condition(%go) %half : i8
  } do {
  ^body(%half: i8):
    scf.yield %half : i8
  }
  return %r : i8
}
// ---- right
func.func @f(%x: i8) -> i8 {
  cf.br ^head(%x : i8)
^head(%a: i8):
  %six = arith.constant 6 : i8
  %done = arith.cmpi ult, %a, %six : i8
  cf.cond_br %done, ^end, ^body
^body:
  %two = arith.constant 2 : i8
  %half = arith.divui %a, %two : i8
  cf.br ^head(%half : i8)
^end:
  return %a : i8
}
// ==== condition_of_a_while_inverted
func.func @f(%x: i8) -> i8 {
  %one = arith.constant 1 : i8
  %r = scf.while (%a = %x) : (i8) -> i8 {
    %odd = arith.andi %a, %one : i8
    %go = arith.trunci %odd : i8 to i1
    scf.condition(%go) %a : i8
  } do {
  ^body(%a: i8):
    %next = arith.addi %a, %one : i8
    scf.yield %next : i8
  }
  return %r : i8
}
// ---- wrong
func.func @f(%x: i8) -> i8 {
  %one = arith.constant 1 : i8
  %r = scf.while (%a = %x) : (i8) -> i8 {
    %zero = arith.constant 0 : i8
    %odd = arith.andi %a, %one : i8
    %go = arith.cmpi eq, %odd, %zero : i8
    scf.condition(%go) %a : i8
  } do {
  ^body(%a: i8):
    %next = arith.addi %a, %one : i8
    scf.yield %next : i8
  }
  return %r : i8
}
// ---- right
func.func @f(%x: i8) -> i8 {
  %one = arith.constant 1 : i8
  %odd = arith.andi %x, %one : i8
  %r = arith.addi %x, %odd : i8
  return %r : i8
}
// ==== loop_of_open_length_with_an_iteration_too_many
func.func @f(%n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %x = arith.index_cast %i : index to i32
    %next = arith.addi %sum, %x : i32
    scf.yield %next : i32
  }
  return %r : i32
}
// ---- wrong
func.func @f(%n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %end = arith.addi %n, %c1 : index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%sum = %zero) -> i32 {
    %x = arith.index_cast %i : index to i32
    %next = arith.addi %sum, %x : i32
    scf.yield %next : i32
  }
  return %r : i32
}
// ---- right
func.func @f(%n: index) -> i32 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %x = arith.index_cast %i : index to i32
    %next = arith.addi %sum, %x : i32
    scf.yield %next : i32
  }
  return %r : i32
}
// ==== load_hoisted_out_of_an_if
func.func @f(%c: i1, %m: memref<4xi32>, %i: index) -> i32 {
  %r = scf.if %c -> i32 {
    %a = memref.load %m[%i] : memref<4xi32>
    scf.yield %a : i32
  } else {
    %z = arith.constant 0 : i32
    scf.yield %z : i32
  }
  return %r : i32
}
// ---- wrong
func.func @f(%c: i1, %m: memref<4xi32>, %i: index) -> i32 {
  %a = memref.load %m[%i] : memref<4xi32>
  %z = arith.constant 0 : i32
  %r = arith.select %c, %a, %z : i32
  return %r : i32
}
// ---- right
func.func @f(%c: i1, %m: memref<4xi32>, %i: index) -> i32 {
  %z0 = arith.constant 0 : index
  %j = arith.select %c, %i, %z0 : index
  %a = memref.load %m[%j] : memref<4xi32>
  %z = arith.constant 0 : i32
  %r = arith.select %c, %a, %z : i32
  return %r : i32
}
// ==== first_iteration_of_a_parallel_sum_lost
func.func @f(%m: memref<4xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0 : i32
  %r = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%z) -> i32 {
    %a = memref.load %m[%i] : memref<4xi32>
    scf.reduce(%a : i32) {
    ^bb0(%l: i32, %q: i32):
      %s = arith.addi %l, %q : i32
      scf.reduce.return %s : i32
    }
  }
  return %r : i32
}
// ---- wrong
func.func @f(%m: memref<4xi32>) -> i32 {
  %z = arith.constant 0 : i32
  %r = affine.for %i = 1 to 4 iter_args(%s = %z) -> i32 {
    %a = affine.load %m[%i] : memref<4xi32>
    %t = arith.addi %s, %a : i32
    affine.yield %t : i32
  }
  return %r : i32
}
// ---- right
func.func @f(%m: memref<4xi32>) -> i32 {
  %z = arith.constant 0 : i32
  %r = affine.for %i = 0 to 4 iter_args(%s = %z) -> i32 {
    %a = affine.load %m[-%i + 3] : memref<4xi32>
    %t = arith.addi %a, %s : i32
    affine.yield %t : i32
  }
  return %r : i32
}
// ==== slice_of_a_tile
func.func @f(%t: tensor<4xi32>) -> tensor<4xi32> {
  %r = linalg.mul ins(%t, %t : tensor<4xi32>, tensor<4xi32>) outs(%t : tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
// ---- wrong
func.func @f(%t: tensor<4xi32>) -> tensor<4xi32> {
  %r = scf.forall (%i) in (2) shared_outs(%o = %t) -> tensor<4xi32> {
    %k = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    %a = tensor.extract_slice %t[%i] [2] [1] : tensor<4xi32> to tensor<2xi32>
    %b = linalg.mul ins(%a, %a : tensor<2xi32>, tensor<2xi32>) outs(%a : tensor<2xi32>) -> tensor<2xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %b into %o[%k] [2] [1] : tensor<2xi32> into tensor<4xi32>
    }
  }
  return %r : tensor<4xi32>
}
// ---- right
func.func @f(%t: tensor<4xi32>) -> tensor<4xi32> {
  %r = scf.forall (%i) in (2) shared_outs(%o = %t) -> tensor<4xi32> {
    %k = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    %a = tensor.extract_slice %t[%k] [2] [1] : tensor<4xi32> to tensor<2xi32>
    %b = linalg.mul ins(%a, %a : tensor<2xi32>, tensor<2xi32>) outs(%a : tensor<2xi32>) -> tensor<2xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %b into %o[%k] [2] [1] : tensor<2xi32> into tensor<4xi32>
    }
  }
  return %r : tensor<4xi32>
}
// ==== count_up_to_any_number
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
  return %n : i32
}
// ---- right
func.func @f(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = arith.maxsi %n, %zero : i32
  return %r : i32
}
