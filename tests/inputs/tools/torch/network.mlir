// RUN: torch-mlir-opt %s --pass-pipeline=builtin.module(torchdynamo-export-to-torch-backend-pipeline,torch-backend-to-linalg-on-tensors-backend-pipeline)

// A linear layer with a ReLU and a softmax, as torch-mlir gets it from PyTorch.
module {
  func.func @forward(%x: !torch.vtensor<[4,8],f32>, %w: !torch.vtensor<[16,8],f32>, %b: !torch.vtensor<[16],f32>) -> !torch.vtensor<[4,16],f32> {
    %none = torch.constant.none
    %int1 = torch.constant.int 1
    %linear = torch.aten.linear %x, %w, %b : !torch.vtensor<[4,8],f32>, !torch.vtensor<[16,8],f32>, !torch.vtensor<[16],f32> -> !torch.vtensor<[4,16],f32>
    %relu = torch.aten.relu %linear : !torch.vtensor<[4,16],f32> -> !torch.vtensor<[4,16],f32>
    %doubled = torch.aten.add.Tensor %relu, %relu, %int1 : !torch.vtensor<[4,16],f32>, !torch.vtensor<[4,16],f32>, !torch.int -> !torch.vtensor<[4,16],f32>
    %soft = torch.aten.softmax.int %doubled, %int1, %none : !torch.vtensor<[4,16],f32>, !torch.int, !torch.none -> !torch.vtensor<[4,16],f32>
    return %soft : !torch.vtensor<[4,16],f32>
  }
}
