"""Predefined sets of operations."""

from __future__ import annotations

import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.operations.registry import kind_names
from actiondbg.kernels.operations.windowed import Conv2d
from actiondbg.kernels.problems.problem import SETS, load_set
from tests.elements import some


@pytest.mark.parametrize("name", SETS)
def test_the_operations_of_a_set_fit_their_kinds_and_differ(name: str) -> None:
    operations = load_set(name)
    for operation in some(operations):
        operation.check()
    names = [each.name for each in operations]
    assert len(set(names)) == len(names) >= 2


def test_the_small_set_has_each_kind() -> None:
    assert {each.kind for each in load_set("small")} == set(kind_names()) - {"model"}


def test_resnet50_has_its_layers() -> None:
    layers = load_set("resnet50")
    convolutions = [each for each in layers if isinstance(each, Conv2d)]
    assert {each.result.shape[1] for each in convolutions} == {112, 56, 28, 14, 7}
    assert Conv2d(1, 58, 58, 128, 128, 3, 3, 2, 2) in convolutions
    assert Conv2d(1, 56, 56, 256, 512, 1, 1, 2, 2) in convolutions
    # All distinct convolutions of ResNet-50 with strides in the 3 x 3 filters: 23.
    assert len(convolutions) == 23
    assert layers[-1] == Matmul(1, 1000, 2048)


def test_an_unknown_set_is_reported() -> None:
    with pytest.raises(UsageError, match="Unknown problem set 'vgg'; there are small, matmul,"):
        load_set("vgg")
