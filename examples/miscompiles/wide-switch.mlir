// The lowering of an scf.index_switch cuts its cases down to 32 bits. 2^32 + 1 becomes 1, and
// so the case for it catches 1 as well.
//
// Upstream: https://github.com/llvm/llvm-project/issues/111589
// Command:  mlir-opt wide-switch.mlir --convert-scf-to-cf
// Expected: 30, as 1 is no case.
// Got:      20.

func.func private @choose(%x: index) -> index {
  %chosen = scf.index_switch %x -> index
  case 4294967297 {
    %twenty = arith.constant 20 : index
    scf.yield %twenty : index
  }
  default {
    %thirty = arith.constant 30 : index
    scf.yield %thirty : index
  }
  return %chosen : index
}

func.func @main() {
  %one = arith.constant 1 : index
  %chosen = call @choose(%one) : (index) -> index
  vector.print %chosen : index
  return
}
