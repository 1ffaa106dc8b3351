"""Passes of a program that registers none, as Triton does: the agent finds what makes them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import EditRefused
from actiondbg.whatif import try_passes
from tests.paths import INPUTS
from tests.tool.targets.scene import run_to_end
from tests.tool.targets.targets import TARGETS

TRITON = TARGETS["triton"]
pytestmark = TRITON.marks
ARGV = [
    *(str(TRITON.programs["python"]), str(INPUTS / "tools/triton/kernels.py"), "add"),
]
# Runs the same pass by Triton's own function for it.
CONVERTED = """
import sys
from triton._C.libtriton import ir, passes
from triton.backends.nvidia.compiler import CUDABackend
from triton.backends.compiler import GPUTarget
context = ir.context()
ir.load_dialects(context)
CUDABackend(GPUTarget("cuda", 80, 32)).load_dialects(context)
module = ir.parse_mlir_module(sys.argv[1], context)
manager = ir.pass_manager(context)
passes.ttir.add_convert_to_ttgpuir(manager, "cuda:80", 8, 32, 1)
manager.run(module, "made")
print(module.str_nodebug())
"""


@pytest.fixture
def session(tmp_path: Path) -> actiondbg.Session:
    session = actiondbg.launch(ARGV, cwd=tmp_path, env=TRITON.env())
    session.breakpoints.add("pass:triton-combine", temporary=True)
    session.run()
    return session


def _renumbered(text: str) -> str:
    """Number values as they appear: a session keeps the names that it has shown."""
    names: dict[str, str] = {}
    return re.sub(r"%\w+", lambda found: names.setdefault(found[0], f"%{len(names)}"), text).strip()


def test_a_pass_is_applied_with_options(session: actiondbg.Session, tmp_path: Path) -> None:
    with session:
        before = tmp_path / "before.ttir"
        before.write_text(session.ir.print("module").text)
        pipeline = "convert-triton-to-tritongpu{target=cuda:80 num-warps=8}"
        assert session.edits.apply_pass(pipeline) is not None
        command = [ARGV[0], "-c", CONVERTED, str(before)]
        made = subprocess.run(command, capture_output=True, text=True, check=True)
        assert _renumbered(session.ir.print("module").text) == _renumbered(made.stdout)


def test_passes_are_tried(session: actiondbg.Session, tmp_path: Path) -> None:
    """Each in a fork: one that crashes is named, and the program ends as it does alone."""
    with session:
        tried = {each.name: each for each in try_passes(session)}
        assert len(tried) > 100
        assert tried["convert-arith-to-llvm"].result == "changed"
        assert tried["cse"].result == "unchanged"
        with pytest.raises(EditRefused, match="'no-such' does not refer to a registered pass"):
            session.edits.apply_pass("no-such")
        assert run_to_end(session).status == 0
    found = (tmp_path / "add.ptx").read_text()
    subprocess.run(ARGV, cwd=tmp_path, env=TRITON.env(), check=True)
    assert (tmp_path / "add.ptx").read_text() == found
