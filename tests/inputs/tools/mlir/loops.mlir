// RUN: mlir-opt %s --loop-invariant-code-motion
// RUN: mlir-opt %s --scf-for-loop-canonicalization --canonicalize
// RUN: mlir-opt %s --convert-scf-to-cf --canonicalize
// RUN: mlir-opt %s --scf-for-to-while
// RUN: mlir-opt %s --scf-parallel-loop-fusion --canonicalize --cse
// RUN: mlir-opt %s --convert-scf-to-openmp

func.func @sum(%m: memref<64xf32>, %scale: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %total = scf.for %i = %c0 to %c64 step %c1 iter_args(%sum = %zero) -> f32 {
    %factor = arith.mulf %scale, %scale : f32
    %value = memref.load %m[%i] : memref<64xf32>
    %scaled = arith.mulf %value, %factor : f32
    %next = arith.addf %sum, %scaled : f32
    scf.yield %next : f32
  }
  return %total : f32
}

func.func @fused(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %c: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    %x = memref.load %a[%i, %j] : memref<8x8xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %b[%i, %j] : memref<8x8xf32>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    %x = memref.load %b[%i, %j] : memref<8x8xf32>
    %y = arith.negf %x : f32
    memref.store %y, %c[%i, %j] : memref<8x8xf32>
    scf.reduce
  }
  return
}

func.func @once(%a: i32, %condition: i1) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %result = scf.for %i = %c0 to %c1 step %c1 iter_args(%value = %a) -> i32 {
    %inner = scf.if %condition -> i32 {
      %double = arith.addi %value, %value : i32
      scf.yield %double : i32
    } else {
      scf.yield %value : i32
    }
    scf.yield %inner : i32
  }
  return %result : i32
}
