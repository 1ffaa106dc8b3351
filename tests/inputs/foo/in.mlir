func.func @scaled(%a: i32) -> i32 {
  %two = arith.constant 2 : i32
  %b = arith.muli %a, %two : i32
  %three = arith.constant 3 : i32
  %c = arith.muli %b, %three : i32
  return %c : i32
}
