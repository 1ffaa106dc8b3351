#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#part = affine_map<(d0)[s0] -> (d0 * 2 + s0, 7)>
#set = affine_set<(d0)[s0] : (d0 - s0 >= 0, -d0 + 10 >= 0)>
!alias = tuple<i32, tensor<2x2xf32>>

module @outer attributes {dlti.dl_spec = #dlti.dl_spec<index = 64 : i64>} {
  func.func private @declared(i32, f32 {llvm.noundef}) -> (i32, f32) attributes {no_inline}
  func.func @"odd symbol"() -> !alias {
    %0 = builtin.unrealized_conversion_cast to !alias {"odd name" = 1 : i8, note = "quoted \22text\22\0A"}
    return %0 : !alias
  }
  func.func @constants() -> (f32, f64, bf16, f32, f32, f64) {
    %f = arith.constant 0.1 : f32
    %d = arith.constant 3.1415926535897931 : f64
    %b = arith.constant 1.5 : bf16
    %inf = arith.constant 0x7F800000 : f32
    %nan = arith.constant 0x7FC00000 : f32
    %small = arith.constant 4.9e-324 : f64
    %true = arith.constant true
    %neg = arith.constant -7 : i8
    %idx = arith.constant 42 : index
    %splat = arith.constant dense<0.1> : tensor<64x64xf32>
    %many = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]> : tensor<18xi32>
    %few = arith.constant dense<[[1, -2], [3, 4]]> : vector<2x2xi8>
    %strs = "custom.strings"() {v = dense<["a", "b c"]> : tensor<2x!custom.string>} : () -> i32
    %z = complex.constant [0.1, -1.0] : complex<f64>
    %sparse = arith.constant sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>
    %res = arith.constant dense_resource<blob> : tensor<3xi32>
    return %f, %d, %b, %inf, %nan, %small : f32, f64, bf16, f32, f32, f64
  }
  func.func @blocks(%c: i1, %flag: i32, %x: i64) -> i64 {
    cf.cond_br %c, ^bb1(%x : i64), ^bb2
  ^bb1(%p: i64):
    %0 = arith.addi %p, %x : i64
    cf.switch %flag : i32, [
      default: ^bb3(%0, %p : i64, i64),
      7: ^bb2,
      8: ^bb1(%0 : i64)
    ]
  ^bb2:
    cf.br ^bb3(%x, %x : i64, i64)
  ^bb3(%a: i64, %b: i64):
    cf.assert %c, "must hold"
    %s = arith.subi %a, %b : i64
    return %s : i64
  }
  func.func @loops(%m: memref<?x10xf32>, %n: index, %init: f32) -> (f32, index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %count = %c0) -> (f32, index) {
      %v = memref.load %m[%i, %c0] : memref<?x10xf32>
      %sum = arith.addf %acc, %v fastmath<fast> : f32
      %next = arith.addi %count, %c1 overflow<nsw, nuw> : index
      scf.yield %sum, %next : f32, index
    } {loop_annotation = "hot"}
    scf.for %i = %c0 to %n step %c1 {
      memref.store %init, %m[%i, %c1] : memref<?x10xf32>
    }
    %w:2 = scf.while (%a = %c0, %b = %init) : (index, f32) -> (index, f32) {
      %cond = arith.cmpi ult, %a, %n : index
      scf.condition(%cond) %a, %b : index, f32
    } do {
    ^bb0(%a: index, %b: f32):
      %next = arith.addi %a, %c1 : index
      scf.yield %next, %b : index, f32
    }
    %cmp = arith.cmpi eq, %r#1, %w#0 : index
    %picked = scf.if %cmp -> (f32) {
      scf.yield %r#0 : f32
    } else {
      %negated = arith.negf %w#1 : f32
      scf.yield %negated : f32
    }
    scf.if %cmp {
      memref.store %picked, %m[%c0, %c0] : memref<?x10xf32>
    }
    %chosen = scf.index_switch %n -> f32
    case 2 {
      scf.yield %picked : f32
    }
    case 5 {
      scf.yield %init : f32
    }
    default {
      scf.yield %r#0 : f32
    }
    %par = scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) init (%init) -> f32 {
      scf.reduce(%chosen : f32) {
      ^bb0(%lhs: f32, %rhs: f32):
        %sum = arith.addf %lhs, %rhs : f32
        scf.reduce.return %sum : f32
      }
    }
    %out = scf.execute_region -> index {
      cf.cond_br %cmp, ^bb1, ^bb2(%n : index)
    ^bb1:
      cf.br ^bb2(%r#1 : index)
    ^bb2(%k: index):
      scf.yield %k : index
    }
    return %par, %out : f32, index
  }
  func.func @polyhedral(%m: memref<100x100xf32>, %s: index, %v: f32) -> f32 {
    %cst = arith.constant 0.0 : f32
    affine.for %i = 0 to %s {
      affine.for %j = max affine_map<(d0) -> (d0, 3)>(%i) to min #part(%i)[%s] step 2 {
        %x = affine.load %m[%i + 3, symbol(%s) * 2 + %j floordiv 4] : memref<100x100xf32>
        affine.store %x, %m[(%i + %j) mod 10, 0] : memref<100x100xf32>
        affine.if #set(%i)[%s] {
          affine.store %v, %m[%i ceildiv 2, -%j + 99] : memref<100x100xf32>
        } else {
          affine.prefetch %m[%i, %j], read, locality<3>, data : memref<100x100xf32>
        }
      }
    }
    %sum = affine.for %i = 0 to 10 iter_args(%acc = %cst) -> (f32) {
      %x = affine.load %m[%i, 0] : memref<100x100xf32>
      %y = arith.addf %acc, %x : f32
      affine.yield %y : f32
    }
    affine.parallel (%i, %j) = (0, 0) to (10, symbol(%s)) {
      %a = affine.apply affine_map<(d0, d1)[s0] -> (d0 + d1 * s0)>(%i, %j)[%s]
      %b = affine.min affine_map<(d0) -> (d0, 10)>(%i)
    }
    return %sum : f32
  }
}
