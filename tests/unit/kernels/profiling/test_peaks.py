"""Which of the machine's peaks holds for an operation, and how they are measured and stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.kernels.errors import PeaksUnknown
from actiondbg.kernels.model import ElementType
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.profiling import peaks
from actiondbg.kernels.profiling.peaks import Level, MachinePeaks, machine_peaks, parse_peaks
from tests.fakes.functions import returning

_LEVELS = (Level("L1", 1000, 300e9), Level("L2", 100_000, 100e9), Level("memory", 10**6, 10e9))
_PEAKS = MachinePeaks(
    {"f64": 50.0, "f32": 100.0, "f16": 200.0, "bf16": 90.0, "i32": 40.0, "i8": 400.0}, _LEVELS
)


def _matmul(operands: str, result: str, size: int = 8) -> Matmul:
    given = ElementType(operands)
    return Matmul(size, size, size, given, given, ElementType(result))


@pytest.mark.parametrize(
    "operands, result, peak",
    [
        ("f32", "f32", 100.0),
        ("f64", "f64", 50.0),
        ("f16", "f16", 200.0),
        ("f16", "f32", 100.0),  # chains of f16 add up in f16
        ("bf16", "f32", 100.0),  # converting is faster than its own instruction here
        ("i8", "i32", 400.0),
        ("i32", "i32", 40.0),
    ],
)
def test_the_peak_is_that_of_the_types(operands: str, result: str, peak: float) -> None:
    assert _PEAKS.gflops_of(_matmul(operands, result)) == peak


def test_a_type_without_instructions_is_computed_in_another() -> None:
    peaks = MachinePeaks({"f32": 100.0, "i32": 40.0}, ())
    assert peaks.gflops_of(_matmul("f16", "f16")) == 100.0
    assert peaks.gflops_of(_matmul("i8", "i32")) == 40.0
    assert peaks.gflops_of(_matmul("f64", "f64")) is None
    assert peaks.bandwidth_of(_matmul("f64", "f64")) is None


@pytest.mark.parametrize("size, bandwidth", [(8, 300e9), (64, 100e9), (500, 10e9)])
def test_the_bandwidth_is_that_of_the_level_with_room(size: int, bandwidth: float) -> None:
    assert _PEAKS.bandwidth_of(_matmul("f32", "f32", size)) == bandwidth


def test_the_program_prints_lines() -> None:
    peaks = parse_peaks("flops f32 123.5\nbytes L1 24576 3.1e+11\n")
    assert peaks == MachinePeaks({"f32": 123.5}, (Level("L1", 24576, 3.1e11),))


def _ship(folder: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a shell script in the place of the program that is shipped."""
    script = folder / "peaks"
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o755)
    monkeypatch.setattr("actiondbg.tool.c_part.shipped", returning(script))


def test_peaks_are_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = f"echo >> {tmp_path}/runs; echo flops f32 7; echo bytes L1 8 9"
    _ship(tmp_path, program, monkeypatch)
    expected = MachinePeaks({"f32": 7.0}, (Level("L1", 8, 9.0),))
    assert machine_peaks() == expected
    assert machine_peaks() == expected
    assert (tmp_path / "runs").read_text() == "\n"
    assert machine_peaks(remeasure=True) == expected
    assert (tmp_path / "runs").read_text() == "\n\n"


def test_damaged_peaks_are_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    _ship(tmp_path, "echo flops f32 7", monkeypatch)
    machine_peaks()
    (stored,) = (tmp_path / "cache/actiondbg").glob("*.json")
    stored.write_text("{")
    assert machine_peaks().gflops == {"f32": 7.0}


@pytest.mark.parametrize(
    "program, message",
    [
        ("echo no memory >&2; exit 1", r"measuring it failed \(no memory\)"),
        ("exit 3", r"measuring it failed \(status 3\)"),
    ],
)
def test_a_failure_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, message: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _ship(tmp_path, program, monkeypatch)
    with pytest.raises(PeaksUnknown, match=message):
        machine_peaks()


def test_without_the_program_the_peak_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actiondbg.tool.shipped.SHIPPED", Path("/nowhere"))
    with pytest.raises(PeaksUnknown, match=r"peak is unknown: '/nowhere/.*' is missing: install"):
        machine_peaks()


def test_the_program_is_the_one_for_this_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each processor has the features of the program that runs on it, and no later one."""
    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(peaks, "_CPU_INFO", info)
    features = "sse2 avx avx2 fma avx_vnni avx512f avx512dq avx512bw avx512vl avx512_vnni"
    wanted = {
        "sse2": "sse2",
        "sse2 avx": "avx",
        "sse2 avx avx2": "avx",
        "sse2 avx avx2 fma": "avx2",
        "sse2 avx avx2 fma avx_vnni": "avxvnni",
        "sse2 avx avx2 fma avx512f avx512dq avx512bw avx512vl": "avx512",
        features: "avx512vnni",
        f"{features} avx512_fp16": "avx512vnni",
        f"{features} avx512_bf16 avx512_fp16": "avx512fp16",
    }
    for flags, name in wanted.items():
        info.write_text(f"processor : 0\nflags\t\t: {flags}\n\nprocessor : 1\n")
        assert peaks._fastest("x86_64").name == f"peaks-{name}"
