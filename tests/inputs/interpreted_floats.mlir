func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 7.5 : f32
  %f = arith.constant dense<[1.5, -2.0, 3.25, 0.5]> : vector<4xf32>
  %g = arith.constant dense<[2.0, 0.5, -1.0, 4.0]> : vector<4xf32>
  %k0 = vector.reduction <add>, %f : vector<4xf32> into f32
  vector.print %k0 : f32
  %k1 = vector.reduction <mul>, %f, %pad : vector<4xf32> into f32
  vector.print %k1 : f32
  %k2 = vector.reduction <maximumf>, %f, %pad : vector<4xf32> into f32
  vector.print %k2 : f32
  %k3 = vector.reduction <minnumf>, %f : vector<4xf32> into f32
  vector.print %k3 : f32
  %fm = vector.fma %f, %g, %f : vector<4xf32>
  vector.print %fm : vector<4xf32>
  %op = vector.outerproduct %f, %pad, %g {kind = #vector.kind<add>} : vector<4xf32>, f32
  vector.print %op : vector<4xf32>
  %bc = vector.bitcast %f : vector<4xf32> to vector<8xi16>
  vector.print %bc : vector<8xi16>
  %bb = vector.bitcast %bc : vector<8xi16> to vector<2xf64>
  %bd = vector.bitcast %bb : vector<2xf64> to vector<4xf32>
  vector.print %bd : vector<4xf32>
  %z = vector.broadcast %pad : f32 to vector<f32>
  %ze = vector.extract %z[] : f32 from vector<f32>
  vector.print %ze : f32
  %zi = vector.insert %k0, %z[] : f32 into vector<f32>
  %zs = vector.shape_cast %zi : vector<f32> to vector<1xf32>
  vector.print %zs : vector<1xf32>
  %m0 = memref.alloc() : memref<f32>
  vector.transfer_write %zi, %m0[] : vector<f32>, memref<f32>
  %l0 = memref.load %m0[] : memref<f32>
  vector.print %l0 : f32
  %r0 = vector.transfer_read %m0[], %pad : memref<f32>, vector<f32>
  %r0e = vector.extract %r0[] : f32 from vector<f32>
  vector.print %r0e : f32
  %mask1 = arith.constant dense<[1,0,1,1]> : vector<4xi1>
  %bits = vector.broadcast %mask1 : vector<4xi1> to vector<2x4xi1>
  %bs = vector.shape_cast %bits : vector<2x4xi1> to vector<8xi1>
  %bsc = vector.bitcast %bs : vector<8xi1> to vector<1xi8>
  vector.print %bsc : vector<1xi8>
  %e:4 = vector.to_elements %f : vector<4xf32>
  vector.print %e#2 : f32
  %cm0 = vector.create_mask %c1 : vector<i1>
  vector.print %cm0 : vector<i1>
  %mv = memref.alloc() : memref<3xvector<4xf32>>
  memref.store %f, %mv[%c0] : memref<3xvector<4xf32>>
  memref.store %g, %mv[%c1] : memref<3xvector<4xf32>>
  %lv = memref.load %mv[%c1] : memref<3xvector<4xf32>>
  vector.print %lv : vector<4xf32>
  %tv = vector.broadcast %g : vector<4xf32> to vector<2x4xf32>
  vector.print %tv : vector<2x4xf32>
  %mm = memref.alloc() : memref<vector<2x4xf32>>
  memref.store %tv, %mm[] : memref<vector<2x4xf32>>
  %tc = vector.type_cast %mm : memref<vector<2x4xf32>> to memref<2xvector<4xf32>>
  %lt = memref.load %tc[%c1] : memref<2xvector<4xf32>>
  vector.print %lt : vector<4xf32>
  return
}
