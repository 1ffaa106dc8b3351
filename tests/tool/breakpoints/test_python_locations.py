"""Locations in a Python program, which Triton and JAX give their operations."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from actiondbg.attachment.observed_actions import ObservedActions
from actiondbg.recording.capture.recorder import record
from tests.fakes import command_line

_KERNEL = """\
import kernels

def add(x, y):
    return x + y

def add_kernel(x):
    total = add(x, 3)
    return add(total, 4)
"""
_MODULE = """\
#inner = loc("kernel.py":4:12)
module {
  func.func @add_kernel(%x: i32) -> i32 {
    %c3 = arith.constant 3 : i32 loc("kernel.py":7:20)
    %c4 = arith.constant 4 : i32 loc("kernel.py":8:23)
    %total = arith.addi %x, %c3 : i32 loc("total"(callsite(#inner at "kernel.py":7:13)))
    %1 = arith.addi %total, %c4 : i32 loc(callsite(#inner at "kernel.py":8:12))
    return %1 : i32 loc("kernel.py":8:5)
  }
}
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module whose operations were made by a Python program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernel.py").write_text(_KERNEL)
    (tmp_path / "in.mlir").write_text(_MODULE)
    return "in.mlir"


def _shell(module: str, *commands: str) -> list[str]:
    words = [word for command in commands for word in ("-ex", command)]
    ended = command_line.run(
        "--batch", "--keep-going", *words, "mlir-opt", module, "--canonicalize"
    )
    assert "Traceback" not in ended.stderr
    return (ended.stdout + ended.stderr).splitlines()


def test_a_stop_shows_the_line_of_the_program(module: str) -> None:
    lines = _shell(module, "break pattern:AddIAddConstant and kernel.py:8", "run")
    head = next(at for at, line in enumerate(lines) if "AddIAddConstant) in @add_kernel" in line)
    assert lines[head].endswith("at kernel.py:4:12")
    assert lines[head + 1] == "  4: return x + y"


def test_a_breakpoint_at_a_line_stops_inside_calls_too(module: str) -> None:
    for spec in ("kernel.py:7", "kernel.py:4", "kernel.py", "kernel:add_kernel"):
        lines = _shell(module, f"break {spec} and op:arith.addi", "run")
        assert any(line.startswith("Breakpoint 1, stopped before") for line in lines), spec
    lines = _shell(module, "break kernel.py:6 and op:arith.addi", "run")
    assert not any("stopped before" in line for line in lines)


def test_a_name_inside_a_location(module: str) -> None:
    lines = _shell(module, "break loc:tot* and fold:arith.addi", "run", "continue")
    stops = [line for line in lines if line.startswith("Breakpoint 1, stopped before")]
    assert stops
    lines = _shell(module, "break loc:kernel.py", "run")
    assert not any("stopped before" in line for line in lines)


def test_names_inside_locations_of_a_recording(module: str, tmp_path: Path) -> None:
    recorded = tmp_path / "run.adbrec"
    record(["mlir-opt", module, "--canonicalize"], recorded, stdout=os.devnull)
    found = {
        spec: len(ObservedActions(recorded).find(f"{spec} and fold:arith.addi"))
        for spec in ("loc:total", "loc:t*", "loc:kernel.py", "loc:total and kernel.py:7")
    }
    assert found["loc:total"] == found["loc:t*"] == found["loc:total and kernel.py:7"] > 0
    assert found["loc:kernel.py"] == 0


def test_the_lines_around_a_stop(module: str) -> None:
    lines = _shell(module, "break op:arith.addi", "run", "source-lines 1")
    at = lines.index("kernel.py:")
    assert lines[at : at + 4] == [
        "kernel.py:",
        "    3  def add(x, y):",
        "--> 4      return x + y",
        "    5",
    ]


def test_a_program_that_is_elsewhere(module: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.py").unlink()
    lines = _shell(module, "break op:arith.addi", "run", "source-lines")
    assert any(
        "The source file 'kernel.py' cannot be read (No such file or directory): run the command "
        "where it is." in line
        for line in lines
    )
    (tmp_path / "kernel.py").write_text("\n")
    lines = _shell(module, "break op:arith.addi", "run", "source-lines")
    assert any("'kernel.py' has no line 4: it is another one now." in line for line in lines)


def test_source_lines_without_a_stop(module: str) -> None:
    lines = _shell(module, "source-lines")
    assert any("is not stopped at an action" in line for line in lines)
