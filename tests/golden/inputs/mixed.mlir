func.func private @unused(%a: i32) -> i32 {
  return %a : i32
}
func.func private @id(%a: i32) -> i32 {
  return %a : i32
}
func.func @mixed(%a: i32, %b: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %true = arith.constant true
  %x = arith.addi %a, %c0 : i32
  %y = arith.addi %x, %c3 : i32
  %r = scf.if %true -> (i32) {
    %p = arith.divsi %y, %b : i32
    scf.yield %p : i32
  } else {
    scf.yield %a : i32
  }
  %i = call @id(%r) : (i32) -> i32
  %d1 = arith.muli %i, %a : i32
  %d2 = arith.muli %i, %a : i32
  return %d1, %d2 : i32, i32
}
