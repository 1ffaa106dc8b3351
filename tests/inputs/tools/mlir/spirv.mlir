// RUN: mlir-opt %s --convert-arith-to-spirv

// SPIR-V has no vectors of five elements: the conversion fails.
module attributes {spirv.target_env = #spirv.target_env<#spirv.vce<v1.0, [Shader], []>, #spirv.resource_limits<>>} {
  func.func @square(%a: vector<5xi32>) -> vector<5xi32> {
    %0 = arith.muli %a, %a : vector<5xi32>
    return %0 : vector<5xi32>
  }
}
