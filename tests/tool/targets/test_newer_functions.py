"""Functions that MLIR has since properties know their type; mlir-opt 22 does not have them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import INPUTS
from tests.tool.targets.targets import TARGETS

CREATE = "_ZN4mlir9Operation6createE"
PLACE = "NS_8LocationENS_13OperationNameENS_9TypeRangeENS_10ValueRangeE"
REST = "NS_11PropertyRefENS_10BlockRangeE"
CREATIONS = [
    f"{CREATE}{PLACE}ONS_13NamedAttrListE{REST}j",
    f"{CREATE}{PLACE}NS_14DictionaryAttrE{REST}j",
    f"{CREATE}{PLACE}ONS_13NamedAttrListE{REST}NS_11RegionRangeE",
]
# Prints for each function whether its code is another after a compilation.
PROGRAM = f"""
import ctypes, json, sys
sys.path.insert(0, {str(INPUTS / "tools" / "triton")!r})
import kernels
from triton._C import libtriton
library = ctypes.CDLL(libtriton.__file__)
functions = [ctypes.cast(library[name], ctypes.c_void_p).value for name in {CREATIONS!r}]
before = [ctypes.string_at(each, 5) for each in functions]
kernels.compile_kernel("matmul")
print(json.dumps([ctypes.string_at(each, 5) != was for each, was in zip(functions, before)]))
"""


@pytest.mark.parametrize("name", [pytest.param("triton", marks=TARGETS["triton"].marks)])
def test_all_functions_that_create_operations_are_observed(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = ["record", "-o", "run.adbrec", "--", str(target.programs["python"]), str(program)]
    done = subprocess.run(
        [sys.executable, "-m", "actiondbg", *command],
        cwd=tmp_path,
        env={**target.env(), "TRITON_ALWAYS_COMPILE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0]) == [True] * len(CREATIONS)
