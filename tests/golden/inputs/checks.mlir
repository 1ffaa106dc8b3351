// CHECK: func.func @shift
// CHECK: arith.constant 2
