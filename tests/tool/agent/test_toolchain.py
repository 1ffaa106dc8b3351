"""The real tools: which are found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.tool import expand_driver, find_tool

DEBIAN = Path("/usr/lib/llvm-22")
needs_debian = pytest.mark.skipif(
    not (DEBIAN / "bin/mlir-opt").exists() or not (DEBIAN / "include/mlir").exists(),
    reason="Debian's MLIR is not installed (scripts/install-debian-mlir)",
)
needs_flang = pytest.mark.skipif(
    shutil.which("flang-22") is None,
    reason="Debian's flang-22 is not installed (scripts/install-debian-mlir)",
)


def write(path: Path, text: str, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def test_bare_mlir_opt_is_that_of_the_package() -> None:
    tool = find_tool("mlir-opt")
    assert tool.path.is_relative_to(sys.prefix)
    assert tool.libmlir is not None and tool.libmlir.name == "libMLIR.so"
    assert (tool.llvm() or "").startswith("22.1.")
    assert tool.assertions() is True
    assert len(tool.build_id) == 40


@needs_debian
@pytest.mark.parametrize("name", ["mlir-opt", "fir-opt", "flang-22"])
def test_debian_layout(name: str) -> None:
    if not (DEBIAN / "bin" / name).exists():
        pytest.skip(f"{name} is not installed (scripts/install-debian-mlir)")
    tool = find_tool(str(DEBIAN / "bin" / name))
    assert tool.libmlir is not None and tool.libmlir.name == "libMLIR.so.22.1"
    assert (tool.llvm() or "").startswith("22.1.")
    assert tool.assertions() is False


@needs_flang
@pytest.mark.parametrize("flags", [["-c"], []])
def test_real_flang(tmp_path: Path, flags: list[str]) -> None:
    write(tmp_path / "x.f90", "program a\nend\n")
    argv = expand_driver(["flang-22", *flags, "x.f90"], cwd=tmp_path)
    assert argv[1] == "-fc1"
    assert find_tool(argv[0]).libmlir is not None
    subprocess.run(argv, cwd=tmp_path, check=True)
    made = {file.name for file in tmp_path.iterdir()}
    assert made == ({"x.f90", "x.o"} if flags else {"x.f90"})
