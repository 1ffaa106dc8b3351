"""Tests of IREE's configurations and of what does not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.model import Configuration, Dispatch, ElementType, Parameter
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.operations.windowed import Conv2d
from actiondbg.kernels.providers.iree.configurations import (
    LEVELS,
    MATMUL_PIPELINE,
    applied_by,
    flags_of,
    lowering_of,
    tiled,
)
from actiondbg.kernels.providers.iree.provider import find_obstacle
from actiondbg.kernels.providers.iree.tiling import (
    Tiling,
    convolution_tilings,
    matmul_tiling,
    matmul_tilings,
    root_loops,
)
from actiondbg.kernels.providers.iree.toolchain import Target, make_target
from actiondbg.kernels.providers.provider import ProviderSettings
from actiondbg.kernels.providers.registry import make_provider
from tests.elements import some

CPU = Target("cpu", "")
F16, F32 = ElementType.F16, ElementType.F32


def obstacle(parameters: dict[str, Parameter]) -> str | None:
    configuration = Configuration("iree", "iree_mine", parameters)
    return find_obstacle(Dispatch(Matmul(64, 64, 64), configuration))


def test_the_first_tiling_follows_from_the_size_of_vectors() -> None:
    operation = Matmul(512, 512, 512)

    assert matmul_tilings(operation, 32)[0].name == "64x64_4x16x1"
    assert matmul_tilings(operation, 64)[0].name == "64x64_8x32x4"


def test_vectors_are_no_wider_than_the_result() -> None:
    widths = {each.vector_common_parallel[1] for each in matmul_tilings(Matmul(64, 8, 64), 32)}

    assert widths == {8}


def test_configurations_have_names_of_their_own() -> None:
    provider = make_provider("iree")
    operation = Matmul(512, 512, 512)

    names = [each.name for each in provider.configurations(operation)]

    assert len(names) == len(set(names)) >= 7
    assert provider.default(operation).name not in names
    assert all(name.startswith("iree_") for name in names)


def test_predefined_configurations_fit() -> None:
    provider = make_provider("iree")
    operation = Matmul(100, 60, 70)

    for each in some(provider.configurations(operation)):
        assert provider.obstacle(Dispatch(operation, each)) is None


def test_a_choice_of_sizes_is_a_configuration() -> None:
    provider = make_provider("iree")
    operation = Matmul(512, 512, 512)
    choice = {name: sizes[0] for name, sizes in provider.space(operation).items()}

    made = provider.configured(operation, {**choice, "tile_m": 32, "vector_m": 2})

    assert made.parameters["distribution"] == [32, 16, 0]
    assert provider.obstacle(Dispatch(operation, made)) is None


def test_a_choice_without_a_size_is_refused() -> None:
    with pytest.raises(UsageError, match="no tile_n"):
        make_provider("iree").configured(Matmul(8, 8, 8), {"tile_m": 32})


def test_slices_are_the_outermost_loop() -> None:
    tiles = tiled(CPU, matmul_tiling(0, (64, 64), (4, 16), 1), "DoubleTilingExpert", "attribute")
    configuration = replace(tiles, parameters={**tiles.parameters, "split_k_slices": 4})

    lowering = lowering_of(configuration)

    assert lowering is not None
    assert lowering.config["distribution"] == "[1, 64, 64, 0]"
    assert lowering.config["vector_reduction"] == "[0, 0, 0, 1]"
    assert flags_of(configuration) == ["--iree-dispatch-creation-split-matmul-reduction=4"]
    assert applied_by(configuration) == "stage"
    assert find_obstacle(Dispatch(Matmul(64, 64, 64), configuration)) is None


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"tile": 4}, "iree has no parameter 'tile'"),
        ({"device": "tpu"}, "Unknown device 'tpu'; iree has cpu, cuda, rocm."),
        ({"distribution": [64, 64]}, "distribution has 2 sizes, but matmul has 3 loops."),
        ({"distribution": "64"}, "distribution must be a list of numbers from 0 on."),
        ({"split_k_slices": 3}, "A sum of 64 does not divide into 3 slices."),
        ({"split_k_slices": 0}, "split_k_slices must be a number from 1 on, got 0."),
    ],
)
def test_what_does_not_fit_is_named(parameters: dict[str, Parameter], sentence: str) -> None:
    found = obstacle(parameters)

    assert found is not None
    assert found.startswith(sentence)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"workgroup": [48, 64, 0]}, "A loop of 64 does not divide into tiles of 48."),
        ({"mma_kind": "fast"}, "mma_kind must be IREE's name of an instruction, such as NV_MMA_"),
        (
            {"mma_kind": "NV_MMA_SYNC_F32_16x8x16_BF16"},
            "The instruction NV_MMA_SYNC_F32_16x8x16_BF16 does not multiply f16.",
        ),
        ({"workgroup_size": [128]}, "workgroup_size must be three numbers."),
    ],
)
def test_what_does_not_fit_a_gpu_is_named(changes: dict[str, Parameter], sentence: str) -> None:
    provider = make_provider("iree", ProviderSettings(device="cuda"))
    operation = Matmul(64, 64, 64, F16, F16, F32)
    fitting = provider.configurations(operation)[-1]
    parameters: dict[str, Parameter] = {**fitting.parameters, **changes}

    assert provider.obstacle(Dispatch(operation, fitting)) is None
    found = find_obstacle(Dispatch(operation, replace(fitting, parameters=parameters)))
    assert found is not None
    assert found.startswith(sentence)


def test_tiles_that_do_not_fit_shared_memory_are_named() -> None:
    provider = make_provider("iree", ProviderSettings(device="rocm"))
    operation = Matmul(512, 512, 512, F16, F16, F32)
    first = provider.configurations(operation)[0]
    parameters: dict[str, Parameter] = {**first.parameters, "reduction": [0, 0, 16]}

    assert find_obstacle(Dispatch(operation, replace(first, parameters=parameters))) == (
        "Tiles of 196608 bytes do not fit the 65536 bytes of shared memory of this GPU."
    )


def test_gpus_have_the_tiles_of_the_dispatch_profiler() -> None:
    provider = make_provider("iree", ProviderSettings(device="cuda", arch="sm_86"))

    names = [each.name for each in provider.configurations(Matmul(512, 512, 512, F16, F16, F16))]

    assert "iree_sm_86_tile_config_128x128_32x5_tensorcore_mmasync" in names
    assert len(names) == 7
    assert provider.default(Matmul(8, 8, 8)).name == "iree_sm_86_default"


def test_a_vector_that_iree_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actiondbg.kernels.providers.iree.provider.vector_bytes", lambda: 32)

    sizes: dict[str, Parameter] = {"vector_common_parallel": [64, 64, 0]}

    assert obstacle({**sizes, "vector_reduction": [0, 0, 1]}) == (
        "A vector of 16384 bytes is too large: IREE takes less than 16384 on this CPU."
    )
    # A size of 0 is the whole loop.
    assert obstacle({"vector_common_parallel": [8, 8, 0], "vector_reduction": [0, 0, 0]})
    assert obstacle({"vector_common_parallel": [8, 8, 0], "vector_reduction": [0, 0, 1]}) is None


def test_an_architecture_needs_a_gpu() -> None:
    with pytest.raises(UsageError, match="sm_80 is of a GPU: add --device"):
        make_target("cpu", "sm_80")


def test_a_device_that_iree_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="Unknown device 'tpu'"):
        make_provider("iree", ProviderSettings(device="tpu"))


def test_levels_without_tiles_are_left_out() -> None:
    without_cache = Tiling((8, 8, 0), (), (4, 8, 0), (0, 0, 1))

    configuration = tiled(CPU, without_cache, MATMUL_PIPELINE, "attribute")
    assert [name for name in configuration.parameters if name in LEVELS] == [
        "distribution",
        "vector_common_parallel",
        "vector_reduction",
    ]


def test_shapes_that_do_not_divide_are_also_peeled() -> None:
    provider = make_provider("iree")

    peeled = [each for each in provider.configurations(Matmul(61, 43, 37)) if "peel" in each.name]

    assert not any("peel" in each.name for each in provider.configurations(Matmul(64, 64, 64)))
    lowering = lowering_of(peeled[0])
    assert lowering is not None
    assert lowering.translation_info.endswith("<DoubleTilingExpert>, {enable_loop_peeling}>")


def test_tilings_of_convolutions_follow_the_layout() -> None:
    last = convolution_tilings(Conv2d(1, 30, 30, 32, 64, 3, 3), 32)[0]
    first = convolution_tilings(Conv2d(1, 30, 30, 32, 64, 3, 3, layout="nchw_fchw"), 32)[0]

    # n, oh, ow, oc, kh, kw, ic: four pixels by two registers of channels.
    assert last.distribution == (1, 8, 28, 64, 0, 0, 0)
    assert last.vector_common_parallel == (1, 1, 4, 16, 0, 0, 0)
    assert last.vector_reduction == (0, 0, 0, 0, 1, 1, 4)
    # n, oc, oh, ow, ic, kh, kw: eight channels by pixels that divide a row.
    assert first.distribution == (1, 64, 8, 28, 0, 0, 0)
    assert first.vector_common_parallel == (1, 8, 1, 7, 0, 0, 0)
    assert first.vector_reduction == (0, 0, 0, 0, 4, 1, 1)


@pytest.mark.parametrize("size", [1, 7, 43, 100, 196, 1000, 1021])
def test_vectors_divide_or_are_as_wide_as_registers(size: int) -> None:
    for each in some(matmul_tilings(Matmul(64, size, 64), 32)):
        lanes = each.vector_common_parallel[1]
        if lanes != 8:
            assert size % lanes == 0


def test_a_filter_of_one_pixel_is_a_product() -> None:
    assert root_loops(Conv2d(1, 14, 14, 16, 32, 1, 1)) == [196, 32, 16]
    assert len(root_loops(Conv2d(1, 14, 14, 16, 32, 3, 3))) == 7
