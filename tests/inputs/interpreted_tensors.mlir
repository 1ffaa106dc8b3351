func.func private @show2(%t: tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %p = arith.constant -77 : i32
  %v = vector.transfer_read %t[%c0, %c0], %p : tensor<?x?xi32>, vector<4x6xi32>
  vector.print %v : vector<4x6xi32>
  return
}
func.func @main() {
  %a = arith.constant dense<[[1,2,3],[4,5,6]]> : tensor<2x3xi32>
  %b = arith.constant dense<[[1,2,3,4],[4,5,6,5],[3,-1,2,1]]> : tensor<3x4xi32>
  %z = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<2x4xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<2x4xi32>) -> tensor<2x4xi32>
  %m = linalg.matmul ins(%a, %b : tensor<2x3xi32>, tensor<3x4xi32>) outs(%f : tensor<2x4xi32>) -> tensor<2x4xi32>
  %md = tensor.cast %m : tensor<2x4xi32> to tensor<?x?xi32>
  call @show2(%md) : (tensor<?x?xi32>) -> ()
  %e2 = tensor.empty() : tensor<4x2xi32>
  %t = linalg.transpose ins(%m : tensor<2x4xi32>) outs(%e2 : tensor<4x2xi32>) permutation = [1, 0]
  %td = tensor.cast %t : tensor<4x2xi32> to tensor<?x?xi32>
  call @show2(%td) : (tensor<?x?xi32>) -> ()
  %e3 = tensor.empty() : tensor<2xi32>
  %f3 = linalg.fill ins(%z : i32) outs(%e3 : tensor<2xi32>) -> tensor<2xi32>
  %r = linalg.reduce ins(%m : tensor<2x4xi32>) outs(%f3 : tensor<2xi32>) dimensions = [1] (%x: i32, %y: i32) { %s = arith.addi %x, %y : i32  linalg.yield %s : i32 }
  %bc = linalg.broadcast ins(%r : tensor<2xi32>) outs(%e2 : tensor<4x2xi32>) dimensions = [0]
  %bcd = tensor.cast %bc : tensor<4x2xi32> to tensor<?x?xi32>
  call @show2(%bcd) : (tensor<?x?xi32>) -> ()
  %mp = linalg.map { arith.muli } ins(%bc, %t : tensor<4x2xi32>, tensor<4x2xi32>) outs(%e2 : tensor<4x2xi32>)
  %mpd = tensor.cast %mp : tensor<4x2xi32> to tensor<?x?xi32>
  call @show2(%mpd) : (tensor<?x?xi32>) -> ()
  %g = linalg.generic {indexing_maps = [affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%t : tensor<4x2xi32>) outs(%m : tensor<2x4xi32>) {
    ^bb0(%x: i32, %y: i32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %ij = arith.muli %i, %j : index
      %ii = arith.index_cast %ij : index to i32
      %s = arith.addi %x, %y : i32
      %s2 = arith.addi %s, %ii : i32
      linalg.yield %s2 : i32
  } -> tensor<2x4xi32>
  %gd = tensor.cast %g : tensor<2x4xi32> to tensor<?x?xi32>
  call @show2(%gd) : (tensor<?x?xi32>) -> ()
  // slices
  %sl = tensor.extract_slice %gd[%c0, %c1] [%c2, 2] [1, 2] : tensor<?x?xi32> to tensor<?x2xi32>
  %sld = tensor.cast %sl : tensor<?x2xi32> to tensor<?x?xi32>
  call @show2(%sld) : (tensor<?x?xi32>) -> ()
  %rr = tensor.extract_slice %b[0, %c2] [3, 1] [1, 1] : tensor<3x4xi32> to tensor<3xi32>
  %ins = tensor.insert_slice %rr into %b[%c0, 0] [3, 1] [1, 1] : tensor<3xi32> into tensor<3x4xi32>
  %insd = tensor.cast %ins : tensor<3x4xi32> to tensor<?x?xi32>
  call @show2(%insd) : (tensor<?x?xi32>) -> ()
  %x1 = tensor.extract %b[%c1, %c3] : tensor<3x4xi32>
  vector.print %x1 : i32
  %x2 = tensor.insert %x1 into %b[%c0, %c0] : tensor<3x4xi32>
  %x2d = tensor.cast %x2 : tensor<3x4xi32> to tensor<?x?xi32>
  call @show2(%x2d) : (tensor<?x?xi32>) -> ()
  %col = tensor.collapse_shape %b [[0, 1]] : tensor<3x4xi32> into tensor<12xi32>
  %exp = tensor.expand_shape %col [[0, 1]] output_shape [2, 6] : tensor<12xi32> into tensor<2x6xi32>
  %expd = tensor.cast %exp : tensor<2x6xi32> to tensor<?x?xi32>
  call @show2(%expd) : (tensor<?x?xi32>) -> ()
  %pad = tensor.pad %a low[1, %c1] high[0, 2] { ^bb0(%i0: index, %i1: index): tensor.yield %x1 : i32 } : tensor<2x3xi32> to tensor<3x?xi32>
  %padd = tensor.cast %pad : tensor<3x?xi32> to tensor<?x?xi32>
  call @show2(%padd) : (tensor<?x?xi32>) -> ()
  %cat = tensor.concat dim(1) %a, %a : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x6xi32>
  %catd = tensor.cast %cat : tensor<2x6xi32> to tensor<?x?xi32>
  call @show2(%catd) : (tensor<?x?xi32>) -> ()
  %gen = tensor.generate %c3 { ^bb0(%i0: index, %i1: index): %q = arith.subi %i0, %i1 : index  %q2 = arith.index_cast %q : index to i32  tensor.yield %q2 : i32 } : tensor<?x4xi32>
  %gend = tensor.cast %gen : tensor<?x4xi32> to tensor<?x?xi32>
  call @show2(%gend) : (tensor<?x?xi32>) -> ()
  %dm = tensor.dim %gend, %c0 : tensor<?x?xi32>
  vector.print %dm : index
  %spl = tensor.splat %x1 : tensor<2x2xi32>
  %spld = tensor.cast %spl : tensor<2x2xi32> to tensor<?x?xi32>
  call @show2(%spld) : (tensor<?x?xi32>) -> ()
  %fe = tensor.from_elements %x1, %z, %x1, %z : tensor<2x2xi32>
  %fed = tensor.cast %fe : tensor<2x2xi32> to tensor<?x?xi32>
  call @show2(%fed) : (tensor<?x?xi32>) -> ()
  %sh = arith.constant dense<[6, 2]> : tensor<2xi32>
  %sh2 = arith.constant dense<[2, 6]> : tensor<2xi32>
  %rs = tensor.reshape %b(%sh2) : (tensor<3x4xi32>, tensor<2xi32>) -> tensor<?x?xi32>
  call @show2(%rs) : (tensor<?x?xi32>) -> ()
  %w = arith.constant dense<[[1,2,3],[4,5,6],[7,8,9]]> : vector<3x3xi32>
  %tw = vector.transfer_write %w, %b[%c1, %c2] : vector<3x3xi32>, tensor<3x4xi32>
  %twd = tensor.cast %tw : tensor<3x4xi32> to tensor<?x?xi32>
  call @show2(%twd) : (tensor<?x?xi32>) -> ()
  // convolution, pooling
  %img = tensor.generate { ^bb0(%i0: index, %i1: index, %i2: index, %i3: index): %q = arith.muli %i2, %i1 : index %qq = arith.addi %q, %i3 : index %q2 = arith.index_cast %qq : index to i32  tensor.yield %q2 : i32 } : tensor<1x5x5x2xi32>
  %ker = tensor.generate { ^bb0(%i0: index, %i1: index, %i2: index, %i3: index): %q = arith.subi %i2, %i1 : index %qq = arith.addi %q, %i3 : index %q2 = arith.index_cast %qq : index to i32  tensor.yield %q2 : i32 } : tensor<2x2x2x3xi32>
  %o = arith.constant dense<1> : tensor<1x2x2x3xi32>
  %cv = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%img, %ker : tensor<1x5x5x2xi32>, tensor<2x2x2x3xi32>) outs(%o : tensor<1x2x2x3xi32>) -> tensor<1x2x2x3xi32>
  %cv2 = tensor.collapse_shape %cv [[0,1],[2,3]] : tensor<1x2x2x3xi32> into tensor<2x6xi32>
  %cv2d = tensor.cast %cv2 : tensor<2x6xi32> to tensor<?x?xi32>
  call @show2(%cv2d) : (tensor<?x?xi32>) -> ()
  %po = arith.constant dense<0> : tensor<1x3x3x2xi32>
  %win = tensor.empty() : tensor<3x3xi32>
  %pl = linalg.pooling_nhwc_max {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%img, %win : tensor<1x5x5x2xi32>, tensor<3x3xi32>) outs(%po : tensor<1x3x3x2xi32>) -> tensor<1x3x3x2xi32>
  %pl2 = tensor.collapse_shape %pl [[0,1],[2,3]] : tensor<1x3x3x2xi32> into tensor<3x6xi32>
  %pl2d = tensor.cast %pl2 : tensor<3x6xi32> to tensor<?x?xi32>
  call @show2(%pl2d) : (tensor<?x?xi32>) -> ()
  %el = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %a : tensor<2x3xi32>, tensor<2x3xi32>) outs(%a : tensor<2x3xi32>) -> tensor<2x3xi32>
  %sq = linalg.sub ins(%el, %a : tensor<2x3xi32>, tensor<2x3xi32>) outs(%a : tensor<2x3xi32>) -> tensor<2x3xi32>
  %sqd = tensor.cast %sq : tensor<2x3xi32> to tensor<?x?xi32>
  call @show2(%sqd) : (tensor<?x?xi32>) -> ()
  return
}
