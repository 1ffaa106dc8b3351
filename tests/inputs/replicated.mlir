spirv.module Logical GLSL450 {
  spirv.func @a() -> !spirv.array<3 x i32> "None" {
    %0 = spirv.Constant dense<[1, 2, 3]> : tensor<3xi32> : !spirv.array<3 x i32>
    spirv.ReturnValue %0 : !spirv.array<3 x i32>
  }
  spirv.func @b() -> !spirv.array<3 x i32> "None" {
    %0 = spirv.Constant dense<7> : tensor<3xi32> : !spirv.array<3 x i32>
    spirv.ReturnValue %0 : !spirv.array<3 x i32>
  }
}
