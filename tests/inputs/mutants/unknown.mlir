// ==== operands_of_an_unknown_operation
func.func @f(%x: i32, %y: i32) -> i32 {
  %r = "foo.combine"(%x, %y) : (i32, i32) -> i32
  return %r : i32
}
// ---- changed
func.func @f(%x: i32, %y: i32) -> i32 {
  %r = "foo.combine"(%y, %x) : (i32, i32) -> i32
  return %r : i32
}
// ==== attribute_of_an_unknown_operation
func.func @f(%x: i32) -> i32 {
  %r = "foo.scale"(%x) {by = 2 : i32} : (i32) -> i32
  return %r : i32
}
// ---- changed
func.func @f(%x: i32) -> i32 {
  %r = "foo.scale"(%x) {by = 3 : i32} : (i32) -> i32
  return %r : i32
}
// ==== unknown_operation_replaced
func.func @f(%x: i32) -> i32 {
  %r = "foo.double"(%x) : (i32) -> i32
  return %r : i32
}
// ---- changed
func.func @f(%x: i32) -> i32 {
  %r = arith.addi %x, %x : i32
  return %r : i32
}
// ==== unknown_operation_removed
func.func @f(%x: i32) -> i32 {
  %r = "foo.barrier"(%x) : (i32) -> i32
  %s = arith.subi %r, %x : i32
  return %s : i32
}
// ---- changed
func.func @f(%x: i32) -> i32 {
  %s = arith.constant 0 : i32
  return %s : i32
}
// ==== unknown_operation_without_results
func.func @f(%x: i32, %y: i32) {
  "foo.note"(%x) : (i32) -> ()
  "foo.note"(%y) : (i32) -> ()
  return
}
// ---- changed
func.func @f(%x: i32, %y: i32) {
  "foo.note"(%y) : (i32) -> ()
  "foo.note"(%x) : (i32) -> ()
  return
}
// ==== unknown_operation_with_a_region
func.func @f(%x: i32) -> i32 {
  %r = "foo.region"() ({
    "foo.yield"(%x) : (i32) -> ()
  }) : () -> i32
  return %r : i32
}
// ---- changed
func.func @f(%x: i32) -> i32 {
  return %x : i32
}
// ==== outside_function_called_once_less
func.func private @get(i32) -> i32
func.func @f(%x: i32) -> i32 {
  %a = call @get(%x) : (i32) -> i32
  %b = call @get(%x) : (i32) -> i32
  %r = arith.addi %a, %b : i32
  return %r : i32
}
// ---- changed
func.func private @get(i32) -> i32
func.func @f(%x: i32) -> i32 {
  %a = call @get(%x) : (i32) -> i32
  %r = arith.addi %a, %a : i32
  return %r : i32
}
// ==== outside_function_replaced
func.func private @square(i32) -> i32
func.func @f(%x: i32) -> i32 {
  %r = call @square(%x) : (i32) -> i32
  return %r : i32
}
// ---- changed
func.func private @square(i32) -> i32
func.func @f(%x: i32) -> i32 {
  %r = arith.muli %x, %x : i32
  return %r : i32
}
// ==== condition_of_an_unknown_operation
func.func @f(%x: i32, %y: i32) -> i32 {
  %c = "foo.test"(%x) : (i32) -> i1
  %r = arith.select %c, %x, %y : i32
  return %r : i32
}
// ---- changed
func.func @f(%x: i32, %y: i32) -> i32 {
  %c = "foo.negated"(%x) : (i32) -> i1
  %r = arith.select %c, %y, %x : i32
  return %r : i32
}
// ==== tensor_of_unknown_rank
func.func @f(%t: tensor<*xi32>) -> index {
  %r = tensor.rank %t : tensor<*xi32>
  return %r : index
}
// ---- changed
func.func @f(%t: tensor<*xi32>) -> index {
  %r = arith.constant 2 : index
  return %r : index
}
