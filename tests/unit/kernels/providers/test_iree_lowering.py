"""Tests of reading and replacing the lowering of operations in IREE's output."""

from __future__ import annotations

from actiondbg.kernels.providers.iree.configurations import (
    Lowering,
    find_root,
    read_lowerings,
    replace_lowering,
)

# As IREE 3.13 prints a convolution, abridged.
STAGE = """\
func.func @conv() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<ConvTileAndDecomposeExpert>>} {
  %5 = linalg.fill {lowering_config = #iree_cpu.lowering_config<vector_common_parallel = [1, 8, 16]>} ins(%cst : f32) outs(%4 : tensor<1x56x64xf32>) -> tensor<1x56x64xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>]} ins(%6 : tensor<1x58x64xf32>) outs(%5 : tensor<1x56x64xf32>) attrs =  {lowering_config = #iree_cpu.lowering_config<distribution = [0, 28, 64, 0], vector_common_parallel = [1, 8, 16, 0], vector_reduction = [0, 0, 0, 1]>} {
  %8 = linalg.generic {iterator_types = []} outs(%7 : tensor<64xf32>) attrs = {lowering_config = #iree_cpu.lowering_config<vector_common_parallel = [16]>} {
}
func.func @other() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DataTiling>>} {
"""  # noqa: E501
NEW = Lowering(
    "iree_cpu",
    {
        "distribution": "[0, 14, 32, 0]",
        "vector_common_parallel": "[1, 4, 32, 0]",
        "vector_reduction": "[0, 0, 0, 4]",
    },
    "DoubleTilingExpert",
)


def test_operations_with_a_lowering_are_read() -> None:
    fill, root, last = read_lowerings(STAGE)

    assert [fill.operation, root.operation] == ["linalg.fill", "linalg.generic"]
    assert root.config["distribution"] == "[0,28,64,0]"
    assert root.pipeline == "ConvTileAndDecomposeExpert"
    assert last.config == {"vector_common_parallel": "[16]"}


def test_the_root_is_the_operation_that_is_distributed() -> None:
    operations = read_lowerings(STAGE)

    assert find_root(operations, 4) is operations[1]
    assert find_root(operations, 7) is None


def test_a_replaced_lowering_is_read_back() -> None:
    operations = read_lowerings(STAGE)

    edited = replace_lowering(STAGE, operations, operations[1], NEW)

    fill, root, last = read_lowerings(edited)
    assert root.has(NEW)
    assert fill.config == {"vector_common_parallel": "[1,4,32]"}
    assert last.config == {"vector_common_parallel": "[16]"}
    assert "pipeline<DataTiling>" in edited


def test_another_lowering_is_not_taken_for_ours() -> None:
    assert not any(each.has(NEW) for each in read_lowerings(STAGE))


def test_a_lowering_is_described_in_a_sentence() -> None:
    assert str(read_lowerings(STAGE)[1]) == (
        "distribution [0,28,64,0], vector_common_parallel [1,8,16,0], vector_reduction [0,0,0,1] "
        "by ConvTileAndDecomposeExpert"
    )


def test_an_attribute_of_a_gpu_is_written() -> None:
    lowering = Lowering(
        "iree_gpu",
        {"workgroup": "[64, 64, 0]", "convert_acc_gemm": ""},
        "TileAndFuse",
        " workgroup_size = [128, 1, 1]",
    )

    assert lowering.compilation_info == (
        "compilation_info = #iree_codegen.compilation_info<lowering_config = "
        "#iree_gpu.lowering_config<{convert_acc_gemm, workgroup = [64, 64, 0]}>, "
        "translation_info = #iree_codegen.translation_info<pipeline = "
        "#iree_gpu.pipeline<TileAndFuse> workgroup_size = [128, 1, 1]>>"
    )
