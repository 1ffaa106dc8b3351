"""``actiondbg.attach()`` in programs that use Triton, JAX and torch-mlir."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import actiondbg
from tests.paths import INPUTS
from tests.tool.targets.targets import TARGETS, TOOLS

# Each defines ``compile()``, which prints what it makes; PATTERN succeeds in it.
PROGRAMS = {
    "triton": """
import sys
sys.path.insert(0, {inputs!r} + "/triton")
import kernels
PATTERN = "*::BlockedToMMA"
def compile():
    print(kernels.compile_kernel("matmul").asm["ptx"].count("mma.sync"), "mma.sync")
""",
    "jax": """
import jax
PATTERN = "*"
def compile():
    print(jax.jit(lambda x: jax.nn.softmax(x @ x.T))(jax.numpy.ones((8, 8))).sum())
""",
    "torch-mlir": """
from torch_mlir.dialects import torch
from torch_mlir.ir import Context, Module
from torch_mlir.passmanager import PassManager
PATTERN = "*"
TEXT = open({inputs!r} + "/torch/network.mlir").read()
PIPELINE = TEXT.split("--pass-pipeline=")[1].splitlines()[0]
context = Context()
torch.register_dialect(context)
def compile():
    with context:
        module = Module.parse(TEXT)
        PassManager.parse(PIPELINE).run(module.operation)
        print(str(module).count("linalg.generic"))
""",
}
OBSERVED = """
compile()
import actiondbg
with actiondbg.attach() as actions:
    compile()
compile()
with actiondbg.attach() as again:
    compile()
found = actions.find(f"pattern:{PATTERN}", outcome="changed")
print(len(found) > 0, found[0].changes[0].kind, len(again) > 0)
"""
WAITING = """
import actiondbg
actiondbg.attach(wait=True)
compile()
"""


@pytest.fixture(
    params=[pytest.param(name, marks=TARGETS[name].marks) for name in PROGRAMS],
)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def start(name: str, text: str, directory: Path) -> subprocess.Popen[str]:
    target = TARGETS[name]
    python = str(TOOLS / name / "bin" / "python")
    program = directory / "program.py"
    program.write_text(PROGRAMS[name].replace("{inputs!r}", repr(str(INPUTS / "tools"))) + text)
    return subprocess.Popen(
        [python, str(program)],
        cwd=directory,
        env={**target.env(), "TRITON_ALWAYS_COMPILE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_compilations_in_blocks_are_observed(name: str, tmp_path: Path) -> None:
    with start(name, OBSERVED, tmp_path) as program:
        out, errors = program.communicate(timeout=120)
    assert program.returncode == 0, errors
    *made, found = out.splitlines()
    assert found.startswith("True ") and found.endswith(" True")
    assert len(made) == 4 and len(set(made)) == 1


def test_a_program_that_waits_is_debugged_from_elsewhere(name: str, tmp_path: Path) -> None:
    with start(name, WAITING, tmp_path) as program:
        assert program.stderr is not None and program.stdout is not None
        said = program.stderr.readline() + program.stderr.readline()
        [socket] = re.findall(r"actiondbg connect (\S+)", said)
        with actiondbg.connect(socket) as s:
            s.breakpoints.add("tag:apply-pattern")
            stop = s.run()
            assert stop.tag == "apply-pattern" and stop.op
            assert stop.op in s.ir.print("cursor").text
            s.breakpoints.delete([each.id for each in s.breakpoints.all()])
            assert s.continue_().status == 0
        made = program.stdout.read()
        program.wait(60)
    assert program.returncode == 0
    assert made.splitlines()
