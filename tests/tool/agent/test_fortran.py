"""fir-opt and the flang driver on a Fortran file (Debian's build)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg

FORTRAN = """\
subroutine scale(a, n)
  integer :: n
  real :: a(n)
  a = a * 2.0 + 1.0
end subroutine
"""


@pytest.fixture
def fortran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "scale.f90").write_text(FORTRAN)
    monkeypatch.chdir(tmp_path)
    return "scale.f90"


def test_the_flang_driver_is_stepped_in_its_frontend(
    debian: Callable[[str], str], fortran: str
) -> None:
    flang = debian("flang-22")
    with actiondbg.launch([flang, "-O1", "-S", "-emit-llvm", fortran, "-o", "ours.ll"]) as s:
        s.breakpoints.add("tag:apply-pattern and func:_QPscale")
        stop = s.run()
        assert (stop.when, stop.function) == ("before", "_QPscale")
        assert stop.location is not None and "scale.f90" in stop.location
        assert "func.func @_QPscale" in s.ir.print("function").text
        s.breakpoints.delete([1])
        assert s.step().when in ("before", "after")
        stop = s.continue_()
        assert (stop.when, stop.status) == ("exit", 0)
    subprocess.run([flang, "-O1", "-S", "-emit-llvm", fortran, "-o", "theirs.ll"], check=True)
    assert Path("ours.ll").read_bytes() == Path("theirs.ll").read_bytes()


def test_fir_opt_is_stepped_and_a_pass_of_it_skipped(
    debian: Callable[[str], str], fortran: str
) -> None:
    flang, fir_opt = debian("flang-22"), debian("fir-opt")
    subprocess.run([flang, "-fc1", "-emit-hlfir", fortran, "-o", "scale.mlir"], check=True)
    flags = ["--bufferize-hlfir", "--convert-hlfir-to-fir"]
    with actiondbg.launch([fir_opt, "scale.mlir", *flags]) as s:
        s.breakpoints.add("pass:convert-hlfir-to-fir")
        stop = s.run()
        assert stop.name == "convert-hlfir-to-fir"
        # fir is a dialect that the Python bindings do not have.
        assert "hlfir." in str(s.ir.module())
        s.skip()
        while s.state == "stopped":
            s.skip()
        assert "hlfir." in s.target.output()
    alone = subprocess.run([fir_opt, "scale.mlir", *flags], capture_output=True, text=True)
    assert "hlfir." not in alone.stdout
