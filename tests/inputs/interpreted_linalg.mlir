func.func @main() {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0 : i32
  %padf = arith.constant 0.0 : f32
  %q1 = arith.constant 3 : i32
  %q2 = arith.constant -2 : i32
  %f1 = arith.constant -10.0 : f64
  %f2 = arith.constant 10.0 : f64
  %t1 = arith.constant dense<[[-4, 3, -1], [6, 2, -2]]> : tensor<2x3xi32>
  %t2 = arith.constant dense<[[2, -2, 5, 1], [-3, 4, 0, -4], [3, -1, 6, 2]]> : tensor<3x4xi32>
  %t3 = arith.constant dense<[[0, -4, 3, -1], [6, 2, -2, 5]]> : tensor<2x4xi32>
  %t4 = linalg.matmul  ins(%t1, %t2 : tensor<2x3xi32>, tensor<3x4xi32>) outs(%t3 : tensor<2x4xi32>) -> tensor<2x4xi32>
  %t5 = vector.transfer_read %t4[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x4xi32>, vector<2x4xi32>
  vector.print %t5 : vector<2x4xi32>
  %t6 = arith.constant dense<[[0, -4], [3, -1], [6, 2]]> : tensor<3x2xi32>
  %t7 = arith.constant dense<[[6, 2, -2, 5], [1, -3, 4, 0], [-4, 3, -1, 6]]> : tensor<3x4xi32>
  %t8 = arith.constant dense<[[0, -4, 3, -1], [6, 2, -2, 5]]> : tensor<2x4xi32>
  %t9 = linalg.matmul indexing_maps = [affine_map<(i,j,k)->(k,i)>, affine_map<(i,j,k)->(k,j)>, affine_map<(i,j,k)->(i,j)>] ins(%t6, %t7 : tensor<3x2xi32>, tensor<3x4xi32>) outs(%t8 : tensor<2x4xi32>) -> tensor<2x4xi32>
  %t10 = vector.transfer_read %t9[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x4xi32>, vector<2x4xi32>
  vector.print %t10 : vector<2x4xi32>
  %t11 = arith.constant dense<[[4, 0, -4], [3, -1, 6]]> : tensor<2x3xi8>
  %t12 = arith.constant dense<[[-1, 6, 2, -2], [5, 1, -3, 4], [0, -4, 3, -1]]> : tensor<3x4xi8>
  %t13 = arith.constant dense<[[0, -4, 3, -1], [6, 2, -2, 5]]> : tensor<2x4xi32>
  %t14 = linalg.matmul  ins(%t11, %t12 : tensor<2x3xi8>, tensor<3x4xi8>) outs(%t13 : tensor<2x4xi32>) -> tensor<2x4xi32>
  %t15 = vector.transfer_read %t14[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x4xi32>, vector<2x4xi32>
  vector.print %t15 : vector<2x4xi32>
  %t16 = arith.constant dense<[[-3, 4, 0], [-4, 3, -1]]> : tensor<2x3xi8>
  %t17 = arith.constant dense<[[3, -1, 6, 2], [-2, 5, 1, -3], [4, 0, -4, 3]]> : tensor<3x4xi8>
  %t18 = arith.constant dense<[[0, -4, 3, -1], [6, 2, -2, 5]]> : tensor<2x4xi32>
  %t19 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%t16, %t17 : tensor<2x3xi8>, tensor<3x4xi8>) outs(%t18 : tensor<2x4xi32>) -> tensor<2x4xi32>
  %t20 = vector.transfer_read %t19[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x4xi32>, vector<2x4xi32>
  vector.print %t20 : vector<2x4xi32>
  %t21 = arith.constant dense<[[1, -3, 4], [0, -4, 3]]> : tensor<2x3xi32>
  %t22 = arith.constant dense<[[-4, 3, -1], [6, 2, -2], [5, 1, -3], [4, 0, -4]]> : tensor<4x3xi32>
  %t23 = arith.constant dense<[[0, -4, 3, -1], [6, 2, -2, 5]]> : tensor<2x4xi32>
  %t24 = linalg.contract indexing_maps = [affine_map<(i,j,k)->(i,k)>, affine_map<(i,j,k)->(j,k)>, affine_map<(i,j,k)->(i,j)>] ins(%t21, %t22 : tensor<2x3xi32>, tensor<4x3xi32>) outs(%t23 : tensor<2x4xi32>) -> tensor<2x4xi32>
  %t25 = vector.transfer_read %t24[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x4xi32>, vector<2x4xi32>
  vector.print %t25 : vector<2x4xi32>
  %t26 = arith.constant dense<[[[5, 1, -3], [4, 0, -4]], [[3, -1, 6], [2, -2, 5]]]> : tensor<2x2x3xi32>
  %t27 = arith.constant dense<[[[0, -4], [3, -1], [6, 2]], [[-2, 5], [1, -3], [4, 0]]]> : tensor<2x3x2xi32>
  %t28 = arith.constant dense<[[[0, -4], [3, -1]], [[6, 2], [-2, 5]]]> : tensor<2x2x2xi32>
  %t29 = linalg.batch_matmul  ins(%t26, %t27 : tensor<2x2x3xi32>, tensor<2x3x2xi32>) outs(%t28 : tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  %t30 = vector.transfer_read %t29[%c0, %c0, %c0], %pad {in_bounds = [true, true, true]} : tensor<2x2x2xi32>, vector<2x2x2xi32>
  vector.print %t30 : vector<2x2x2xi32>
  %t31 = arith.constant dense<[[[-2, 5, 1], [-3, 4, 0]], [[-4, 3, -1], [6, 2, -2]]]> : tensor<2x2x3xi32>
  %t32 = arith.constant dense<[[[4, 0], [-4, 3], [-1, 6]], [[2, -2], [5, 1], [-3, 4]]]> : tensor<2x3x2xi32>
  %t33 = arith.constant dense<[[0, -4], [3, -1]]> : tensor<2x2xi32>
  %t34 = linalg.batch_reduce_matmul  ins(%t31, %t32 : tensor<2x2x3xi32>, tensor<2x3x2xi32>) outs(%t33 : tensor<2x2xi32>) -> tensor<2x2xi32>
  %t35 = vector.transfer_read %t34[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x2xi32>, vector<2x2xi32>
  vector.print %t35 : vector<2x2xi32>
  %t36 = arith.constant dense<[[2, -2, 5], [1, -3, 4]]> : tensor<2x3xi32>
  %t37 = arith.constant dense<[-3, 4, 0]> : tensor<3xi32>
  %t38 = arith.constant dense<[0, -4]> : tensor<2xi32>
  %t39 = linalg.matvec  ins(%t36, %t37 : tensor<2x3xi32>, tensor<3xi32>) outs(%t38 : tensor<2xi32>) -> tensor<2xi32>
  %t40 = vector.transfer_read %t39[%c0], %pad {in_bounds = [true]} : tensor<2xi32>, vector<2xi32>
  vector.print %t40 : vector<2xi32>
  %t41 = arith.constant dense<[6, 2, -2]> : tensor<3xi32>
  %t42 = arith.constant dense<[[1, -3], [4, 0], [-4, 3]]> : tensor<3x2xi32>
  %t43 = arith.constant dense<[0, -4]> : tensor<2xi32>
  %t44 = linalg.vecmat  ins(%t41, %t42 : tensor<3xi32>, tensor<3x2xi32>) outs(%t43 : tensor<2xi32>) -> tensor<2xi32>
  %t45 = vector.transfer_read %t44[%c0], %pad {in_bounds = [true]} : tensor<2xi32>, vector<2xi32>
  vector.print %t45 : vector<2xi32>
  %t46 = arith.constant dense<[[[-1, 6, 2], [-2, 5, 1]], [[-3, 4, 0], [-4, 3, -1]]]> : tensor<2x2x3xi32>
  %t47 = arith.constant dense<[[5, 1, -3], [4, 0, -4]]> : tensor<2x3xi32>
  %t48 = arith.constant dense<[[0, -4], [3, -1]]> : tensor<2x2xi32>
  %t49 = linalg.batch_matvec  ins(%t46, %t47 : tensor<2x2x3xi32>, tensor<2x3xi32>) outs(%t48 : tensor<2x2xi32>) -> tensor<2x2xi32>
  %t50 = vector.transfer_read %t49[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x2xi32>, vector<2x2xi32>
  vector.print %t50 : vector<2x2xi32>
  %t51 = arith.constant dense<[[3, -1, 6], [2, -2, 5]]> : tensor<2x3xi32>
  %t52 = arith.constant dense<[[[-2, 5], [1, -3], [4, 0]], [[-4, 3], [-1, 6], [2, -2]]]> : tensor<2x3x2xi32>
  %t53 = arith.constant dense<[[0, -4], [3, -1]]> : tensor<2x2xi32>
  %t54 = linalg.batch_vecmat  ins(%t51, %t52 : tensor<2x3xi32>, tensor<2x3x2xi32>) outs(%t53 : tensor<2x2xi32>) -> tensor<2x2xi32>
  %t55 = vector.transfer_read %t54[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x2xi32>, vector<2x2xi32>
  vector.print %t55 : vector<2x2xi32>
  %t56 = arith.constant dense<[[[[-4, 3, -1], [6, 2, -2]], [[5, 1, -3], [4, 0, -4]]]]> : tensor<1x2x2x3xi32>
  %t57 = arith.constant dense<[[[[2, -2, 5], [1, -3, 4]], [[0, -4, 3], [-1, 6, 2]]], [[[-2, 5, 1], [-3, 4, 0]], [[-4, 3, -1], [6, 2, -2]]]]> : tensor<2x2x2x3xi32>
  %t58 = arith.constant dense<[[[[0, -4], [3, -1]], [[6, 2], [-2, 5]]]]> : tensor<1x2x2x2xi32>
  %t59 = linalg.mmt4d  ins(%t56, %t57 : tensor<1x2x2x3xi32>, tensor<2x2x2x3xi32>) outs(%t58 : tensor<1x2x2x2xi32>) -> tensor<1x2x2x2xi32>
  %t60 = vector.transfer_read %t59[%c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true]} : tensor<1x2x2x2xi32>, vector<1x2x2x2xi32>
  vector.print %t60 : vector<1x2x2x2xi32>
  %t61 = arith.constant dense<[[0, -4, 3], [-1, 6, 2]]> : tensor<2x3xi8>
  %t62 = arith.constant dense<[[6, 2], [-2, 5], [1, -3]]> : tensor<3x2xi8>
  %t63 = arith.constant dense<[[0, -4], [3, -1]]> : tensor<2x2xi32>
  %t64 = linalg.quantized_matmul  ins(%t61, %t62, %q1, %q2 : tensor<2x3xi8>, tensor<3x2xi8>, i32, i32) outs(%t63 : tensor<2x2xi32>) -> tensor<2x2xi32>
  %t65 = vector.transfer_read %t64[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x2xi32>, vector<2x2xi32>
  vector.print %t65 : vector<2x2xi32>
  %t66 = arith.constant dense<[4, 0, -4, 3, -1, 6]> : tensor<6xi32>
  %t67 = arith.constant dense<[-1, 6, 2]> : tensor<3xi32>
  %t68 = arith.constant dense<[0, -4, 3, -1]> : tensor<4xi32>
  %t69 = linalg.conv_1d  ins(%t66, %t67 : tensor<6xi32>, tensor<3xi32>) outs(%t68 : tensor<4xi32>) -> tensor<4xi32>
  %t70 = vector.transfer_read %t69[%c0], %pad {in_bounds = [true]} : tensor<4xi32>, vector<4xi32>
  vector.print %t70 : vector<4xi32>
  %t71 = arith.constant dense<[[-3, 4, 0, -4, 3], [-1, 6, 2, -2, 5], [1, -3, 4, 0, -4], [3, -1, 6, 2, -2]]> : tensor<4x5xi32>
  %t72 = arith.constant dense<[[3, -1, 6], [2, -2, 5]]> : tensor<2x3xi32>
  %t73 = arith.constant dense<[[0, -4, 3], [-1, 6, 2], [-2, 5, 1]]> : tensor<3x3xi32>
  %t74 = linalg.conv_2d  ins(%t71, %t72 : tensor<4x5xi32>, tensor<2x3xi32>) outs(%t73 : tensor<3x3xi32>) -> tensor<3x3xi32>
  %t75 = vector.transfer_read %t74[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<3x3xi32>, vector<3x3xi32>
  vector.print %t75 : vector<3x3xi32>
  %t76 = arith.constant dense<[[[1, -3], [4, 0], [-4, 3], [-1, 6], [2, -2], [5, 1], [-3, 4]]]> : tensor<1x7x2xi32>
  %t77 = arith.constant dense<[[[-4, 3], [-1, 6]], [[2, -2], [5, 1]], [[-3, 4], [0, -4]]]> : tensor<3x2x2xi32>
  %t78 = arith.constant dense<[[[0, -4], [3, -1], [6, 2]]]> : tensor<1x3x2xi32>
  %t79 = linalg.conv_1d_nwc_wcf {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%t76, %t77 : tensor<1x7x2xi32>, tensor<3x2x2xi32>) outs(%t78 : tensor<1x3x2xi32>) -> tensor<1x3x2xi32>
  %t80 = vector.transfer_read %t79[%c0, %c0, %c0], %pad {in_bounds = [true, true, true]} : tensor<1x3x2xi32>, vector<1x3x2xi32>
  vector.print %t80 : vector<1x3x2xi32>
  %t81 = arith.constant dense<[[[5, 1, -3, 4, 0, -4, 3], [-1, 6, 2, -2, 5, 1, -3]]]> : tensor<1x2x7xi32>
  %t82 = arith.constant dense<[[[0, -4, 3], [-1, 6, 2]], [[-2, 5, 1], [-3, 4, 0]]]> : tensor<2x2x3xi32>
  %t83 = arith.constant dense<[[[0, -4, 3], [-1, 6, 2]]]> : tensor<1x2x3xi32>
  %t84 = linalg.conv_1d_ncw_fcw {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%t81, %t82 : tensor<1x2x7xi32>, tensor<2x2x3xi32>) outs(%t83 : tensor<1x2x3xi32>) -> tensor<1x2x3xi32>
  %t85 = vector.transfer_read %t84[%c0, %c0, %c0], %pad {in_bounds = [true, true, true]} : tensor<1x2x3xi32>, vector<1x2x3xi32>
  vector.print %t85 : vector<1x2x3xi32>
  %t86 = arith.constant dense<[[[[-2, 5, 1, -3, 4], [0, -4, 3, -1, 6], [2, -2, 5, 1, -3], [4, 0, -4, 3, -1], [6, 2, -2, 5, 1]], [[-3, 4, 0, -4, 3], [-1, 6, 2, -2, 5], [1, -3, 4, 0, -4], [3, -1, 6, 2, -2], [5, 1, -3, 4, 0]]]]> : tensor<1x2x5x5xi32>
  %t87 = arith.constant dense<[[[[4, 0], [-4, 3]], [[-1, 6], [2, -2]]], [[[5, 1], [-3, 4]], [[0, -4], [3, -1]]], [[[6, 2], [-2, 5]], [[1, -3], [4, 0]]]]> : tensor<3x2x2x2xi32>
  %t88 = arith.constant dense<[[[[0, -4], [3, -1]], [[6, 2], [-2, 5]], [[1, -3], [4, 0]]]]> : tensor<1x3x2x2xi32>
  %t89 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t86, %t87 : tensor<1x2x5x5xi32>, tensor<3x2x2x2xi32>) outs(%t88 : tensor<1x3x2x2xi32>) -> tensor<1x3x2x2xi32>
  %t90 = vector.transfer_read %t89[%c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true]} : tensor<1x3x2x2xi32>, vector<1x3x2x2xi32>
  vector.print %t90 : vector<1x3x2x2xi32>
  %t91 = arith.constant dense<[[[[[2, -2, 5], [1, -3, 4], [0, -4, 3]], [[-1, 6, 2], [-2, 5, 1], [-3, 4, 0]]], [[[-4, 3, -1], [6, 2, -2], [5, 1, -3]], [[4, 0, -4], [3, -1, 6], [2, -2, 5]]]]]> : tensor<1x2x2x3x3xi32>
  %t92 = arith.constant dense<[[[[[-3, 4], [0, -4]], [[3, -1], [6, 2]]], [[[-2, 5], [1, -3]], [[4, 0], [-4, 3]]]]]> : tensor<1x2x2x2x2xi32>
  %t93 = arith.constant dense<[[[[[0]]], [[[-4]]]]]> : tensor<1x2x1x1x1xi32>
  %t94 = linalg.conv_2d_ngchw_fgchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t91, %t92 : tensor<1x2x2x3x3xi32>, tensor<1x2x2x2x2xi32>) outs(%t93 : tensor<1x2x1x1x1xi32>) -> tensor<1x2x1x1x1xi32>
  %t95 = vector.transfer_read %t94[%c0, %c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true, true]} : tensor<1x2x1x1x1xi32>, vector<1x2x1x1x1xi32>
  vector.print %t95 : vector<1x2x1x1x1xi32>
  %t96 = arith.constant dense<[[[[6, 2], [-2, 5], [1, -3], [4, 0], [-4, 3]], [[-1, 6], [2, -2], [5, 1], [-3, 4], [0, -4]], [[3, -1], [6, 2], [-2, 5], [1, -3], [4, 0]], [[-4, 3], [-1, 6], [2, -2], [5, 1], [-3, 4]], [[0, -4], [3, -1], [6, 2], [-2, 5], [1, -3]]]]> : tensor<1x5x5x2xi8>
  %t97 = arith.constant dense<[[[[1, -3, 4], [0, -4, 3]], [[-1, 6, 2], [-2, 5, 1]]], [[[-3, 4, 0], [-4, 3, -1]], [[6, 2, -2], [5, 1, -3]]]]> : tensor<2x2x2x3xi8>
  %t98 = arith.constant dense<[[[[0, -4, 3], [-1, 6, 2]], [[-2, 5, 1], [-3, 4, 0]]]]> : tensor<1x2x2x3xi32>
  %t99 = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t96, %t97, %q1, %q2 : tensor<1x5x5x2xi8>, tensor<2x2x2x3xi8>, i32, i32) outs(%t98 : tensor<1x2x2x3xi32>) -> tensor<1x2x2x3xi32>
  %t100 = vector.transfer_read %t99[%c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true]} : tensor<1x2x2x3xi32>, vector<1x2x2x3xi32>
  vector.print %t100 : vector<1x2x2x3xi32>
  %t101 = arith.constant dense<[[[[-1, 6], [2, -2], [5, 1], [-3, 4], [0, -4]], [[3, -1], [6, 2], [-2, 5], [1, -3], [4, 0]], [[-4, 3], [-1, 6], [2, -2], [5, 1], [-3, 4]], [[0, -4], [3, -1], [6, 2], [-2, 5], [1, -3]], [[4, 0], [-4, 3], [-1, 6], [2, -2], [5, 1]]]]> : tensor<1x5x5x2xi32>
  %t102 = arith.constant dense<[[[5, 1], [-3, 4]], [[0, -4], [3, -1]]]> : tensor<2x2x2xi32>
  %t103 = arith.constant dense<[[[[0, -4], [3, -1]], [[6, 2], [-2, 5]]]]> : tensor<1x2x2x2xi32>
  %t104 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t101, %t102 : tensor<1x5x5x2xi32>, tensor<2x2x2xi32>) outs(%t103 : tensor<1x2x2x2xi32>) -> tensor<1x2x2x2xi32>
  %t105 = vector.transfer_read %t104[%c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true]} : tensor<1x2x2x2xi32>, vector<1x2x2x2xi32>
  vector.print %t105 : vector<1x2x2x2xi32>
  %t106 = arith.constant dense<[[[[3, -1], [6, 2], [-2, 5], [1, -3], [4, 0]], [[-4, 3], [-1, 6], [2, -2], [5, 1], [-3, 4]], [[0, -4], [3, -1], [6, 2], [-2, 5], [1, -3]], [[4, 0], [-4, 3], [-1, 6], [2, -2], [5, 1]], [[-3, 4], [0, -4], [3, -1], [6, 2], [-2, 5]]]]> : tensor<1x5x5x2xi32>
  %t107 = arith.constant dense<[[[[-2, 5], [1, -3]], [[4, 0], [-4, 3]]], [[[-1, 6], [2, -2]], [[5, 1], [-3, 4]]]]> : tensor<2x2x2x2xi32>
  %t108 = arith.constant dense<[[[[[0, -4], [3, -1]], [[6, 2], [-2, 5]]], [[[1, -3], [4, 0]], [[-4, 3], [-1, 6]]]]]> : tensor<1x2x2x2x2xi32>
  %t109 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t106, %t107 : tensor<1x5x5x2xi32>, tensor<2x2x2x2xi32>) outs(%t108 : tensor<1x2x2x2x2xi32>) -> tensor<1x2x2x2x2xi32>
  %t110 = vector.transfer_read %t109[%c0, %c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true, true]} : tensor<1x2x2x2x2xi32>, vector<1x2x2x2x2xi32>
  vector.print %t110 : vector<1x2x2x2x2xi32>
  %t111 = arith.constant dense<[[[-4, 3], [-1, 6], [2, -2], [5, 1], [-3, 4], [0, -4], [3, -1]]]> : tensor<1x7x2xi32>
  %t112 = arith.constant dense<[[2, -2], [5, 1], [-3, 4]]> : tensor<3x2xi32>
  %t113 = arith.constant dense<[[[0, -4], [3, -1], [6, 2]]]> : tensor<1x3x2xi32>
  %t114 = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%t111, %t112 : tensor<1x7x2xi32>, tensor<3x2xi32>) outs(%t113 : tensor<1x3x2xi32>) -> tensor<1x3x2xi32>
  %t115 = vector.transfer_read %t114[%c0, %c0, %c0], %pad {in_bounds = [true, true, true]} : tensor<1x3x2xi32>, vector<1x3x2xi32>
  vector.print %t115 : vector<1x3x2xi32>
  %t116 = arith.constant dense<[[[[0, -4], [3, -1], [6, 2], [-2, 5], [1, -3]], [[4, 0], [-4, 3], [-1, 6], [2, -2], [5, 1]], [[-3, 4], [0, -4], [3, -1], [6, 2], [-2, 5]], [[1, -3], [4, 0], [-4, 3], [-1, 6], [2, -2]], [[5, 1], [-3, 4], [0, -4], [3, -1], [6, 2]]]]> : tensor<1x5x5x2xi32>
  %t117 = arith.constant dense<[[6, 2], [-2, 5]]> : tensor<2x2xi32>
  %t118 = arith.constant dense<[[[[0, -4], [3, -1]], [[6, 2], [-2, 5]]]]> : tensor<1x2x2x2xi32>
  %t119 = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t116, %t117 : tensor<1x5x5x2xi32>, tensor<2x2xi32>) outs(%t118 : tensor<1x2x2x2xi32>) -> tensor<1x2x2x2xi32>
  %t120 = vector.transfer_read %t119[%c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true]} : tensor<1x2x2x2xi32>, vector<1x2x2x2xi32>
  vector.print %t120 : vector<1x2x2x2xi32>
  %t121 = arith.constant dense<[[[[4, 0], [-4, 3], [-1, 6], [2, -2], [5, 1]], [[-3, 4], [0, -4], [3, -1], [6, 2], [-2, 5]], [[1, -3], [4, 0], [-4, 3], [-1, 6], [2, -2]], [[5, 1], [-3, 4], [0, -4], [3, -1], [6, 2]], [[-2, 5], [1, -3], [4, 0], [-4, 3], [-1, 6]]]]> : tensor<1x5x5x2xi32>
  %t122 = arith.constant dense<[[-1, 6], [2, -2]]> : tensor<2x2xi32>
  %t123 = arith.constant dense<[[[[0, -4], [3, -1]], [[6, 2], [-2, 5]]]]> : tensor<1x2x2x2xi32>
  %t124 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t121, %t122 : tensor<1x5x5x2xi32>, tensor<2x2xi32>) outs(%t123 : tensor<1x2x2x2xi32>) -> tensor<1x2x2x2xi32>
  %t125 = vector.transfer_read %t124[%c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true]} : tensor<1x2x2x2xi32>, vector<1x2x2x2xi32>
  vector.print %t125 : vector<1x2x2x2xi32>
  %t126 = arith.constant dense<[[[[-3, 4], [0, -4], [3, -1], [6, 2], [-2, 5]], [[1, -3], [4, 0], [-4, 3], [-1, 6], [2, -2]], [[5, 1], [-3, 4], [0, -4], [3, -1], [6, 2]], [[-2, 5], [1, -3], [4, 0], [-4, 3], [-1, 6]], [[2, -2], [5, 1], [-3, 4], [0, -4], [3, -1]]]]> : tensor<1x5x5x2xi32>
  %t127 = arith.constant dense<[[3, -1], [6, 2]]> : tensor<2x2xi32>
  %t128 = arith.constant dense<[[[[0, -4], [3, -1]], [[6, 2], [-2, 5]]]]> : tensor<1x2x2x2xi32>
  %t129 = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t126, %t127 : tensor<1x5x5x2xi32>, tensor<2x2xi32>) outs(%t128 : tensor<1x2x2x2xi32>) -> tensor<1x2x2x2xi32>
  %t130 = vector.transfer_read %t129[%c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true]} : tensor<1x2x2x2xi32>, vector<1x2x2x2xi32>
  vector.print %t130 : vector<1x2x2x2xi32>
  %t131 = arith.constant dense<[[[[1, -3], [4, 0], [-4, 3], [-1, 6], [2, -2]], [[5, 1], [-3, 4], [0, -4], [3, -1], [6, 2]], [[-2, 5], [1, -3], [4, 0], [-4, 3], [-1, 6]], [[2, -2], [5, 1], [-3, 4], [0, -4], [3, -1]], [[6, 2], [-2, 5], [1, -3], [4, 0], [-4, 3]]]]> : tensor<1x5x5x2xi32>
  %t132 = arith.constant dense<[[-4, 3], [-1, 6]]> : tensor<2x2xi32>
  %t133 = arith.constant dense<[[[[0, -4], [3, -1]], [[6, 2], [-2, 5]]]]> : tensor<1x2x2x2xi32>
  %t134 = linalg.pooling_nhwc_max_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%t131, %t132 : tensor<1x5x5x2xi32>, tensor<2x2xi32>) outs(%t133 : tensor<1x2x2x2xi32>) -> tensor<1x2x2x2xi32>
  %t135 = vector.transfer_read %t134[%c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true]} : tensor<1x2x2x2xi32>, vector<1x2x2x2xi32>
  vector.print %t135 : vector<1x2x2x2xi32>
  %t136 = arith.constant dense<[[[5, 1, -3, 4, 0, -4, 3], [-1, 6, 2, -2, 5, 1, -3]]]> : tensor<1x2x7xi32>
  %t137 = arith.constant dense<[0, -4, 3]> : tensor<3xi32>
  %t138 = arith.constant dense<[[[0, -4, 3], [-1, 6, 2]]]> : tensor<1x2x3xi32>
  %t139 = linalg.pooling_ncw_max {dilations = dense<2> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%t136, %t137 : tensor<1x2x7xi32>, tensor<3xi32>) outs(%t138 : tensor<1x2x3xi32>) -> tensor<1x2x3xi32>
  %t140 = vector.transfer_read %t139[%c0, %c0, %c0], %pad {in_bounds = [true, true, true]} : tensor<1x2x3xi32>, vector<1x2x3xi32>
  vector.print %t140 : vector<1x2x3xi32>
  %t141 = arith.constant dense<[[-2, 5, 1], [-3, 4, 0]]> : tensor<2x3xi32>
  %t142 = arith.constant dense<[[4, 0, -4], [3, -1, 6]]> : tensor<2x3xi32>
  %t143 = arith.constant dense<[[0, -4, 3], [-1, 6, 2]]> : tensor<2x3xi32>
  %t144 = linalg.add  ins(%t141, %t142 : tensor<2x3xi32>, tensor<2x3xi32>) outs(%t143 : tensor<2x3xi32>) -> tensor<2x3xi32>
  %t145 = vector.transfer_read %t144[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x3xi32>, vector<2x3xi32>
  vector.print %t145 : vector<2x3xi32>
  %t146 = arith.constant dense<[[2, -2, 5], [1, -3, 4]]> : tensor<2x3xi32>
  %t147 = arith.constant dense<[[-3, 4, 0], [-4, 3, -1]]> : tensor<2x3xi32>
  %t148 = arith.constant dense<[[0, -4, 3], [-1, 6, 2]]> : tensor<2x3xi32>
  %t149 = linalg.sub  ins(%t146, %t147 : tensor<2x3xi32>, tensor<2x3xi32>) outs(%t148 : tensor<2x3xi32>) -> tensor<2x3xi32>
  %t150 = vector.transfer_read %t149[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x3xi32>, vector<2x3xi32>
  vector.print %t150 : vector<2x3xi32>
  %t151 = arith.constant dense<[[6, 2, -2], [5, 1, -3]]> : tensor<2x3xi32>
  %t152 = arith.constant dense<[[1, -3, 4], [0, -4, 3]]> : tensor<2x3xi32>
  %t153 = arith.constant dense<[[0, -4, 3], [-1, 6, 2]]> : tensor<2x3xi32>
  %t154 = linalg.mul  ins(%t151, %t152 : tensor<2x3xi32>, tensor<2x3xi32>) outs(%t153 : tensor<2x3xi32>) -> tensor<2x3xi32>
  %t155 = vector.transfer_read %t154[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x3xi32>, vector<2x3xi32>
  vector.print %t155 : vector<2x3xi32>
  %t156 = arith.constant dense<[[-1, 6, 2], [-2, 5, 1]]> : tensor<2x3xi32>
  %t157 = arith.constant dense<[[5, 1, -3], [4, 0, -4]]> : tensor<2x3xi32>
  %t158 = arith.constant dense<[[0, -4, 3], [-1, 6, 2]]> : tensor<2x3xi32>
  %t159 = linalg.max  ins(%t156, %t157 : tensor<2x3xi32>, tensor<2x3xi32>) outs(%t158 : tensor<2x3xi32>) -> tensor<2x3xi32>
  %t160 = vector.transfer_read %t159[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x3xi32>, vector<2x3xi32>
  vector.print %t160 : vector<2x3xi32>
  %t161 = arith.constant dense<[[3, -1, 6], [2, -2, 5]]> : tensor<2x3xi32>
  %t162 = arith.constant dense<[[-2, 5, 1], [-3, 4, 0]]> : tensor<2x3xi32>
  %t163 = arith.constant dense<[[0, -4, 3], [-1, 6, 2]]> : tensor<2x3xi32>
  %t164 = linalg.min  ins(%t161, %t162 : tensor<2x3xi32>, tensor<2x3xi32>) outs(%t163 : tensor<2x3xi32>) -> tensor<2x3xi32>
  %t165 = vector.transfer_read %t164[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x3xi32>, vector<2x3xi32>
  vector.print %t165 : vector<2x3xi32>
  %t166 = arith.constant dense<[[-4.5, 3.5, -1.5], [6.5, 2.5, -2.5]]> : tensor<2x3xf32>
  %t167 = arith.constant dense<[[0.5, -4.5, 3.5], [-1.5, 6.5, 2.5]]> : tensor<2x3xf32>
  %t168 = linalg.abs  ins(%t166 : tensor<2x3xf32>) outs(%t167 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t169 = vector.transfer_read %t168[%c0, %c0], %padf {in_bounds = [true, true]} : tensor<2x3xf32>, vector<2x3xf32>
  vector.print %t169 : vector<2x3xf32>
  %t170 = arith.constant dense<[[-3.5, 4.5, 0.5], [-4.5, 3.5, -1.5]]> : tensor<2x3xf32>
  %t171 = arith.constant dense<[[0.5, -4.5, 3.5], [-1.5, 6.5, 2.5]]> : tensor<2x3xf32>
  %t172 = linalg.square  ins(%t170 : tensor<2x3xf32>) outs(%t171 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t173 = vector.transfer_read %t172[%c0, %c0], %padf {in_bounds = [true, true]} : tensor<2x3xf32>, vector<2x3xf32>
  vector.print %t173 : vector<2x3xf32>
  %t174 = arith.constant dense<[[-2.5, 5.5, 1.5], [-3.5, 4.5, 0.5]]> : tensor<2x3xf32>
  %t175 = arith.constant dense<[[0.5, -4.5, 3.5], [-1.5, 6.5, 2.5]]> : tensor<2x3xf32>
  %t176 = linalg.negf  ins(%t174 : tensor<2x3xf32>) outs(%t175 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t177 = vector.transfer_read %t176[%c0, %c0], %padf {in_bounds = [true, true]} : tensor<2x3xf32>, vector<2x3xf32>
  vector.print %t177 : vector<2x3xf32>
  %t178 = arith.constant dense<[[-1.5, 6.5, 2.5], [-2.5, 5.5, 1.5]]> : tensor<2x3xf32>
  %t179 = arith.constant dense<[[0.5, -4.5, 3.5], [-1.5, 6.5, 2.5]]> : tensor<2x3xf32>
  %t180 = linalg.ceil  ins(%t178 : tensor<2x3xf32>) outs(%t179 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t181 = vector.transfer_read %t180[%c0, %c0], %padf {in_bounds = [true, true]} : tensor<2x3xf32>, vector<2x3xf32>
  vector.print %t181 : vector<2x3xf32>
  %t182 = arith.constant dense<[[0.5, -4.5, 3.5], [-1.5, 6.5, 2.5]]> : tensor<2x3xf32>
  %t183 = arith.constant dense<[[0.5, -4.5, 3.5], [-1.5, 6.5, 2.5]]> : tensor<2x3xf32>
  %t184 = linalg.floor  ins(%t182 : tensor<2x3xf32>) outs(%t183 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t185 = vector.transfer_read %t184[%c0, %c0], %padf {in_bounds = [true, true]} : tensor<2x3xf32>, vector<2x3xf32>
  vector.print %t185 : vector<2x3xf32>
  %t186 = arith.constant dense<[[1.5, -3.5, 4.5], [0.5, -4.5, 3.5]]> : tensor<2x3xf32>
  %t187 = arith.constant dense<[[0.5, -4.5, 3.5], [-1.5, 6.5, 2.5]]> : tensor<2x3xf32>
  %t188 = linalg.exp  ins(%t186 : tensor<2x3xf32>) outs(%t187 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t189 = vector.transfer_read %t188[%c0, %c0], %padf {in_bounds = [true, true]} : tensor<2x3xf32>, vector<2x3xf32>
  vector.print %t189 : vector<2x3xf32>
  %t190 = arith.constant dense<[[2.5, -2.5, 5.5], [1.5, -3.5, 4.5]]> : tensor<2x3xf32>
  %t191 = arith.constant dense<[[0.5, -4.5, 3.5], [-1.5, 6.5, 2.5]]> : tensor<2x3xf32>
  %t192 = linalg.tanh  ins(%t190 : tensor<2x3xf32>) outs(%t191 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t193 = vector.transfer_read %t192[%c0, %c0], %padf {in_bounds = [true, true]} : tensor<2x3xf32>, vector<2x3xf32>
  vector.print %t193 : vector<2x3xf32>
  %t194 = arith.constant dense<[[3.5, -1.5, 6.5], [2.5, -2.5, 5.5]]> : tensor<2x3xf32>
  %t195 = arith.constant dense<[[-2.5, 5.5, 1.5], [-3.5, 4.5, 0.5]]> : tensor<2x3xf32>
  %t196 = arith.constant dense<[[0.5, -4.5, 3.5], [-1.5, 6.5, 2.5]]> : tensor<2x3xf32>
  %t197 = linalg.div  ins(%t194, %t195 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%t196 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t198 = vector.transfer_read %t197[%c0, %c0], %padf {in_bounds = [true, true]} : tensor<2x3xf32>, vector<2x3xf32>
  vector.print %t198 : vector<2x3xf32>
  %t199 = arith.constant dense<[[-4, 3], [-1, 6], [2, -2]]> : tensor<3x2xi32>
  %t200 = arith.constant dense<[2, -2, 5]> : tensor<3xi32>
  %t201 = arith.constant dense<[[0, -4, 3], [-1, 6, 2]]> : tensor<2x3xi32>
  %t202 = linalg.elementwise kind = #linalg.elementwise_kind<mul> indexing_maps = [affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j)>, affine_map<(i,j)->(i,j)>] ins(%t199, %t200 : tensor<3x2xi32>, tensor<3xi32>) outs(%t201 : tensor<2x3xi32>) -> tensor<2x3xi32>
  %t203 = vector.transfer_read %t202[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x3xi32>, vector<2x3xi32>
  vector.print %t203 : vector<2x3xi32>
  %t204 = arith.constant dense<[[0, -4, 3], [-1, 6, 2]]> : tensor<2x3xi32>
  %t205 = arith.constant dense<[[0, -4, 3], [-1, 6, 2]]> : tensor<2x3xi32>
  %t206 = linalg.copy  ins(%t204 : tensor<2x3xi32>) outs(%t205 : tensor<2x3xi32>) -> tensor<2x3xi32>
  %t207 = vector.transfer_read %t206[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<2x3xi32>, vector<2x3xi32>
  vector.print %t207 : vector<2x3xi32>
  %t208 = arith.constant dense<[[0.5, -4.5, 3.5], [-1.5, 6.5, 2.5]]> : tensor<2x3xf32>
  %t209 = linalg.fill_rng_2d  ins(%f1, %f2, %q1 : f64, f64, i32) outs(%t208 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t210 = vector.transfer_read %t209[%c0, %c0], %padf {in_bounds = [true, true]} : tensor<2x3xf32>, vector<2x3xf32>
  vector.print %t210 : vector<2x3xf32>
  return
}
