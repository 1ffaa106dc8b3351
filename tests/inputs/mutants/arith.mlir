// ==== shift_gets_nsw
func.func @f(%x: i16) -> i16 {
  %two = arith.constant 2 : i16
  %r = arith.muli %x, %two : i16
  return %r : i16
}
// ---- wrong
func.func @f(%x: i16) -> i16 {
  %one = arith.constant 1 : i16
  %r = arith.shli %x, %one overflow<nsw> : i16
  return %r : i16
}
// ---- right
func.func @f(%x: i16) -> i16 {
  %one = arith.constant 1 : i16
  %r = arith.shli %x, %one : i16
  return %r : i16
}
// ==== division_of_negatives_becomes_shift
func.func @f(%x: i16) -> i16 {
  %four = arith.constant 4 : i16
  %r = arith.divsi %x, %four : i16
  return %r : i16
}
// ---- wrong
func.func @f(%x: i16) -> i16 {
  %two = arith.constant 2 : i16
  %r = arith.shrsi %x, %two : i16
  return %r : i16
}
// ---- right
func.func @f(%x: i16) -> i16 {
  %two = arith.constant 2 : i16
  %fourteen = arith.constant 14 : i16
  %fifteen = arith.constant 15 : i16
  %sign = arith.shrsi %x, %fifteen : i16
  %bias = arith.shrui %sign, %fourteen : i16
  %sum = arith.addi %x, %bias : i16
  %r = arith.shrsi %sum, %two : i16
  return %r : i16
}
// ==== select_arms_swapped
func.func @f(%x: i32, %y: i32) -> i32 {
  %c = arith.cmpi slt, %x, %y : i32
  %r = arith.select %c, %x, %y : i32
  return %r : i32
}
// ---- wrong
func.func @f(%x: i32, %y: i32) -> i32 {
  %c = arith.cmpi sge, %x, %y : i32
  %r = arith.select %c, %x, %y : i32
  return %r : i32
}
// ---- right
func.func @f(%x: i32, %y: i32) -> i32 {
  %c = arith.cmpi sge, %x, %y : i32
  %r = arith.select %c, %y, %x : i32
  return %r : i32
}
// ==== predicate_off_by_one
func.func @f(%x: i32) -> i1 {
  %ten = arith.constant 10 : i32
  %r = arith.cmpi slt, %x, %ten : i32
  return %r : i1
}
// ---- wrong
func.func @f(%x: i32) -> i1 {
  %ten = arith.constant 10 : i32
  %r = arith.cmpi sle, %x, %ten : i32
  return %r : i1
}
// ---- right
func.func @f(%x: i32) -> i1 {
  %nine = arith.constant 9 : i32
  %r = arith.cmpi sle, %x, %nine : i32
  return %r : i1
}
// ==== remainder_of_negatives_becomes_and
func.func @f(%x: i8) -> i8 {
  %eight = arith.constant 8 : i8
  %r = arith.remsi %x, %eight : i8
  return %r : i8
}
// ---- wrong
func.func @f(%x: i8) -> i8 {
  %seven = arith.constant 7 : i8
  %r = arith.andi %x, %seven : i8
  return %r : i8
}
// ---- right
func.func @f(%x: i8) -> i8 {
  %eight = arith.constant 8 : i8
  %q = arith.divsi %x, %eight : i8
  %p = arith.muli %q, %eight : i8
  %r = arith.subi %x, %p : i8
  return %r : i8
}
// ==== float_zero_added
func.func @f(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %r = arith.addf %x, %zero : f32
  return %r : f32
}
// ---- wrong
func.func @f(%x: f32) -> f32 {
  return %x : f32
}
// ---- right
func.func @f(%x: f32) -> f32 {
  %zero = arith.constant -0.0 : f32
  %r = arith.subf %x, %zero : f32
  return %r : f32
}
// ==== truncation_and_extension_removed
func.func @f(%x: i32) -> i32 {
  %low = arith.trunci %x : i32 to i8
  %r = arith.extsi %low : i8 to i32
  return %r : i32
}
// ---- wrong
func.func @f(%x: i32) -> i32 {
  return %x : i32
}
// ---- right
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 24 : i32
  %high = arith.shli %x, %c : i32
  %r = arith.shrsi %high, %c : i32
  return %r : i32
}
// ==== extension_of_the_other_sign
func.func @f(%x: i8) -> i32 {
  %wide = arith.extsi %x : i8 to i16
  %r = arith.extsi %wide : i16 to i32
  return %r : i32
}
// ---- wrong
func.func @f(%x: i8) -> i32 {
  %r = arith.extui %x : i8 to i32
  return %r : i32
}
// ---- right
func.func @f(%x: i8) -> i32 {
  %r = arith.extsi %x : i8 to i32
  return %r : i32
}
// ==== negated_comparison_of_floats
func.func @f(%x: f64, %y: f64) -> i1 {
  %true = arith.constant true
  %c = arith.cmpf ogt, %x, %y : f64
  %r = arith.xori %c, %true : i1
  return %r : i1
}
// ---- wrong
func.func @f(%x: f64, %y: f64) -> i1 {
  %r = arith.cmpf ole, %x, %y : f64
  return %r : i1
}
// ---- right
func.func @f(%x: f64, %y: f64) -> i1 {
  %r = arith.cmpf ule, %x, %y : f64
  return %r : i1
}
// ==== increment_that_may_wrap
func.func @f(%x: i32) -> i1 {
  %one = arith.constant 1 : i32
  %y = arith.addi %x, %one : i32
  %r = arith.cmpi sgt, %y, %x : i32
  return %r : i1
}
// ---- wrong
func.func @f(%x: i32) -> i1 {
  %r = arith.constant true
  return %r : i1
}
// ---- right
func.func @f(%x: i32) -> i1 {
  %most = arith.constant 2147483647 : i32
  %r = arith.cmpi ne, %x, %most : i32
  return %r : i1
}
// ==== floats_reassociated
func.func @f(%x: f16, %y: f16, %z: f16) -> f16 {
  %s = arith.addf %x, %y : f16
  %r = arith.addf %s, %z : f16
  return %r : f16
}
// ---- wrong
func.func @f(%x: f16, %y: f16, %z: f16) -> f16 {
  %s = arith.addf %y, %z : f16
  %r = arith.addf %x, %s : f16
  return %r : f16
}
// ---- right
func.func @f(%x: f16, %y: f16, %z: f16) -> f16 {
  %s = arith.addf %y, %x : f16
  %r = arith.addf %z, %s : f16
  return %r : f16
}
// ==== division_becomes_product_with_a_reciprocal
func.func @f(%x: f32) -> f32 {
  %c = arith.constant 3.0 : f32
  %r = arith.divf %x, %c : f32
  return %r : f32
}
// ---- wrong
func.func @f(%x: f32) -> f32 {
  %c = arith.constant 0.333333343 : f32
  %r = arith.mulf %x, %c : f32
  return %r : f32
}
// ---- right
func.func @f(%x: f32) -> f32 {
  %c = arith.constant -3.0 : f32
  %n = arith.negf %x : f32
  %r = arith.divf %n, %c : f32
  return %r : f32
}
// ==== high_part_of_a_product
func.func @f(%x: i64, %y: i64) -> i64 {
  %l, %h = arith.mulsi_extended %x, %y : i64
  return %h : i64
}
// ---- wrong
func.func @f(%x: i64, %y: i64) -> i64 {
  %l, %h = arith.mului_extended %x, %y : i64
  return %h : i64
}
// ---- right
func.func @f(%x: i64, %y: i64) -> i64 {
  %a = arith.extsi %x : i64 to i128
  %b = arith.extsi %y : i64 to i128
  %c64 = arith.constant 64 : i128
  %p = arith.muli %a, %b : i128
  %s = arith.shrui %p, %c64 : i128
  %r = arith.trunci %s : i128 to i64
  return %r : i64
}
// ==== select_becomes_or_of_what_may_be_poison
func.func @f(%x: i8) -> i1 {
  %t = arith.constant true
  %ten = arith.constant 10 : i8
  %h = arith.constant 100 : i8
  %c = arith.cmpi ult, %x, %ten : i8
  %z = arith.addi %x, %h overflow<nuw,nsw> : i8
  %d = arith.cmpi sgt, %z, %ten : i8
  %n = arith.cmpi sgt, %x, %ten : i8
  %r = arith.select %n, %t, %d : i1
  return %r : i1
}
// ---- wrong
func.func @f(%x: i8) -> i1 {
  %t = arith.constant true
  %ten = arith.constant 10 : i8
  %h = arith.constant 100 : i8
  %z = arith.addi %x, %h overflow<nuw,nsw> : i8
  %d = arith.cmpi sgt, %z, %ten : i8
  %n = arith.cmpi sgt, %x, %ten : i8
  %r = arith.ori %n, %d : i1
  return %r : i1
}
// ---- right
func.func @f(%x: i8) -> i1 {
  %t = arith.constant true
  %ten = arith.constant 10 : i8
  %h = arith.constant 100 : i8
  %z = arith.addi %x, %h : i8
  %d = arith.cmpi sgt, %z, %ten : i8
  %n = arith.cmpi sgt, %x, %ten : i8
  %r = arith.ori %n, %d : i1
  return %r : i1
}
// ==== sum_in_a_division_may_wrap
func.func @f(%x: i8, %y: i8) -> i8 {
  %r = arith.ceildivui %x, %y : i8
  return %r : i8
}
// ---- wrong
func.func @f(%x: i8, %y: i8) -> i8 {
  %o = arith.constant 1 : i8
  %a = arith.addi %x, %y : i8
  %b = arith.subi %a, %o : i8
  %r = arith.divui %b, %y : i8
  return %r : i8
}
// ---- right
func.func @f(%x: i8, %y: i8) -> i8 {
  %z = arith.constant 0 : i8
  %o = arith.constant 1 : i8
  %a = arith.subi %x, %o : i8
  %b = arith.divui %a, %y : i8
  %d = arith.addi %b, %o : i8
  %e = arith.cmpi eq, %x, %z : i8
  %r = arith.select %e, %z, %d : i8
  return %r : i8
}
// ==== sums_without_overflow_reassociated
func.func @f(%x: i8, %y: i8, %z: i8) -> i8 {
  %a = arith.addi %x, %y overflow<nsw> : i8
  %r = arith.addi %a, %z overflow<nsw> : i8
  return %r : i8
}
// ---- wrong
func.func @f(%x: i8, %y: i8, %z: i8) -> i8 {
  %a = arith.addi %y, %z overflow<nsw> : i8
  %r = arith.addi %x, %a overflow<nsw> : i8
  return %r : i8
}
// ---- right
func.func @f(%x: i8, %y: i8, %z: i8) -> i8 {
  %a = arith.addi %y, %z : i8
  %r = arith.addi %x, %a : i8
  return %r : i8
}
// ==== maximum_that_ignores_a_nan
func.func @f(%x: f32, %y: f32) -> f32 {
  %r = arith.maximumf %x, %y : f32
  return %r : f32
}
// ---- wrong
func.func @f(%x: f32, %y: f32) -> f32 {
  %r = arith.maxnumf %x, %y : f32
  return %r : f32
}
// ---- right
func.func @f(%x: f32, %y: f32) -> f32 {
  %c = arith.cmpf ugt, %x, %y : f32
  %s = arith.select %c, %x, %y : f32
  %n = arith.cmpf uno, %y, %y : f32
  %t = arith.select %n, %y, %s : f32
  %m = arith.maximumf %y, %x : f32
  return %m : f32
}
// ==== negation_becomes_difference_to_zero
func.func @f(%x: f32) -> f32 {
  %n = arith.negf %x : f32
  return %n : f32
}
// ---- wrong
func.func @f(%x: f32) -> f32 {
  %z = arith.constant 0.0 : f32
  %r = arith.subf %z, %x : f32
  return %r : f32
}
// ---- right
func.func @f(%x: f32) -> f32 {
  %z = arith.constant -0.0 : f32
  %r = arith.subf %z, %x : f32
  return %r : f32
}
// ==== narrow_float_in_between
func.func @f(%x: i32) -> i32 {
  %f = arith.sitofp %x : i32 to f64
  %r = arith.fptosi %f : f64 to i32
  return %r : i32
}
// ---- wrong
func.func @f(%x: i32) -> i32 {
  %f = arith.sitofp %x : i32 to f32
  %r = arith.fptosi %f : f32 to i32
  return %r : i32
}
// ---- right
func.func @f(%x: i32) -> i32 {
  return %x : i32
}
// ==== order_of_booleans
func.func @f(%x: i1, %y: i1) -> i1 {
  %r = arith.cmpi slt, %x, %y : i1
  return %r : i1
}
// ---- wrong
func.func @f(%x: i1, %y: i1) -> i1 {
  %r = arith.cmpi ult, %x, %y : i1
  return %r : i1
}
// ---- right
func.func @f(%x: i1, %y: i1) -> i1 {
  %r = arith.cmpi ugt, %x, %y : i1
  return %r : i1
}
