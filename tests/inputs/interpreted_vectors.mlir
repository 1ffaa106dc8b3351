func.func @main() {
  %v = arith.constant dense<[[1,2,3],[4,5,6]]> : vector<2x3xi32>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = vector.extract %v[1] : vector<3xi32> from vector<2x3xi32>
  vector.print %a : vector<3xi32>
  %b = vector.extract %a[%c2] : i32 from vector<3xi32>
  vector.print %b : i32
  %c = vector.insert %b, %a[%c1] : i32 into vector<3xi32>
  vector.print %c : vector<3xi32>
  %d = vector.insert %a, %v[0] : vector<3xi32> into vector<2x3xi32>
  vector.print %d : vector<2x3xi32>
  %e = vector.insert %b, %v[%c1, 0] : i32 into vector<2x3xi32>
  vector.print %e : vector<2x3xi32>
  %f = vector.transpose %v, [1, 0] : vector<2x3xi32> to vector<3x2xi32>
  vector.print %f : vector<3x2xi32>
  %g = vector.shape_cast %v : vector<2x3xi32> to vector<3x2xi32>
  vector.print %g : vector<3x2xi32>
  %h = vector.broadcast %a : vector<3xi32> to vector<2x3xi32>
  vector.print %h : vector<2x3xi32>
  %i = vector.extract_strided_slice %v {offsets=[0,1], sizes=[2,2], strides=[1,1]} : vector<2x3xi32> to vector<2x2xi32>
  vector.print %i : vector<2x2xi32>
  %j = vector.insert_strided_slice %i, %v {offsets=[0,0], strides=[1,1]} : vector<2x2xi32> into vector<2x3xi32>
  vector.print %j : vector<2x3xi32>
  %s = vector.shuffle %a, %c [5, 0, 3, 1] : vector<3xi32>, vector<3xi32>
  vector.print %s : vector<4xi32>
  %bc = vector.bitcast %s : vector<4xi32> to vector<8xi16>
  vector.print %bc : vector<8xi16>
  %bd = vector.bitcast %bc : vector<8xi16> to vector<2xi64>
  vector.print %bd : vector<2xi64>
  %be = llvm.bitcast %s : vector<4xi32> to vector<16xi8>
  vector.print %be : vector<16xi8>
  %word = arith.constant -559038737 : i32
  %bf = llvm.bitcast %word : i32 to vector<4xi8>
  vector.print %bf : vector<4xi8>
  %bg = llvm.bitcast %bf : vector<4xi8> to i32
  vector.print %bg : i32
  %m = vector.create_mask %c1, %c2 : vector<2x3xi1>
  vector.print %m : vector<2x3xi1>
  %n = vector.constant_mask [2, 1] : vector<2x3xi1>
  vector.print %n : vector<2x3xi1>
  %il = vector.interleave %a, %c : vector<3xi32> -> vector<6xi32>
  vector.print %il : vector<6xi32>
  %d0, %d1 = vector.deinterleave %il : vector<6xi32> -> vector<3xi32>
  vector.print %d1 : vector<3xi32>
  %st = vector.step : vector<4xindex>
  vector.print %st : vector<4xindex>
  return
}
