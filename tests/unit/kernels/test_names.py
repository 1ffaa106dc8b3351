"""The names that packages import when they are first used."""

from __future__ import annotations

from importlib import import_module

import pytest


@pytest.mark.parametrize("package", ["actiondbg", "actiondbg.bisection", "actiondbg.kernels"])
def test_each_name_of_a_package_is_found(package: str) -> None:
    module = import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None
