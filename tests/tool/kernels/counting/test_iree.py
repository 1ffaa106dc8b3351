"""``actiondbg kernels count`` of programs that run modules of IREE, which are not built anew."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.elements import some
from tests.paths import COMMAND

pytest.importorskip("iree.runtime", reason="needs the extra iree")
# Not imported: its bindings and those of MLIR cannot be loaded into one process.
if find_spec("iree") is None or find_spec("iree.compiler") is None:
    pytest.skip("needs the extra iree", allow_module_level=True)

COUNT = [COMMAND, "kernels", "count", "--json"]
RUN = [sys.executable, "-m", "iree._runtime.scripts.iree_run_module"]
BENCHMARK = [sys.executable, "-m", "iree._runtime.scripts.iree_benchmark_module"]
LLVM_CPU = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
TARGET = [*LLVM_CPU, "--iree-llvmcpu-target-cpu=host"]
SYSTEM = "--iree-llvmcpu-link-embedded=false"
# The shape is large enough for several workgroups of each dispatch.
SOURCE = """\
func.func @NAME(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>)
    outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = linalg.softmax dimension(1) ins(%r : tensor<256x256xf32>)
    outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %s : tensor<256x256xf32>
}
"""
INPUTS = ["--input=256x256xf32=0.5", "--input=256x256xf32=0.25"]
# A program with several modules, threads of its own, and modules that are unloaded.
PROGRAM = """\
import sys, threading
import numpy as np
import iree.runtime as rt
a = np.full((256, 256), 0.5, np.float32)
def load(path, device):
    return rt.load_vm_flatbuffer_file(path, driver=device)
def run(path, function, device, times):
    module = load(path, device)
    for _ in range(times):
        result = module[function](a, a).to_host()
    assert np.allclose(result, 1 / 256), result
first, second = sys.argv[1:]
for _ in range(3):
    run(first, "one", "local-sync", 2)
    run(second, "two", "local-task", 1)
threads = [threading.Thread(target=run, args=(first, "one", "local-sync", 5)) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("done")
"""

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """A function that compiles a module, once."""
    folder = tmp_path_factory.mktemp("modules")

    def make(name: str, *flags: str) -> Path:
        path = folder / f"{name}{len(flags)}.vmfb"
        if not path.exists():
            source = folder / f"{name}.mlir"
            source.write_text(SOURCE.replace("NAME", name))
            compiler = [sys.executable, "-m", "iree.compiler.tools.scripts.iree_compile"]
            command = [*compiler, str(source), *TARGET, *flags, "-o", str(path)]
            subprocess.run(command, check=True, capture_output=True)
        return path

    return make


def counted(*arguments: str | Path, options: Sequence[str] = ()) -> tuple[dict[str, Any], str]:
    """Count a program; return what --json printed, and the program's output."""
    command = [*COUNT, *options, "--", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.splitlines()[-1]), done.stdout


def names_of(cost: dict[str, Any]) -> list[str]:
    return sorted(one["name"] for one in cost["functions"])


@pytest.mark.parametrize("flags", [[], [SYSTEM]], ids=["embedded", "system"])
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_both_loaders_and_their_outputs(module: Make, flags: list[str], device: str) -> None:
    program = [*RUN, f"--module={module('one', *flags)}", f"--device={device}", "--function=one"]
    cost, output = counted(*program, *INPUTS)
    bare = subprocess.run([*program, *INPUTS], capture_output=True, text=True, check=True)
    assert output == bare.stdout
    matmul, softmax = names_of(cost)
    assert matmul.startswith("one_dispatch_0_matmul") and softmax.startswith("one_dispatch_1_")
    # A dispatch has several workgroups, each a call; only one thread is that of the command.
    assert all(one["calls"] > 1 for one in some(cost["functions"]))
    if device == "local-sync":
        assert [one["name"] for one in cost["threads"]] == ["iree-run-module"]
    else:
        assert all(one["name"].startswith("iree-worker") for one in cost["threads"])


def test_the_number_of_calls_is_that_of_workgroups(module: Make) -> None:
    """It does not depend on threads, and grows with the number of runs."""
    path = module("one")
    calls: dict[str, dict[str, int]] = {}
    for device in ("local-sync", "local-task"):
        options = [f"--module={path}", f"--device={device}", "--function=one", *INPUTS]
        cost, _ = counted(*RUN, *options)
        calls[device] = {one["name"]: one["calls"] for one in cost["functions"]}
    assert calls["local-sync"] == calls["local-task"]


def test_a_program_with_modules_and_threads(module: Make, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    paths = module("one"), module("two", SYSTEM)
    cost, output = counted(sys.executable, tmp_path / "program.py", *paths)
    assert output == "done\n"
    calls = {one["name"]: one["calls"] for one in cost["functions"]}
    ones = [count for name, count in calls.items() if name.startswith("one_dispatch_0")]
    twos = [count for name, count in calls.items() if name.startswith("two_dispatch_0")]
    # Runs of the first module: 3 times 2, and 5 in each of two threads.
    assert len(ones) == len(twos) == 1 and ones[0] * 3 == twos[0] * 16
    assert [note for note in cost["notes"] if "events" not in note] == []


def test_a_filter(module: Make) -> None:
    path = module("one")
    program = [*RUN, f"--module={path}", "--device=local-sync", "--function=one", *INPUTS]
    cost, _ = counted(*program, options=["--name", "*matmul*", "--events", "none"])
    (name,) = names_of(cost)
    assert "matmul" in name
    done = subprocess.run(
        [*COUNT, "--name", "conv*", "--", *program], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "actiondbg: No function matches 'conv*': the program has one_dispatch_0_matmul"
    )


def test_the_benchmark_runs_as_without(module: Make) -> None:
    path = module("one")
    options = ["--benchmark_min_time=2x", "--device=local-task", "--function=one", *INPUTS]
    cost, output = counted(*BENCHMARK, f"--module={path}", *options)
    assert re.search(r"BM_one/process_time/real_time .* 2 items_per_second", output)
    assert len(cost["functions"]) == 2


def test_the_hook_of_iree_can_be_replaced(module: Make, tmp_path: Path) -> None:
    """The variables of the original, with the library alone."""
    path = module("one")
    library = subprocess.run(
        [*COUNT, "--print-library"], capture_output=True, text=True
    ).stdout.strip()
    variables = {
        "LD_PRELOAD": library,
        "IREE_HOOK_OUTPUT_CSV": str(tmp_path),
        "IREE_HOOK_PERF_EVENT_TYPES": "page-faults",
        "IREE_HOOK_SKIP_START_MS": "0",
        "IREE_HOOK_GAMMA": "0.7",
    }
    done = subprocess.run(
        [*RUN, f"--module={path}", "--device=local-task", "--function=one", *INPUTS],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0
    assert "Thread iree-worker-" in done.stderr
    assert list(tmp_path.glob("calls-*-iree-worker-*.csv"))
    # No process but that with dispatches says anything.
    assert done.stderr.count("calls of 2 functions") == 1
