func.func private @unused(%a: i32) -> i32 {
  return %a : i32
}
func.func private @id(%a: i32) -> i32 {
  return %a : i32
}
func.func @mixed(%a: i32, %b: i32) -> (i32, i1, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %true = arith.constant true
  %x = arith.addi %a, %c0 : i32
  %k = arith.addi %c2, %c3 : i32
  %s, %o = arith.addui_extended %x, %c0 : i32, i1
  %w = arith.addi %c3, %b : i32
  %y = arith.addi %w, %c2 : i32
  %n = arith.muli %y, %k : i32
  %r = scf.if %true -> (i32) {
    %p = arith.divsi %n, %b : i32
    %q = arith.remsi %p, %a : i32
    scf.yield %q : i32
  } else {
    scf.yield %a : i32
  }
  %i = call @id(%r) : (i32) -> i32
  %d1 = arith.muli %i, %a : i32
  %d2 = arith.muli %i, %a : i32
  %t = arith.xori %d1, %d2 : i32
  return %s, %o, %n, %t, %x : i32, i1, i32, i32, i32
}
