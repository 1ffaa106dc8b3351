// Canonicalization moves an scf.if from the condition of an scf.while into its body. When the
// result of the scf.if is handed to the body twice, the second one becomes the value of the
// else branch, although the body runs only where the condition holds.
//
// Upstream: https://github.com/llvm/llvm-project/issues/219456
// Command:  mlir-opt while-if.mlir --canonicalize
// Expected: 3. The loop adds 3 to 0, leaves since 3 is not below 2, and yields it.
// Got:      50, the value of the else branch.

func.func @count() -> index {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %never = arith.constant 50 : index
  %result:3 = scf.while (%now = %zero) : (index) -> (index, index, index) {
    %more = arith.cmpi ult, %now, %two : index
    %chosen = scf.if %more -> index {
      %sum = arith.addi %now, %three : index
      scf.yield %sum : index
    } else {
      scf.yield %never : index
    }
    scf.condition(%more) %chosen, %chosen, %now : index, index, index
  } do {
  ^bb0(%first: index, %second: index, %old: index):
    scf.yield %second : index
  }
  return %result#2 : index
}

func.func @main() {
  %count = call @count() : () -> index
  vector.print %count : index
  return
}
