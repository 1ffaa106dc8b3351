module attributes {spirv.target_env =
    #spirv.target_env<#spirv.vce<v1.0, [Shader], []>, #spirv.resource_limits<>>} {
  func.func @f(%a: i64) -> i64 {
    %0 = arith.muli %a, %a : i64
    return %0 : i64
  }
}
