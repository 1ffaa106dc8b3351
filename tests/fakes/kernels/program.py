"""A program with operations of linalg as frameworks export them."""

from __future__ import annotations

PROGRAM = """
#all = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#image = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d3)>
module {
  func.func @layers(%x: tensor<4x8xf32>, %w0: tensor<8x8xf32>, %b0: tensor<8xf32>,
                    %b1: tensor<8xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %weights = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<1x8xf32>
    %empty = tensor.empty() : tensor<4x8xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
    %p0 = linalg.matmul ins(%x, %w0 : tensor<4x8xf32>, tensor<8x8xf32>) outs(%fill : tensor<4x8xf32>) -> tensor<4x8xf32>
    %bb0 = linalg.generic {indexing_maps = [#columns, #all], iterator_types = ["parallel", "parallel"]} ins(%b0 : tensor<8xf32>) outs(%empty : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %r0 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%p0, %bb0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %s = arith.addf %in, %in_1 : f32
      %m = arith.maximumf %s, %zero : f32
      linalg.yield %m : f32
    } -> tensor<4x8xf32>
    %p1 = linalg.matmul ins(%r0, %w0 : tensor<4x8xf32>, tensor<8x8xf32>) outs(%fill : tensor<4x8xf32>) -> tensor<4x8xf32>
    %bb1 = linalg.generic {indexing_maps = [#columns, #all], iterator_types = ["parallel", "parallel"]} ins(%b1 : tensor<8xf32>) outs(%empty : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    %r1 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%p1, %bb1 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %s = arith.addf %in, %in_1 : f32
      %m = arith.maximumf %s, %zero : f32
      linalg.yield %m : f32
    } -> tensor<4x8xf32>
    %te = tensor.empty() : tensor<8x4xf32>
    %t = linalg.transpose ins(%r1 : tensor<4x8xf32>) outs(%te : tensor<8x4xf32>) permutation = [1, 0]
    %square = linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> (0, d1)>, #all], iterator_types = ["parallel", "parallel"]} ins(%r1, %weights : tensor<4x8xf32>, tensor<1x8xf32>) outs(%empty : tensor<4x8xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %d = arith.subf %in, %in_1 : f32
      %s = arith.mulf %d, %d : f32
      linalg.yield %s : f32
    } -> tensor<4x8xf32>
    %re = tensor.empty() : tensor<4xf32>
    %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<4xf32>) -> tensor<4xf32>
    %sum = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]} ins(%square : tensor<4x8xf32>) outs(%rf : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %out, %in : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %root = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%sum : tensor<4xf32>) outs(%re : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %h = arith.mulf %in, %half : f32
      %s = math.sqrt %h : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    return %t, %root : tensor<8x4xf32>, tensor<4xf32>
  }
  func.func @image(%x: tensor<1x7x7x3xf32>, %w: tensor<3x3x3x5xf32>, %b: tensor<5xf32>, %sum: tensor<1x3x3x5xf32>)
      -> (tensor<1x3x3x5xf32>, tensor<1x2x2x5xf32>) {
    %zero = arith.constant 0.0 : f32
    %six = arith.constant 6.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %empty = tensor.empty() : tensor<1x3x3x5xf32>
    %bias = linalg.generic {indexing_maps = [#channel, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b : tensor<5xf32>) outs(%empty : tensor<1x3x3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x3x3x5xf32>
    %conv = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x7x7x3xf32>, tensor<3x3x3x5xf32>) outs(%bias : tensor<1x3x3x5xf32>) -> tensor<1x3x3x5xf32>
    %clamped = linalg.generic {indexing_maps = [#image, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%conv : tensor<1x3x3x5xf32>) outs(%empty : tensor<1x3x3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %c = arith.cmpf olt, %in, %zero : f32
      %m = arith.select %c, %zero, %in : f32
      %n = arith.minimumf %m, %six : f32
      linalg.yield %n : f32
    } -> tensor<1x3x3x5xf32>
    %window = tensor.empty() : tensor<2x2xf32>
    %pe = tensor.empty() : tensor<1x2x2x5xf32>
    %pf = linalg.fill ins(%lowest : f32) outs(%pe : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
    %pool = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%clamped, %window : tensor<1x3x3x5xf32>, tensor<2x2xf32>) outs(%pf : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
    %added = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x7x7x3xf32>, tensor<3x3x3x5xf32>) outs(%sum : tensor<1x3x3x5xf32>) -> tensor<1x3x3x5xf32>
    return %added, %pool : tensor<1x3x3x5xf32>, tensor<1x2x2x5xf32>
  }
  func.func @integers(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>, %at: tensor<4x6xi32>) -> tensor<6x4xi32> {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<4x6xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x6xi32>) -> tensor<4x6xi32>
    %p = linalg.matmul ins(%x, %w : tensor<4x8xi8>, tensor<8x6xi8>) outs(%f : tensor<4x6xi32>) -> tensor<4x6xi32>
    %te = tensor.empty() : tensor<6x4xi32>
    %masked = linalg.generic {indexing_maps = [#turned, #turned, #all], iterator_types = ["parallel", "parallel"]} ins(%p, %at : tensor<4x6xi32>, tensor<4x6xi32>) outs(%te : tensor<6x4xi32>) {
    ^bb0(%in: i32, %in_1: i32, %out: i32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %r = arith.index_cast %row : index to i32
      %c = arith.index_cast %column : index to i32
      %above = arith.cmpi sle, %r, %c : i32
      %s = arith.select %above, %in, %in_1 : i32
      linalg.yield %s : i32
    } -> tensor<6x4xi32>
    return %masked : tensor<6x4xi32>
  }
  func.func @unusual(%x: tensor<?xf32>, %y: tensor<4xf32>, %at: tensor<4xi32>, %bits: tensor<4xi64>)
      -> (tensor<?xf32>, tensor<f32>, tensor<4xf32>, tensor<4xi64>) {
    %zero = arith.constant 0.0 : f32
    %izero = arith.constant 0 : i32
    %exp = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    %e = tensor.empty() : tensor<f32>
    %ie = tensor.empty() : tensor<i32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %if = linalg.fill ins(%izero : i32) outs(%ie : tensor<i32>) -> tensor<i32>
    %arg:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%y : tensor<4xf32>) outs(%f, %if : tensor<f32>, tensor<i32>) {
    ^bb0(%in: f32, %old: f32, %iold: i32):
      %m = arith.maximumf %in, %old : f32
      linalg.yield %m, %iold : f32, i32
    } -> (tensor<f32>, tensor<i32>)
    %scalar = linalg.exp ins(%f : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
    %ge = tensor.empty() : tensor<4xf32>
    %gathered = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%at : tensor<4xi32>) outs(%ge : tensor<4xf32>) {
    ^bb0(%in: i32, %out: f32):
      %i = arith.index_cast %in : i32 to index
      %v = tensor.extract %y[%i] : tensor<4xf32>
      %rest = arith.remf %v, %v : f32
      linalg.yield %rest : f32
    } -> tensor<4xf32>
    %be = tensor.empty() : tensor<4xi64>
    %copied = linalg.copy ins(%bits : tensor<4xi64>) outs(%be : tensor<4xi64>) -> tensor<4xi64>
    return %exp, %arg#0, %gathered, %copied : tensor<?xf32>, tensor<f32>, tensor<4xf32>, tensor<4xi64>
  }
}
"""  # noqa: E501
