module @outer attributes {gpu.container_module, transform.with_named_sequence} {
  func.func @tensors(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %dyn: tensor<?x8xf32>, %i: index) -> tensor<4x4xf32> {
    %cst = arith.constant 0.1 : f32
    %c0 = arith.constant 0 : index
    %empty = tensor.empty() : tensor<4x4xf32>
    %init = linalg.fill ins(%cst : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
    %mm = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
    %gen:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%mm : tensor<4x4xf32>) outs(%init, %empty : tensor<4x4xf32>, tensor<4x4xf32>) attrs = {tag = "first"} {
    ^bb0(%in: f32, %out: f32, %out2: f32):
      %0 = linalg.index 0 : index
      %1 = arith.mulf %in, %cst : f32
      linalg.yield %1, %out : f32, f32
    } -> (tensor<4x4xf32>, tensor<4x4xf32>)
    %vec = tensor.empty() : tensor<4xf32>
    %red = linalg.reduce ins(%gen#0 : tensor<4x4xf32>) outs(%vec : tensor<4xf32>) dimensions = [1]
      (%in: f32, %acc: f32) {
        %0 = arith.addf %in, %acc : f32
        %1 = arith.mulf %0, %0 : f32
        linalg.yield %1 : f32
      }
    %red2 = linalg.reduce { arith.addf } ins(%gen#0 : tensor<4x4xf32>) outs(%vec : tensor<4xf32>) dimensions = [1]
    %mapped = linalg.map { arith.addf } ins(%gen#1, %init : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>)
    %bc = linalg.broadcast ins(%red : tensor<4xf32>) outs(%empty : tensor<4x4xf32>) dimensions = [0]
    %tr = linalg.transpose ins(%bc : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
    %d = tensor.dim %dyn, %c0 : tensor<?x8xf32>
    %sl = tensor.extract_slice %dyn[%i, 0] [4, %d] [1, 2] : tensor<?x8xf32> to tensor<4x?xf32>
    %pad = tensor.pad %sl low[1, %i] high[0, 2] {
    ^bb0(%p: index, %q: index):
      tensor.yield %cst : f32
    } : tensor<4x?xf32> to tensor<5x?xf32>
    %made = tensor.generate %d {
    ^bb0(%p: index):
      %e = tensor.extract %a[%p, %c0] : tensor<4x8xf32>
      tensor.yield %e : f32
    } : tensor<?xf32>
    %ex = tensor.expand_shape %made [[0, 1]] output_shape [%d, 1] : tensor<?xf32> into tensor<?x1xf32>
    %col = tensor.collapse_shape %ex [[0, 1]] : tensor<?x1xf32> into tensor<?xf32>
    %ins = tensor.insert_slice %tr into %init[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x4xf32>
    "test.use"(%red2, %pad, %col, %mapped) : (tensor<4xf32>, tensor<5x?xf32>, tensor<?xf32>, tensor<4x4xf32>) -> ()
    return %ins : tensor<4x4xf32>
  }
  func.func @vectors(%m: memref<4x?xf32>, %v: vector<4xf32>, %mask: vector<4xi1>, %i: index) -> vector<4xf32> {
    %pad = arith.constant 0.0 : f32
    %r = vector.transfer_read %m[%i, %i], %pad {in_bounds = [true]} : memref<4x?xf32>, vector<4xf32>
    %m2 = vector.broadcast %r : vector<4xf32> to vector<4x4xf32>
    %c = vector.contract {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %m2, %v, %r : vector<4x4xf32>, vector<4xf32> into vector<4xf32>
    %s = vector.shuffle %r, %v [0, 1, 4, 5] : vector<4xf32>, vector<4xf32>
    %b = vector.broadcast %pad : f32 to vector<4xf32>
    %k = vector.mask %mask { vector.transfer_read %m[%i, %i], %pad {in_bounds = [true]} : memref<4x?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
    %f = vector.fma %s, %b, %k : vector<4xf32>
    %red = vector.reduction <add>, %f : vector<4xf32> into f32
    vector.print %red : f32
    vector.transfer_write %f, %m[%i, %i] {in_bounds = [true]} : vector<4xf32>, memref<4x?xf32>
    %e = math.exp %f : vector<4xf32>
    %p = math.fma %e, %f, %f fastmath<nnan,contract> : vector<4xf32>
    %ext = vector.extract %p[2] : f32 from vector<4xf32>
    %scal = vector.insert %ext, %p[0] : f32 into vector<4xf32>
    return %scal : vector<4xf32>
  }
  func.func @buffers(%n: index) -> memref<?xi8> {
    %c0 = arith.constant 0 : index
    %a = memref.alloc(%n) {alignment = 64 : i64} : memref<4x?xf32>
    %s = memref.subview %a[0, %c0] [2, 2] [1, 1] : memref<4x?xf32> to memref<2x2xf32, strided<[?, 1], offset: ?>>
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : memref<4x?xf32> -> memref<f32>, index, index, index, index, index
    %g = memref.get_global @table : memref<3xi32>
    %one = arith.constant 1 : i32
    %old = memref.atomic_rmw addi %one, %g[%c0] : (i32, memref<3xi32>) -> i32
    %gen = memref.generic_atomic_rmw %g[%c0] : memref<3xi32> {
    ^bb0(%current: i32):
      %inc = arith.addi %current, %current : i32
      memref.atomic_yield %inc : i32
    }
    memref.alloca_scope {
      %t = memref.alloca() : memref<4xi8>
      memref.alloca_scope.return
    }
    %al = memref.alloc(%n) : memref<?xi8>
    memref.dealloc %a : memref<4x?xf32>
    return %al : memref<?xi8>
  }
  memref.global "private" constant @table : memref<3xi32> = dense<[1, 2, 3]>
  func.func @tosa(%x: tensor<1x4x4x2xf32>, %w: tensor<8x1x1x2xf32>, %b: tensor<8xf32>, %zp: tensor<1xf32>) -> tensor<1x4x4x8xf32> {
    %0 = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<8x1x1x2xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
    %1 = tosa.clamp %0 {min_val = 0.1 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %cond = "tosa.const"() <{values = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %2 = tosa.cond_if %cond (%then_in = %1, %other = %0) : tensor<i1> (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
    ^bb0(%p: tensor<1x4x4x8xf32>, %q: tensor<1x4x4x8xf32>):
      %3 = tosa.add %p, %q : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
      tosa.yield %3 : tensor<1x4x4x8xf32>
    } else {
    ^bb0(%p: tensor<1x4x4x8xf32>, %q: tensor<1x4x4x8xf32>):
      tosa.yield %q : tensor<1x4x4x8xf32>
    }
    return %2 : tensor<1x4x4x8xf32>
  }
  func.func @quantized(%x: tensor<4x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<4xf32> {
    %0 = quant.dcast %x : tensor<4x!quant.uniform<i8:f32, 0.1:3>> to tensor<4xf32>
    %1 = quant.qcast %0 : tensor<4xf32> to tensor<4x!quant.uniform<i8<-127:127>:f32:0, {0.2,0.3:-1,0.1,2.0}>>
    return %0 : tensor<4xf32>
  }
  llvm.func @native(%p: !llvm.ptr {llvm.noalias}, %n: i64) -> !llvm.struct<(i64, ptr)> attributes {passthrough = ["noinline"]} {
    %0 = llvm.mlir.constant(1 : i32) : i32
    %1 = llvm.mlir.undef : !llvm.struct<(i64, ptr)>
    %2 = llvm.getelementptr inbounds %p[%n, 3] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
    %3 = llvm.load %2 {alignment = 4 : i64} : !llvm.ptr -> f32
    %4 = llvm.insertvalue %n, %1[0] : !llvm.struct<(i64, ptr)>
    %5 = llvm.icmp "slt" %n, %n : i64
    llvm.cond_br %5 weights([3, 5]), ^bb1(%n : i64), ^bb2
  ^bb1(%q: i64):
    %6 = llvm.mlir.addressof @message : !llvm.ptr
    %7 = llvm.call @printf(%6, %q) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, i64) -> i32
    llvm.switch %q : i64, ^bb2 [
      1: ^bb1(%n : i64),
      2: ^bb2
    ]
  ^bb2:
    llvm.return %4 : !llvm.struct<(i64, ptr)>
  }
  llvm.mlir.global internal constant @message("hi %d\0A\00") {addr_space = 0 : i32}
  llvm.mlir.global external @start() : i32 {
    %0 = llvm.mlir.constant(3 : i32) : i32
    llvm.return %0 : i32
  }
  llvm.func @printf(!llvm.ptr, ...) -> i32
  func.func @threads(%m: memref<10xf32>, %n: index, %v: f32, %c: i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    omp.parallel {
      omp.wsloop schedule(static) {
        omp.loop_nest (%i, %j) : index = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
          memref.store %v, %m[%i] : memref<10xf32>
          omp.yield
        }
      }
      omp.barrier
      omp.terminator
    }
    omp.sections {
      omp.section {
        omp.critical {
          omp.terminator
        }
        omp.terminator
      }
      omp.terminator
    }
    omp.single {
      omp.task if(%c) {
        omp.terminator
      }
      omp.terminator
    }
    return
  }
  omp.private {type = private} @priv : f32
  omp.declare_reduction @add_f32 : f32
  init {
  ^bb0(%arg: f32):
    %0 = arith.constant 0.0 : f32
    omp.yield (%0 : f32)
  }
  combiner {
  ^bb1(%arg0: f32, %arg1: f32):
    %1 = arith.addf %arg0, %arg1 : f32
    omp.yield (%1 : f32)
  }
  func.func @reduction(%p: memref<1xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    omp.wsloop reduction(@add_f32 %p -> %q : memref<1xf32>) {
      omp.loop_nest (%i) : index = (%c0) to (%n) inclusive step (%n) {
        omp.yield
      }
    }
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%m: memref<?xf32>, %x: f32) workgroup(%buf: memref<32xf32, 3>) private(%own: memref<1xf32, 5>) kernel {
      %t = gpu.thread_id x
      gpu.barrier
      %sum = gpu.all_reduce add %x uniform {} : (f32) -> (f32)
      %sum2 = gpu.all_reduce %sum uniform {
      ^bb0(%lhs: f32, %rhs: f32):
        %a = arith.addf %lhs, %rhs : f32
        gpu.yield %a : f32
      } : (f32) -> (f32)
      %o = arith.constant 7 : i32
      %sh, %valid = gpu.shuffle xor %sum2, %o, %o : f32
      memref.store %sum2, %m[%t] : memref<?xf32>
      gpu.return
    }
  }
  func.func @launches(%m: memref<?xf32>, %x: f32, %n: index) {
    %c1 = arith.constant 1 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
      memref.store %x, %m[%tx] : memref<?xf32>
      gpu.terminator
    }
    gpu.launch_func @kernels::@kernel blocks in (%n, %c1, %c1) threads in (%n, %c1, %c1) args(%m : memref<?xf32>, %x : f32)
    return
  }
  spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Shader], []> {
    spirv.GlobalVariable @in built_in("GlobalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
    spirv.SpecConstant @sc = 0.1 : f32
    spirv.func @compute(%a: f32, %b: i1) -> f32 "None" {
      %0 = spirv.Constant 3 : i32
      %1 = spirv.Variable : !spirv.ptr<f32, Function>
      %addr = spirv.mlir.addressof @in : !spirv.ptr<vector<3xi32>, Input>
      spirv.mlir.selection {
        spirv.BranchConditional %b [5, 3], ^bb1, ^bb2
      ^bb1:
        spirv.Store "Function" %1, %a ["Aligned", 4] : f32
        spirv.Branch ^bb2
      ^bb2:
        spirv.mlir.merge
      }
      %l = spirv.Load "Function" %1 : f32
      %e = spirv.GL.Exp %l : f32
      spirv.ReturnValue %e : f32
    }
    spirv.EntryPoint "GLCompute" @compute, @in
  }
  module @inner {
    module {
      func.func nested @deep(%a: i32) -> i32 { return %a : i32 }
    }
    func.func private @empty()
  }
  %top:3 = "unknown.many"() ({
  ^bb0(%a: i32):
    "unknown.branch"(%a)[^bb1, ^bb2] : (i32) -> ()
  ^bb1:
    "unknown.end"() : () -> ()
  ^bb2:
    "unknown.end"() : () -> ()
  }, {
  }, {
    %x = "unknown.inner"() {unit, f = 0.1 : f32, arr = array<i32: 1, 2>, d = {k = [1, "s", @table]}, "needs quotes" = #unknown.attr<"x">} : () -> !unknown.type<3>
  }, {
  ^bb0:
  }) {after} : () -> (i32, i32, f32)
  "unknown.use"(%top#2, %top#0) : (f32, i32) -> ()
  func.func @properties(%f: i32) -> (i32, i1) {
    %sum, %overflow = arith.addui_extended %f, %f : i32, i1
    return %sum, %overflow : i32, i1
  }
  async.func @waits(%t: !async.token) -> !async.token {
    async.return
  }
  func.func @executes(%t: !async.token, %v: !async.value<f32>) {
    %token, %bodyResults = async.execute [%t] (%v as %x : !async.value<f32>) -> !async.value<f32> {
      async.yield %x : f32
    }
    async.await %token : !async.token
    return
  }
  pdl.pattern @rename : benefit(2) {
    %type = pdl.type : i32
    %value = pdl.operand : %type
    %attr = pdl.attribute = 3 : i32
    %root = pdl.operation "a.b" (%value : !pdl.value) {"x" = %attr} -> (%type : !pdl.type)
    pdl.rewrite %root {
      pdl.replace %root with (%value : !pdl.value)
    }
  }
  transform.named_sequence @__transform(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %f tile_sizes [2, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
  emitc.func @c(%x: i32) -> i32 {
    %v = "emitc.variable"() <{value = 3 : i32}> : () -> !emitc.lvalue<i32>
    %e = emitc.expression %x : (i32) -> i32 {
      %a = emitc.add %x, %x : (i32, i32) -> i32
      emitc.yield %a : i32
    }
    %lo = "emitc.constant"() <{value = 1 : i32}> : () -> i32
    %hi = emitc.add %lo, %lo : (i32, i32) -> i32
    emitc.for %i = %lo to %hi step %lo : i32 {
      emitc.verbatim "// {}" args %e : i32
    }
    emitc.return %e : i32
  }
  irdl.dialect @cmath {
    irdl.type @complex {
      %0 = irdl.is f32
      %1 = irdl.any_of(%0)
      irdl.parameters(elem: %1)
    }
  }
  func.func @shapes(%x: tensor<?xf32>) -> !shape.witness {
    %s = shape.shape_of %x : tensor<?xf32> -> tensor<?xindex>
    %w = shape.const_witness true
    %r = shape.assuming %w -> (tensor<?xf32>) {
      shape.assuming_yield %x : tensor<?xf32>
    }
    return %w : !shape.witness
  }
}
