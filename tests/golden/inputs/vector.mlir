module attributes {spirv.target_env =
    #spirv.target_env<#spirv.vce<v1.0, [Shader], []>, #spirv.resource_limits<>>} {
  func.func @square(%a: vector<5xi32>, %b: i32) -> vector<5xi32> {
    %0 = arith.muli %b, %b : i32
    %1 = arith.muli %a, %a : vector<5xi32>
    return %1 : vector<5xi32>
  }
}
