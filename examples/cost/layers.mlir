// Two layers of a network: a large and a small matrix product, each with an activation.
#map = affine_map<(d0, d1) -> (d0, d1)>

func.func @layers(%x: memref<128x256xf32>, %a: memref<256x256xf32>, %b: memref<256x16xf32>,
                  %hidden: memref<128x256xf32>, %out: memref<128x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%hidden : memref<128x256xf32>)
  linalg.matmul ins(%x, %a : memref<128x256xf32>, memref<256x256xf32>)
                outs(%hidden : memref<128x256xf32>)
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]}
      outs(%hidden : memref<128x256xf32>) {
  ^bb0(%value: f32):
    %positive = arith.maximumf %value, %zero : f32
    linalg.yield %positive : f32
  }
  linalg.fill ins(%zero : f32) outs(%out : memref<128x16xf32>)
  linalg.matmul ins(%hidden, %b : memref<128x256xf32>, memref<256x16xf32>)
                outs(%out : memref<128x16xf32>)
  return
}
