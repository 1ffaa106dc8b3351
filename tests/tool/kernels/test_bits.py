"""Bits as operands and results, and elements at indices, with each compiler."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.model import ElementType
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.programs.extraction import operations_of
from actiondbg.kernels.sweep.settings import SweepSettings
from tests.fakes.kernels.lookup import BITS_AND_LOOKUP

_HAS_IREE = find_spec("iree") is not None and find_spec("iree.compiler") is not None


@pytest.mark.parametrize(
    "provider",
    [
        "mlir",
        "c",
        pytest.param(
            "iree", marks=pytest.mark.skipif(not _HAS_IREE, reason="needs the extra iree")
        ),
    ],
)
def test_bits_and_indices_are_right(provider: str, tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(BITS_AND_LOOKUP)
    settings = SweepSettings(generated_dir=tmp_path, profile=False, jobs=1)
    kernels = Kernels(settings, providers=(provider,))
    rows = kernels.run(kernels.generate(operations_of(program), default=True))
    found = [row.verification for row in rows]
    assert [each and (each.verdict, each.detail) for each in found] == [("SUCCESS", "")] * 3


def test_another_byte_than_0_and_1_is_wrong(tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(BITS_AND_LOOKUP)
    settings = SweepSettings(generated_dir=tmp_path, profile=False)
    kernels = Kernels(settings, providers=("c",))
    (dispatch,) = kernels.generate([operations_of(program)[1]])
    configured = GeneratedFolder(tmp_path).configured(dispatch)
    for old, new in (("olt", "oge"), ("oge", "false")):
        configured.write_text(configured.read_text().replace(f"cmpf {old}", f"cmpf {new}"))
        (row,) = kernels.run([dispatch])
        assert row.verification is not None
        assert row.verification.verdict == "FAILED"


def test_kinds_have_no_bits() -> None:
    with pytest.raises(UsageError, match="A matmul has no operands or results of i1"):
        Matmul(4, 4, 4, ElementType.I1, ElementType.I1, ElementType.I32).check()
