#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false}>
#loc = loc("/src/kernel.py":12:0)
#loc1 = loc(unknown)
#loc20 = loc("x_ptr"(#loc))
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @kernel(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x_ptr"(#loc)), %n: i32 loc("n"(#loc))) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32 loc(#loc1)
    %pid = tt.get_program_id x : i32 loc(#loc21)
    %acc:2 = scf.for %k = %c0_i32 to %n step %n iter_args(%a = %cst, %p = %x) -> (tensor<128xf32, #blocked>, !tt.ptr<f32>)  : i32 {
      %x_6 = tt.load %p, %mask {loop.cluster = 0 : i32} : tensor<128x!tt.ptr<f32>, #blocked> loc(#loc22)
      scf.yield %a, %p : tensor<128xf32, #blocked>, !tt.ptr<f32> loc(#loc23)
    } {tt.num_stages = 3 : i32} loc(#loc4)
    %sum = "tt.reduce"(%acc#0) <{axis = 0 : i32}> ({
    ^bb0(%a: f32 loc(callsite(#loc1 at #loc4)), %b: f32 loc(callsite(#loc1 at #loc4))):
      %m = arith.addf %a, %b : f32 loc(#loc31)
      tt.reduce.return %m : f32 loc(#loc31)
    }) : (tensor<128xf32, #blocked>) -> f32 loc(#loc31)
    ttg.warp_specialize(%sum)
    default {
      ttg.warp_yield loc(#loc1)
    }
    partition0(%arg: f32 loc(unknown)) num_warps(4) {
      ttg.warp_return loc(#loc1)
    } : (f32) -> () loc(#loc1)
    tt.return loc(#loc5)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("/src/kernel.py":20:24)
#loc3 = loc("/src/kernel.py":21:8)
#loc4 = loc("/src/kernel.py":22:4)
#loc5 = loc("/src/kernel.py":30:4)
#loc21 = loc("pid"(#loc2))
#loc22 = loc("x"(#loc3))
#loc23 = loc(fused[#loc3, #loc4])
#loc31 = loc(callsite("sum"(#loc3) at #loc5))
