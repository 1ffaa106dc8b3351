// ==== prints_swapped
func.func @f(%x: i32, %y: i32) {
  vector.print %x : i32
  vector.print %y : i32
  return
}
// ---- wrong
func.func @f(%x: i32, %y: i32) {
  vector.print %y : i32
  vector.print %x : i32
  return
}
// ---- right
func.func @f(%x: i32, %y: i32) {
  %wide = arith.extsi %x : i32 to i64
  vector.print %wide : i64
  vector.print %y : i32
  return
}
// ==== print_hoisted_out_of_an_if
func.func @f(%c: i1, %x: i32) {
  scf.if %c {
    vector.print %x : i32
  }
  return
}
// ---- wrong
func.func @f(%c: i1, %x: i32) {
  vector.print %x : i32
  return
}
// ---- right
func.func @f(%c: i1, %x: i32) {
  cf.cond_br %c, ^then, ^end
^then:
  vector.print %x : i32
  cf.br ^end
^end:
  return
}
// ==== print_once_less
func.func @f(%v: vector<3xi32>) {
  affine.for %i = 0 to 3 {
    %x = vector.extract %v[%i] : i32 from vector<3xi32>
    vector.print %x : i32
  }
  return
}
// ---- wrong
func.func @f(%v: vector<3xi32>) {
  affine.for %i = 0 to 2 {
    %x = vector.extract %v[%i] : i32 from vector<3xi32>
    vector.print %x : i32
  }
  return
}
// ---- right
func.func @f(%v: vector<3xi32>) {
  %x, %y, %z = vector.to_elements %v : vector<3xi32>
  vector.print %x : i32
  vector.print %y : i32
  vector.print %z : i32
  return
}
// ==== calls_swapped
func.func private @start()
func.func private @stop(i32)
func.func @f(%x: i32) {
  call @start() : () -> ()
  call @stop(%x) : (i32) -> ()
  return
}
// ---- wrong
func.func private @start()
func.func private @stop(i32)
func.func @f(%x: i32) {
  call @stop(%x) : (i32) -> ()
  call @start() : () -> ()
  return
}
// ---- right
func.func private @start()
func.func private @stop(i32)
func.func @f(%x: i32) {
  %zero = arith.constant 0 : i32
  %y = arith.addi %x, %zero : i32
  call @start() : () -> ()
  call @stop(%y) : (i32) -> ()
  return
}
// ==== call_inlined_with_swapped_arguments
func.func private @less(%a: i32, %b: i32) -> i32 {
  %r = arith.subi %a, %b : i32
  return %r : i32
}
func.func @f(%x: i32, %y: i32) -> i32 {
  %r = call @less(%x, %y) : (i32, i32) -> i32
  return %r : i32
}
// ---- wrong
func.func @f(%x: i32, %y: i32) -> i32 {
  %r = arith.subi %y, %x : i32
  return %r : i32
}
// ---- right
func.func @f(%x: i32, %y: i32) -> i32 {
  %r = arith.subi %x, %y : i32
  return %r : i32
}
// ==== assertion_weakened
func.func @f(%x: i32) -> i32 {
  %ten = arith.constant 10 : i32
  %c = arith.cmpi ult, %x, %ten : i32
  cf.assert %c, "too large"
  return %x : i32
}
// ---- wrong
func.func @f(%x: i32) -> i32 {
  %ten = arith.constant 10 : i32
  %c = arith.cmpi slt, %x, %ten : i32
  cf.assert %c, "too large"
  return %x : i32
}
// ---- right
func.func @f(%x: i32) -> i32 {
  %nine = arith.constant 9 : i32
  %c = arith.cmpi ule, %x, %nine : i32
  cf.assert %c, "too large"
  return %x : i32
}
