// ==== map_transposed
#id = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<2x2xi32>, %y: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %e = tensor.empty() : tensor<2x2xi32>
  %r = linalg.sub ins(%x, %y : tensor<2x2xi32>, tensor<2x2xi32>) outs(%e : tensor<2x2xi32>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// ---- wrong
#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
func.func @f(%x: tensor<2x2xi32>, %y: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %e = tensor.empty() : tensor<2x2xi32>
  %r = linalg.generic {indexing_maps = [#id, #t, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<2x2xi32>, tensor<2x2xi32>) outs(%e : tensor<2x2xi32>) {
  ^body(%a: i32, %b: i32, %c: i32):
    %s = arith.subi %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// ---- right
#id = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<2x2xi32>, %y: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %e = tensor.empty() : tensor<2x2xi32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<2x2xi32>, tensor<2x2xi32>) outs(%e : tensor<2x2xi32>) {
  ^body(%a: i32, %b: i32, %c: i32):
    %s = arith.subi %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// ==== sum_without_its_first_value
func.func @f(%x: tensor<4xi32>, %y: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.addi } ins(%x : tensor<4xi32>) outs(%y : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}
// ---- wrong
func.func @f(%x: tensor<4xi32>, %y: tensor<i32>) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %z = linalg.fill ins(%zero : i32) outs(%y : tensor<i32>) -> tensor<i32>
  %r = linalg.reduce { arith.addi } ins(%x : tensor<4xi32>) outs(%z : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}
// ---- right
func.func @f(%x: tensor<4xi32>, %y: tensor<i32>) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.reduce { arith.addi } ins(%x : tensor<4xi32>) outs(%z : tensor<i32>) dimensions = [0]
  %r = linalg.add ins(%s, %y : tensor<i32>, tensor<i32>) outs(%e : tensor<i32>) -> tensor<i32>
  return %r : tensor<i32>
}
// ==== value_of_a_fill
func.func @f(%m: memref<?xi32>, %x: i32) {
  linalg.fill ins(%x : i32) outs(%m : memref<?xi32>)
  return
}
// ---- wrong
func.func @f(%m: memref<?xi32>, %x: i32) {
  %one = arith.constant 1 : i32
  linalg.fill ins(%one : i32) outs(%m : memref<?xi32>)
  return
}
// ---- right
func.func @f(%m: memref<?xi32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?xi32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %m[%i] : memref<?xi32>
  }
  return
}
// ==== operands_of_a_matmul_swapped
func.func @f(%x: tensor<2x2xi8>, %y: tensor<2x2xi8>, %z: tensor<2x2xi8>) -> tensor<2x2xi8> {
  %r = linalg.matmul ins(%x, %y : tensor<2x2xi8>, tensor<2x2xi8>) outs(%z : tensor<2x2xi8>) -> tensor<2x2xi8>
  return %r : tensor<2x2xi8>
}
// ---- wrong
func.func @f(%x: tensor<2x2xi8>, %y: tensor<2x2xi8>, %z: tensor<2x2xi8>) -> tensor<2x2xi8> {
  %r = linalg.matmul ins(%y, %x : tensor<2x2xi8>, tensor<2x2xi8>) outs(%z : tensor<2x2xi8>) -> tensor<2x2xi8>
  return %r : tensor<2x2xi8>
}
// ---- right
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @f(%x: tensor<2x2xi8>, %y: tensor<2x2xi8>, %z: tensor<2x2xi8>) -> tensor<2x2xi8> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<2x2xi8>, tensor<2x2xi8>) outs(%z : tensor<2x2xi8>) {
  ^body(%a: i8, %b: i8, %c: i8):
    %p = arith.muli %a, %b : i8
    %s = arith.addi %c, %p : i8
    linalg.yield %s : i8
  } -> tensor<2x2xi8>
  return %r : tensor<2x2xi8>
}
// ==== last_element_of_an_odd_size_lost
func.func @f(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = linalg.add ins(%x, %x : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}
// ---- wrong
func.func @f(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %last = arith.subi %n, %c1 : index
  %r = scf.for %i = %c0 to %last step %c2 iter_args(%t = %e) -> tensor<?xi32> {
    %a = tensor.extract_slice %x[%i] [2] [1] : tensor<?xi32> to tensor<2xi32>
    %o = tensor.extract_slice %t[%i] [2] [1] : tensor<?xi32> to tensor<2xi32>
    %s = linalg.add ins(%a, %a : tensor<2xi32>, tensor<2xi32>) outs(%o : tensor<2xi32>) -> tensor<2xi32>
    %u = tensor.insert_slice %s into %t[%i] [2] [1] : tensor<2xi32> into tensor<?xi32>
    scf.yield %u : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}
// ---- right
func.func @f(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = scf.for %i = %c0 to %n step %c2 iter_args(%t = %e) -> tensor<?xi32> {
    %k = affine.min affine_map<(d0)[s0] -> (2, s0 - d0)>(%i)[%n]
    %a = tensor.extract_slice %x[%i] [%k] [1] : tensor<?xi32> to tensor<?xi32>
    %o = tensor.extract_slice %t[%i] [%k] [1] : tensor<?xi32> to tensor<?xi32>
    %s = linalg.add ins(%a, %a : tensor<?xi32>, tensor<?xi32>) outs(%o : tensor<?xi32>) -> tensor<?xi32>
    %u = tensor.insert_slice %s into %t[%i] [%k] [1] : tensor<?xi32> into tensor<?xi32>
    scf.yield %u : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}
// ==== indices_swapped
#id = affine_map<(i, j) -> (i, j)>
func.func @f(%e: tensor<3x2xindex>) -> tensor<3x2xindex> {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<3x2xindex>) {
  ^body(%a: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.subi %i, %j : index
    linalg.yield %s : index
  } -> tensor<3x2xindex>
  return %r : tensor<3x2xindex>
}
// ---- wrong
func.func @f(%e: tensor<3x2xindex>) -> tensor<3x2xindex> {
  %r = tensor.generate {
  ^body(%i: index, %j: index):
    %s = arith.subi %j, %i : index
    tensor.yield %s : index
  } : tensor<3x2xindex>
  return %r : tensor<3x2xindex>
}
// ---- right
func.func @f(%e: tensor<3x2xindex>) -> tensor<3x2xindex> {
  %r = tensor.generate {
  ^body(%i: index, %j: index):
    %s = arith.subi %i, %j : index
    tensor.yield %s : index
  } : tensor<3x2xindex>
  return %r : tensor<3x2xindex>
}
// ==== dimension_of_a_broadcast
func.func @f(%x: tensor<2xi32>) -> tensor<2x2xi32> {
  %e = tensor.empty() : tensor<2x2xi32>
  %r = linalg.broadcast ins(%x : tensor<2xi32>) outs(%e : tensor<2x2xi32>) dimensions = [0]
  return %r : tensor<2x2xi32>
}
// ---- wrong
func.func @f(%x: tensor<2xi32>) -> tensor<2x2xi32> {
  %e = tensor.empty() : tensor<2x2xi32>
  %r = linalg.broadcast ins(%x : tensor<2xi32>) outs(%e : tensor<2x2xi32>) dimensions = [1]
  return %r : tensor<2x2xi32>
}
// ---- right
func.func @f(%x: tensor<2xi32>) -> tensor<2x2xi32> {
  %e = tensor.empty() : tensor<2x2xi32>
  %t = linalg.broadcast ins(%x : tensor<2xi32>) outs(%e : tensor<2x2xi32>) dimensions = [1]
  %r = linalg.transpose ins(%t : tensor<2x2xi32>) outs(%e : tensor<2x2xi32>) permutation = [1, 0]
  return %r : tensor<2x2xi32>
}
// ==== transposed_in_place
func.func @f(%m: memref<2x2xi32>) {
  %b = memref.alloc() : memref<2x2xi32>
  linalg.transpose ins(%m : memref<2x2xi32>) outs(%b : memref<2x2xi32>) permutation = [1, 0]
  memref.copy %b, %m : memref<2x2xi32> to memref<2x2xi32>
  memref.dealloc %b : memref<2x2xi32>
  return
}
// ---- wrong
func.func @f(%m: memref<2x2xi32>) {
  linalg.transpose ins(%m : memref<2x2xi32>) outs(%m : memref<2x2xi32>) permutation = [1, 0]
  return
}
// ---- right
func.func @f(%m: memref<2x2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.load %m[%c0, %c1] : memref<2x2xi32>
  %y = memref.load %m[%c1, %c0] : memref<2x2xi32>
  memref.store %y, %m[%c0, %c1] : memref<2x2xi32>
  memref.store %x, %m[%c1, %c0] : memref<2x2xi32>
  return
}
// ==== pooling_of_the_other_sign
func.func @f(%x: tensor<1x3x1xi8>, %w: tensor<2xi8>, %y: tensor<1x2x1xi8>) -> tensor<1x2x1xi8> {
  %r = linalg.pooling_nwc_max ins(%x, %w : tensor<1x3x1xi8>, tensor<2xi8>) outs(%y : tensor<1x2x1xi8>) -> tensor<1x2x1xi8>
  return %r : tensor<1x2x1xi8>
}
// ---- wrong
func.func @f(%x: tensor<1x3x1xi8>, %w: tensor<2xi8>, %y: tensor<1x2x1xi8>) -> tensor<1x2x1xi8> {
  %r = linalg.pooling_nwc_max_unsigned ins(%x, %w : tensor<1x3x1xi8>, tensor<2xi8>) outs(%y : tensor<1x2x1xi8>) -> tensor<1x2x1xi8>
  return %r : tensor<1x2x1xi8>
}
// ---- right
#in = affine_map<(n, w, c, k) -> (n, w + k, c)>
#window = affine_map<(n, w, c, k) -> (k)>
#out = affine_map<(n, w, c, k) -> (n, w, c)>
func.func @f(%x: tensor<1x3x1xi8>, %w: tensor<2xi8>, %y: tensor<1x2x1xi8>) -> tensor<1x2x1xi8> {
  %r = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x3x1xi8>, tensor<2xi8>) outs(%y : tensor<1x2x1xi8>) {
  ^body(%a: i8, %b: i8, %c: i8):
    %s = arith.maxsi %a, %c : i8
    linalg.yield %s : i8
  } -> tensor<1x2x1xi8>
  return %r : tensor<1x2x1xi8>
}
// ==== padding_of_a_pack
func.func @f(%t: tensor<3xi32>, %p: i32, %e: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %r = linalg.pack %t padding_value(%p : i32) inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<3xi32> -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// ---- wrong
func.func @f(%t: tensor<3xi32>, %p: i32, %e: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %q = tensor.pad %t low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %p : i32
  } : tensor<3xi32> to tensor<4xi32>
  %r = tensor.expand_shape %q [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// ---- right
func.func @f(%t: tensor<3xi32>, %p: i32, %e: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %q = tensor.pad %t low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %p : i32
  } : tensor<3xi32> to tensor<4xi32>
  %r = tensor.expand_shape %q [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// ==== dilation_of_a_convolution
func.func @f(%x: tensor<5xi8>, %w: tensor<2xi8>, %o: tensor<2xi8>) -> tensor<2xi8> {
  %r = linalg.generic {indexing_maps = [affine_map<(i,k) -> (i*2+k)>, affine_map<(i,k) -> (k)>, affine_map<(i,k) -> (i)>], iterator_types = ["parallel","reduction"]} ins(%x, %w : tensor<5xi8>, tensor<2xi8>) outs(%o : tensor<2xi8>) {
  ^bb0(%a: i8, %b: i8, %c: i8):
    %p = arith.muli %a, %b : i8
    %s = arith.addi %p, %c : i8
    linalg.yield %s : i8
  } -> tensor<2xi8>
  return %r : tensor<2xi8>
}
// ---- wrong
func.func @f(%x: tensor<5xi8>, %w: tensor<2xi8>, %o: tensor<2xi8>) -> tensor<2xi8> {
  %y = tensor.expand_shape %x [[0, 1, 2]] output_shape [1, 5, 1] : tensor<5xi8> into tensor<1x5x1xi8>
  %v = tensor.expand_shape %w [[0, 1, 2]] output_shape [2, 1, 1] : tensor<2xi8> into tensor<2x1x1xi8>
  %u = tensor.expand_shape %o [[0, 1, 2]] output_shape [1, 2, 1] : tensor<2xi8> into tensor<1x2x1xi8>
  %q = linalg.conv_1d_nwc_wcf {dilations = dense<2> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%y, %v : tensor<1x5x1xi8>, tensor<2x1x1xi8>) outs(%u : tensor<1x2x1xi8>) -> tensor<1x2x1xi8>
  %r = tensor.collapse_shape %q [[0, 1, 2]] : tensor<1x2x1xi8> into tensor<2xi8>
  return %r : tensor<2xi8>
}
// ---- right
func.func @f(%x: tensor<5xi8>, %w: tensor<2xi8>, %o: tensor<2xi8>) -> tensor<2xi8> {
  %y = tensor.expand_shape %x [[0, 1, 2]] output_shape [1, 5, 1] : tensor<5xi8> into tensor<1x5x1xi8>
  %v = tensor.expand_shape %w [[0, 1, 2]] output_shape [2, 1, 1] : tensor<2xi8> into tensor<2x1x1xi8>
  %u = tensor.expand_shape %o [[0, 1, 2]] output_shape [1, 2, 1] : tensor<2xi8> into tensor<1x2x1xi8>
  %q = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%y, %v : tensor<1x5x1xi8>, tensor<2x1x1xi8>) outs(%u : tensor<1x2x1xi8>) -> tensor<1x2x1xi8>
  %r = tensor.collapse_shape %q [[0, 1, 2]] : tensor<1x2x1xi8> into tensor<2xi8>
  return %r : tensor<2xi8>
}
// ==== sum_of_floats_becomes_product
func.func @f(%x: tensor<3xf32>, %y: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<3xf32>) outs(%y : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}
// ---- wrong
func.func @f(%x: tensor<3xf32>, %y: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.mulf } ins(%x : tensor<3xf32>) outs(%y : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}
// ---- right
func.func @f(%x: tensor<3xf32>, %y: tensor<f32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tensor.extract %x[%c0] : tensor<3xf32>
  %b = tensor.extract %x[%c1] : tensor<3xf32>
  %c = tensor.extract %x[%c2] : tensor<3xf32>
  %d = tensor.extract %y[] : tensor<f32>
  %bc = arith.addf %b, %c : f32
  %abc = arith.addf %bc, %a : f32
  %sum = arith.addf %abc, %d : f32
  %r = tensor.from_elements %sum : tensor<f32>
  return %r : tensor<f32>
}
