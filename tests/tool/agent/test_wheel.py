"""The wheel, installed into a new environment, debugs a tool."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.paths import ROOT

SHIPPED = ("pyproject.toml", "README.md", "LICENSE", "actiondbg", "commands")

ATTACH = """
import sys
from pathlib import Path
import actiondbg
assert Path(actiondbg.__file__).is_relative_to(sys.prefix), actiondbg.__file__
with actiondbg.launch([sys.argv[1], sys.argv[2], "--canonicalize"]) as session:
    session.breakpoints.add("pattern:AddIAddConstant")
    print(session.run().name)
"""


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy, as setuptools writes beside its sources."""
    copy = tmp_path_factory.mktemp("source")
    ignore = shutil.ignore_patterns("__pycache__")
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignore)
        else:
            shutil.copy(ROOT / name, copy / name)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", copy / "dist", copy)
    (built,) = (copy / "dist").glob("actiondbg-*.whl")
    return built


def test_the_installed_wheel_attaches(wheel: Path, mlir_opt: str, folds: str) -> None:
    environment = wheel.parent / "environment"
    python = environment / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", "--without-pip", environment)
        pip = (sys.executable, "-m", "pip", "--python", python)
        run(*pip, "install", "--no-deps", "--no-index", wheel)
        # What actiondbg needs is the parent's; a path of a path file adds no editable install.
        paths = {name: str(environment) for name in ("base", "platbase")}
        site = Path(sysconfig.get_path("purelib", vars=paths))
        (site / "parent.pth").write_text(sysconfig.get_path("purelib"))
    assert run(python, "-I", "-c", ATTACH, mlir_opt, folds) == "AddIAddConstant\n"
    assert run(environment / "bin" / "actiondbg", "--version", mlir_opt).startswith("actiondbg ")
