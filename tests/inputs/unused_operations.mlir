// An example of each operation that validate gives a meaning, and that touches no memory, by itself:
// no result is used.
func.func private @callee()
func.func @indices(%i: index, %j: index) {
  %0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
  %1 = affine.min affine_map<(d0) -> (d0, 3)>(%i)
  %2 = affine.max affine_map<(d0) -> (d0, 3)>(%i)
  %3 = affine.linearize_index [%i, %j] by (4, 4) : index
  %4:2 = affine.delinearize_index %i into (4, 4) : index, index
  %5 = index.constant 3
  %6 = index.bool.constant true
  %7 = arith.constant 1 : i32
  %8 = llvm.mlir.constant(1 : i32) : i32
  %9 = llvm.mlir.poison : i32
  %10 = ub.poison : i32
  %11 = func.constant @callee : () -> ()
  %12 = builtin.unrealized_conversion_cast %i : index to i64
  return
}
func.func @complexes(%x: complex<f32>, %f: f32) {
  %0 = complex.add %x, %x : complex<f32>
  %1 = complex.sub %x, %x : complex<f32>
  %2 = complex.mul %x, %x : complex<f32>
  %3 = complex.neg %x : complex<f32>
  %4 = complex.conj %x : complex<f32>
  %5 = complex.eq %x, %x : complex<f32>
  %6 = complex.neq %x, %x : complex<f32>
  %7 = complex.re %x : complex<f32>
  %8 = complex.im %x : complex<f32>
  %9 = complex.create %f, %f : complex<f32>
  %10 = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  return
}
func.func @tensors(%t: tensor<?x4xi32>, %s: tensor<2x4xi32>, %i: index, %x: i32,
                   %sizes: tensor<1xindex>) {
  %0 = tensor.bitcast %s : tensor<2x4xi32> to tensor<2x4xui32>
  %1 = tensor.cast %t : tensor<?x4xi32> to tensor<2x4xi32>
  %2 = tensor.collapse_shape %t [[0, 1]] : tensor<?x4xi32> into tensor<?xi32>
  %3 = tensor.concat dim(0) %t, %s : (tensor<?x4xi32>, tensor<2x4xi32>) -> tensor<?x4xi32>
  %4 = tensor.dim %t, %i : tensor<?x4xi32>
  %5 = tensor.empty(%i) : tensor<?x4xi32>
  %6 = tensor.expand_shape %t [[0, 1], [2]] output_shape [%i, 1, 4]
    : tensor<?x4xi32> into tensor<?x1x4xi32>
  %7 = tensor.extract %t[%i, %i] : tensor<?x4xi32>
  %8 = tensor.extract_slice %t[%i, 0] [2, 4] [1, 1] : tensor<?x4xi32> to tensor<2x4xi32>
  %9 = tensor.from_elements %x, %x : tensor<2xi32>
  %10 = tensor.generate %i {
  ^bb0(%at: index):
    tensor.yield %at : index
  } : tensor<?xindex>
  %11 = tensor.insert %x into %t[%i, %i] : tensor<?x4xi32>
  %12 = tensor.insert_slice %s into %t[%i, 0] [2, 4] [1, 1] : tensor<2x4xi32> into tensor<?x4xi32>
  %13 = tensor.pad %s low[1, 1] high[%i, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %x : i32
  } : tensor<2x4xi32> to tensor<?x6xi32>
  %14 = tensor.rank %t : tensor<?x4xi32>
  %15 = tensor.reshape %t(%sizes) : (tensor<?x4xi32>, tensor<1xindex>) -> tensor<?xi32>
  %16 = tensor.splat %x : tensor<4xi32>
  %17 = bufferization.alloc_tensor(%i) : tensor<?xi32>
  %18 = scf.forall (%k) in (2) shared_outs(%out = %s) -> (tensor<2x4xi32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %out[0, 0] [2, 4] [1, 1]
        : tensor<2x4xi32> into tensor<2x4xi32>
    }
  }
  return
}
func.func @loops(%s: tensor<4xi32>, %large: tensor<2x2xi32>) {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } ins(%s : tensor<4xi32>) outs(%s : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %at = linalg.index 0 : index
    linalg.yield %in : i32
  } -> tensor<4xi32>
  %1 = linalg.pack %s inner_dims_pos = [0] inner_tiles = [2] into %large
    : tensor<4xi32> -> tensor<2x2xi32>
  %2 = linalg.unpack %large inner_dims_pos = [0] inner_tiles = [2] into %s
    : tensor<2x2xi32> -> tensor<4xi32>
  return
}
func.func @vectors(%v: vector<4xi32>, %w: vector<2x4xi32>, %f: vector<4xf32>, %k: vector<4xi1>,
                   %at: vector<4xindex>, %i: index, %x: i32, %t: tensor<?xi32>) {
  %0 = vector.bitcast %v : vector<4xi32> to vector<8xi16>
  %1 = vector.broadcast %x : i32 to vector<4xi32>
  %2 = vector.constant_mask [2] : vector<4xi1>
  %3 = vector.contract {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]
  } %v, %v, %x : vector<4xi32>, vector<4xi32> into i32
  %4 = vector.create_mask %i : vector<4xi1>
  %5:2 = vector.deinterleave %v : vector<4xi32> -> vector<2xi32>
  %6 = vector.extract %v[%i] : i32 from vector<4xi32>
  %7 = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]}
    : vector<4xi32> to vector<2xi32>
  %8 = vector.fma %f, %f, %f : vector<4xf32>
  %9 = vector.from_elements %x, %x : vector<2xi32>
  %10 = vector.gather %t[%i] [%at], %k, %v
    : tensor<?xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  %11 = vector.insert %x, %v[%i] : i32 into vector<4xi32>
  %12 = vector.insert_strided_slice %v, %w {offsets = [1, 0], strides = [1]}
    : vector<4xi32> into vector<2x4xi32>
  %13 = vector.interleave %v, %v : vector<4xi32> -> vector<8xi32>
  %14 = vector.mask %k { vector.reduction <add>, %v : vector<4xi32> into i32 } : vector<4xi1> -> i32
  %15 = vector.multi_reduction <add>, %w, %v [0] : vector<2x4xi32> to vector<4xi32>
  %16 = vector.outerproduct %v, %x : vector<4xi32>, i32
  %17 = vector.reduction <add>, %v : vector<4xi32> into i32
  %18:2 = vector.scan <add>, %w, %v {inclusive = false, reduction_dim = 0 : i64}
    : vector<2x4xi32>, vector<4xi32>
  %19 = vector.shape_cast %v : vector<4xi32> to vector<2x2xi32>
  %20 = vector.shuffle %v, %v [0, 5] : vector<4xi32>, vector<4xi32>
  %21 = vector.step : vector<4xindex>
  %22:4 = vector.to_elements %v : vector<4xi32>
  %23 = vector.transfer_read %t[%i], %x : tensor<?xi32>, vector<4xi32>
  %24 = vector.transfer_write %v, %t[%i] : vector<4xi32>, tensor<?xi32>
  %25 = vector.transpose %w, [1, 0] : vector<2x4xi32> to vector<4x2xi32>
  vector.print %x : i32
  return
}
