"""The wheel, installed into a new environment without a compiler, debugs tools and programs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from actiondbg.tool.shipped import SHIPPED
from tests.conftest import PYPI
from tests.fakes.source_copy import copy_sources
from tests.paths import ROOT

BUILT = SHIPPED.relative_to(ROOT)

ATTACH = """
import sys
from pathlib import Path
import actiondbg
assert Path(actiondbg.__file__).is_relative_to(sys.prefix), actiondbg.__file__
with actiondbg.launch([sys.argv[1], sys.argv[2], "--canonicalize"]) as session:
    session.breakpoints.add("pattern:AddIAddConstant")
    print(session.run().name)
"""
MEASURE = """
from actiondbg.kernels.counting.program import counting_library
from actiondbg.kernels.profiling.peaks import machine_peaks
print(counting_library().name, machine_peaks().gflops["f32"] > 0)
"""


def run(*command: str | Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a source distribution from a copy, and the wheel from that."""
    copy = tmp_path_factory.mktemp("source")
    copy_sources(copy)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", copy / "dist", copy)
    (archive,) = (copy / "dist").glob("actiondbg-*.tar.gz")
    (copy / "sdist").mkdir()
    run("tar", "-xzf", archive, "-C", copy / "sdist")
    (unpacked,) = (copy / "sdist").iterdir()
    # What this clone has of the same sources is not compiled again.
    shutil.copytree(ROOT / BUILT, unpacked / BUILT)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", copy / "dist", unpacked)
    (built,) = (copy / "dist").glob("actiondbg-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """Install the wheel into a new environment; return its folder."""
    environment = wheel.parent / "environment"
    python = environment / "bin" / "python"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--no-deps", "--no-index", wheel)
    # What actiondbg needs is the parent's; a path of a path file adds no editable install.
    paths = {name: str(environment) for name in ("base", "platbase")}
    site = Path(sysconfig.get_path("purelib", vars=paths))
    (site / "parent.pth").write_text(sysconfig.get_path("purelib"))
    return environment


@pytest.fixture
def without_compiler(installed: Path, tmp_path: Path) -> dict[str, str]:
    """An environment of a user who has no compiler, and an empty cache."""
    return {"PATH": str(installed / "bin"), "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}


@pytest.fixture
def tool_of(request: pytest.FixtureRequest) -> Callable[[str, str], Path]:
    def find(environment: str, program: str) -> Path:
        path = ROOT / ".venv-tools" / environment / "bin" / program
        if not path.exists():
            pytest.skip(f"scripts/setup-tools {environment} installs it")
        return path

    return find


def test_the_wheel_is_for_old_systems(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl")
    shown = run(sys.executable, "-m", "auditwheel", "show", wheel)
    found = re.search(r'platform tag:\s+"manylinux_2_(\d+)_x86_64"', shown)
    assert found, shown
    assert int(found[1]) <= 28


def test_the_installed_wheel_attaches(installed: Path, mlir_opt: str, folds: str) -> None:
    assert run(installed / "bin/python", "-I", "-c", ATTACH, mlir_opt, folds) == "AddIAddConstant\n"
    assert run(installed / "bin/actiondbg", "--version", mlir_opt).startswith("actiondbg ")


def test_mlir_opt_without_a_compiler(
    installed: Path, without_compiler: dict[str, str], folds: str
) -> None:
    python, tool = installed / "bin/python", PYPI / "mlir-opt"
    name = run(python, "-I", "-c", ATTACH, tool, folds, env=without_compiler)
    assert name == "AddIAddConstant\n"
    version = run(installed / "bin/actiondbg", "--version", tool, env=without_compiler)
    assert re.search(r"LLVM 2[12]\.", version)


def test_iree_opt_without_a_compiler(
    installed: Path,
    without_compiler: dict[str, str],
    folds: str,
    tool_of: Callable[[str, str], Path],
) -> None:
    tool = tool_of("iree", "iree-opt")
    python = installed / "bin/python"
    name = run(python, "-I", "-c", ATTACH, tool, folds, env=without_compiler)
    assert name == "AddIAddConstant\n"


def test_triton_without_a_compiler(
    installed: Path, without_compiler: dict[str, str], tool_of: Callable[[str, str], Path]
) -> None:
    python = tool_of("triton", "python")
    batch = ("--batch", "-ex", "break pattern:*::BlockedToMMA", "-ex", "run", "-ex", "skip")
    program = (python, ROOT / "examples/matmul.py")
    text = run(installed / "bin/actiondbg", *batch, "--", *program, env=without_compiler)
    assert re.search(r"apply-pattern \(mlir::triton::gpu::BlockedToMMA\) in .*@matmul", text)
    assert "0 mma.sync, 256 fma.rn" in text


def test_a_path_that_cannot_be_preloaded(
    wheel: Path, without_compiler: dict[str, str], folds: str, tmp_path: Path
) -> None:
    """Blanks and colons separate paths in LD_PRELOAD: the agent is preloaded by a link."""
    site = tmp_path / "my: packages"
    target = ("--target", site, "--no-deps", "--no-index", "-q", wheel)
    run(sys.executable, "-m", "pip", "install", *target)
    code = f"import sys; sys.path.insert(0, {str(site)!r}); sys.prefix = {str(site)!r}\n{ATTACH}"
    tool = PYPI / "mlir-opt"
    name = run(sys.executable, "-c", code, tool, folds, env=without_compiler)
    assert name == "AddIAddConstant\n"


def test_kernels_are_counted_and_measured_without_a_compiler(
    installed: Path, without_compiler: dict[str, str]
) -> None:
    pytest.importorskip("numpy")
    text = run(installed / "bin/python", "-I", "-c", MEASURE, env=without_compiler)
    assert re.fullmatch(r"calls-[0-9a-f]+\.so True\n", text)
