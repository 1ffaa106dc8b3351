func.func @f(%a: memref<4xf32, "here">, %b: memref<4xf32>, %i: index) -> f32 {
  %0 = memref.load %a[%i] : memref<4xf32, "here">
  %1 = memref.load %a[%i] : memref<4xf32, "here">
  %2 = memref.load %b[%i] : memref<4xf32>
  %3 = math.erf %2 : f32
  return %0 : f32
}
