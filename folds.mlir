func.func @sum(%a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %x = arith.addi %a, %c0 : i32
  %y = arith.addi %x, %c3 : i32
  %z = arith.addi %y, %c4 : i32
  return %z : i32
}
func.func @twice(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %x = arith.addi %a, %c1 : i32
  %y = arith.addi %x, %c2 : i32
  return %y : i32
}
