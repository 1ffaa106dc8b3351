func.func @main() {
  %m = memref.alloc() : memref<4x6xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  %pad = arith.constant 77 : i32
  %init = arith.constant dense<[[1,2,3,4,5,6],[11,12,13,14,15,16],[21,22,23,24,25,26],[31,32,33,34,35,36]]> : vector<4x6xi32>
  vector.transfer_write %init, %m[%c0, %c0] {in_bounds=[true,true]} : vector<4x6xi32>, memref<4x6xi32>
  %a = vector.transfer_read %m[%c1, %c3], %pad : memref<4x6xi32>, vector<2x5xi32>
  vector.print %a : vector<2x5xi32>
  %b = vector.transfer_read %m[%c1, %c3], %pad {permutation_map = affine_map<(d0,d1)->(d1,d0)>} : memref<4x6xi32>, vector<2x5xi32>
  vector.print %b : vector<2x5xi32>
  %c = vector.transfer_read %m[%c1, %c3], %pad {permutation_map = affine_map<(d0,d1)->(0,d0)>, in_bounds=[true,false]} : memref<4x6xi32>, vector<2x5xi32>
  vector.print %c : vector<2x5xi32>
  %mask = arith.constant dense<[[1,0,1],[0,1,1]]> : vector<2x3xi1>
  %d = vector.transfer_read %m[%c2, %c3], %pad, %mask {permutation_map = affine_map<(d0,d1)->(d1,d0)>} : memref<4x6xi32>, vector<3x2xi32>
  vector.print %d : vector<3x2xi32>
  %e = vector.load %m[%c1, %c2] : memref<4x6xi32>, vector<4xi32>
  vector.print %e : vector<4xi32>
  %m1 = vector.create_mask %c2 : vector<4xi1>
  %pt = arith.constant dense<-5> : vector<4xi32>
  %f = vector.maskedload %m[%c1, %c3], %m1, %pt : memref<4x6xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  vector.print %f : vector<4xi32>
  vector.maskedstore %m[%c2, %c2], %m1, %pt : memref<4x6xi32>, vector<4xi1>, vector<4xi32>
  %ix = arith.constant dense<[3,0,1,2]> : vector<4xi32>
  %m2 = arith.constant dense<[1,0,1,1]> : vector<4xi1>
  %g = vector.gather %m[%c2, %c1] [%ix], %m2, %pt : memref<4x6xi32>, vector<4xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  vector.print %g : vector<4xi32>
  %g2 = vector.expandload %m[%c3, %c1], %m2, %pt : memref<4x6xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  vector.print %g2 : vector<4xi32>
  %sv = arith.constant dense<[100,101,102,103]> : vector<4xi32>
  %flat = memref.alloc() : memref<24xi32>
  %zz = arith.constant dense<3> : vector<24xi32>
  vector.store %zz, %flat[%c0] : memref<24xi32>, vector<24xi32>
  vector.scatter %flat[%c0] [%ix], %m2, %sv : memref<24xi32>, vector<4xi32>, vector<4xi1>, vector<4xi32>
  vector.compressstore %m[%c1, %c0], %m2, %sv : memref<4x6xi32>, vector<4xi1>, vector<4xi32>
  %ff = vector.load %flat[%c0] : memref<24xi32>, vector<24xi32>
  vector.print %ff : vector<24xi32>
  vector.store %sv, %m[%c3, %c2] : memref<4x6xi32>, vector<4xi32>
  %w = arith.constant dense<[[7,8,9],[17,18,19]]> : vector<2x3xi32>
  vector.transfer_write %w, %m[%c3, %c0] {permutation_map = affine_map<(d0,d1)->(d1,d0)>, in_bounds = [true,false]} : vector<2x3xi32>, memref<4x6xi32>
  %all = vector.transfer_read %m[%c0, %c0], %pad : memref<4x6xi32>, vector<4x6xi32>
  vector.print %all : vector<4x6xi32>
  %mk = vector.mask %m2 { vector.transfer_read %m[%c0, %c3], %pad : memref<4x6xi32>, vector<4xi32> } : vector<4xi1> -> vector<4xi32>
  vector.print %mk : vector<4xi32>
  %r = vector.reduction <add>, %sv : vector<4xi32> into i32
  vector.print %r : i32
  %r2 = vector.mask %m2 { vector.reduction <minsi>, %sv, %pad : vector<4xi32> into i32 } : vector<4xi1> -> i32
  vector.print %r2 : i32
  %r3 = vector.mask %m2 { vector.reduction <maxui>, %sv : vector<4xi32> into i32 } : vector<4xi1> -> i32
  vector.print %r3 : i32
  %acc = arith.constant dense<[1,2,3]> : vector<3xi32>
  %r4 = vector.multi_reduction <mul>, %w, %acc [0] : vector<2x3xi32> to vector<3xi32>
  vector.print %r4 : vector<3xi32>
  %acc2 = arith.constant dense<[1,2]> : vector<2xi32>
  %r5 = vector.multi_reduction <xor>, %w, %acc2 [1] : vector<2x3xi32> to vector<2xi32>
  vector.print %r5 : vector<2xi32>
  %r6 = vector.mask %mask { vector.multi_reduction <add>, %w, %acc2 [1] : vector<2x3xi32> to vector<2xi32> } : vector<2x3xi1> -> vector<2xi32>
  vector.print %r6 : vector<2xi32>
  %r7 = vector.multi_reduction <add>, %w, %pad [0, 1] : vector<2x3xi32> to i32
  vector.print %r7 : i32
  %lhs = arith.constant dense<[[1,2,3],[4,5,6]]> : vector<2x3xi32>
  %rhs = arith.constant dense<[[1,2,3,4],[4,5,6,5],[3,-1,2,1]]> : vector<3x4xi32>
  %ac = arith.constant dense<1> : vector<2x4xi32>
  %ct = vector.contract {indexing_maps=[affine_map<(i,j,k)->(i,k)>,affine_map<(i,j,k)->(k,j)>,affine_map<(i,j,k)->(i,j)>], iterator_types=["parallel","parallel","reduction"]} %lhs, %rhs, %ac : vector<2x3xi32>, vector<3x4xi32> into vector<2x4xi32>
  vector.print %ct : vector<2x4xi32>
  %ct2 = vector.contract {indexing_maps=[affine_map<(i,j,k)->(i,k)>,affine_map<(i,j,k)->(k,j)>,affine_map<(i,j,k)->(i,j)>], iterator_types=["parallel","parallel","reduction"], kind = #vector.kind<maxsi>} %lhs, %rhs, %ac : vector<2x3xi32>, vector<3x4xi32> into vector<2x4xi32>
  vector.print %ct2 : vector<2x4xi32>
  %op = vector.outerproduct %acc2, %acc, %w {kind = #vector.kind<add>} : vector<2xi32>, vector<3xi32>
  vector.print %op : vector<2x3xi32>
  %op3 = vector.mask %mask { vector.outerproduct %acc2, %acc, %w {kind = #vector.kind<add>} : vector<2xi32>, vector<3xi32> } : vector<2x3xi1> -> vector<2x3xi32>
  vector.print %op3 : vector<2x3xi32>
  %op2 = vector.outerproduct %acc2, %pad : vector<2xi32>, i32
  vector.print %op2 : vector<2xi32>
  return
}
