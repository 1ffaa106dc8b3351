"""Kernels that are cut out of a program compute their references."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from actiondbg.kernels.errors import Unsupported
from actiondbg.kernels.programs.extraction import operations_of
from actiondbg.kernels.results.csv_file import read_csv
from tests.elements import some
from tests.fakes import command_line
from tests.fakes.kernels.program import PROGRAM
from tests.tool.kernels.loop_kernels import assert_computes_reference

pytest.importorskip("mlir.ir")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed")


def test_kernels_of_a_program_compute_their_references(tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAM)
    *operations, rest = operations_of(program)
    for operation in some(operations):
        assert_computes_reference(tmp_path, operation)
    with pytest.raises(Unsupported, match=r"does not interpret arith.remf"):
        rest.reference([np.zeros(each.shape, each.type.dtype) for each in rest.inputs])


def test_the_commands_cut_and_verify_a_program(tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAM)
    line = ["kernels", "run", "--from", program, "--profiling-enabled", "false"]
    ran = command_line.run(*line, cwd=tmp_path)
    assert ran.stderr.splitlines()[0] == (
        "actiondbg: left out of program.mlir: linalg.exp has a dynamic shape, tensor<?xf32>."
    )
    verdicts: dict[str, set[str]] = {}
    for entry in read_csv(tmp_path / "generated" / "linalg" / "report.csv"):
        verdicts.setdefault(entry.operation, set()).add(entry.verification.verdict)
    *others, rest = operations_of(program)
    assert verdicts == {each.name: {"SUCCESS"} for each in others} | {rest.name: {"Not verified"}}
