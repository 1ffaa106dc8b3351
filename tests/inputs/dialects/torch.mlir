module attributes {torch.debug_module_name = "Net"} {
  func.func @forward(%arg0: !torch.vtensor<[1,3],f32> {torch.type_bound = !torch.vtensor<[?,3],f32>}) -> !torch.vtensor<[1,3],f32> {
    %int1 = torch.constant.int 1
    %0 = torch.vtensor.literal(dense_resource<weight> : tensor<3xf32>) : !torch.vtensor<[3],f32>
    %1 = torch.prim.Loop %int1, %true, init(%0) {
    ^bb0(%arg1: !torch.int, %arg2: !torch.vtensor<[3],f32>):
      %3 = torch.operator "onnx.Add"(%arg2, %0) {torch.onnx.axis = 0 : si64} : (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
      torch.prim.Loop.condition %true, iter(%3 : !torch.vtensor<[3],f32>)
    } : (!torch.int, !torch.bool, !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
    %2 = torch.aten.add.Tensor %arg0, %1, %int1 : !torch.vtensor<[1,3],f32>, !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[1,3],f32>
    return %2 : !torch.vtensor<[1,3],f32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F0000004000004040"
    }
  }
#-}
