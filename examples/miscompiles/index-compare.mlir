// Canonicalization turns `(x - 2) <= 0` into `x <= 2`. For unsigned numbers that is wrong: as
// index.sub wraps around, 0 - 2 is the largest number but one.
//
// Upstream: https://github.com/llvm/llvm-project/issues/216042
// Command:  mlir-opt index-compare.mlir --canonicalize
// Expected: the comparison of the difference with 0 is kept.
// Got:      index.cmp ule(%x, %two), which holds for x = 0 and x = 1 as well.

func.func @difference_is_zero(%x: index) -> i1 {
  %zero = index.constant 0
  %two = index.constant 2
  %difference = index.sub %x, %two
  %result = index.cmp ule(%difference, %zero)
  return %result : i1
}
