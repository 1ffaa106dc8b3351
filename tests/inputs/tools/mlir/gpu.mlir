// RUN: mlir-opt %s --gpu-kernel-outlining --canonicalize
// RUN: mlir-opt %s --gpu-kernel-outlining --convert-gpu-to-nvvm
// RUN: mlir-opt %s --gpu-launch-sink-index-computations --cse

func.func @launch(%m: memref<32xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %value = memref.load %m[%tx] : memref<32xf32>
    %sum = arith.addf %value, %x : f32
    memref.store %sum, %m[%tx] : memref<32xf32>
    gpu.terminator
  }
  return
}
