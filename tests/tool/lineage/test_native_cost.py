"""The examples of docs/lineage-cost.md: a program compiled, run and sampled, and what it costs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import LIBRARY
from tests.paths import ROOT

BUILDS = LIBRARY

PAGE = (ROOT / "docs/lineage-cost.md").read_text()
PERF, TIMER = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
HOTTEST = re.compile(
    r"^ *\S+ \S+ +(\S+) %  (linalg\.\w+) examples/cost/layers\.mlir:(\d+):3$", re.M
)


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mlir_opt: str) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    packages = Path(sysconfig.get_paths()["platlib"])
    ours = [Path(mlir_opt).parent, packages / "mlir/bin", packages / "llvm/bin"]
    path = [*map(str, ours), str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(path))
    for tool in ("mlir-translate", "opt", "llc", "cc", "addr2line"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def _run(commands: str) -> str:
    done = subprocess.run(["bash", "-ec", commands], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _check(listing: str) -> None:
    """The large product, on line 8, takes most of the time; the listing is that of the file."""
    found = HOTTEST.findall(listing)
    part, name, line = found[0]
    assert (name, line) == ("linalg.matmul", "8"), listing
    assert float(part) > 50, listing
    assert re.search(r"^ *\S+ % +\S+ % +8    linalg\.matmul ins\(%x, %a :", listing, re.M), listing


def test_samples_of_perf_show_which_operation_takes_the_time() -> None:
    allowed = subprocess.run(
        "perf record -q -e cpu-clock -o /dev/null true",
        shell=True,
        capture_output=True,
        text=True,
    )
    if allowed.returncode:
        pytest.skip(f"perf cannot sample here: {allowed.stderr.strip()}")
    _check(_run(PERF))


def test_a_timer_in_the_program_shows_it_too() -> None:
    build, _, _ = PERF.partition("\nperf record")
    _check(_run(build + "\n" + TIMER))


def test_the_annotated_module_is_that_of_the_tool_but_for_locations() -> None:
    record, _, _ = PERF.partition("\nactiondbg annotate")
    _run(record.replace("-o /dev/null", "-o final.mlir"))
    for options in ("", "--loc-only", "--origin output"):
        _run(f"actiondbg annotate layers.adbrec {options} -o annotated.mlir")
        _run("mlir-opt annotated.mlir -o printed.mlir; mlir-opt final.mlir -o expected.mlir")
        assert Path("printed.mlir").read_text() == Path("expected.mlir").read_text()
    text = _run("actiondbg annotate layers.adbrec")
    fmul = 'llvm.fmul %93, %99 : f32 loc("examples/cost/layers.mlir":8:3)'
    assert fmul in text
    assert "// from linalg.matmul examples/cost/layers.mlir:8:3\n" in text


def test_a_module_that_was_annotated_for_another_run_is_refused() -> None:
    record, _, rest = PERF.partition("\nactiondbg annotate")
    _run(f"{record}\nactiondbg annotate{rest.partition('mlir-opt')[0]}")
    text = Path("snapshot.mlir").read_text()
    Path("snapshot.mlir").write_text(text.replace("llvm.fmul", "llvm.fadd"))
    Path("times.json").write_text('{"snapshot.mlir:100": 1}')
    done = subprocess.run(
        ["actiondbg", "cost", "times.json", "layers.adbrec", "--module", "snapshot.mlir"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "'snapshot.mlir' is not the module 'output' of this lineage" in done.stderr


def test_the_module_after_a_pass_can_be_annotated_and_pointed_to() -> None:
    tool = "-- mlir-opt examples/fold.mlir --canonicalize --convert-to-llvm"
    text = _run(f"actiondbg annotate --at canonicalize {tool}")
    assert "%0 = arith.addi %arg0, %c5_i32 : i32 loc(" in text
    assert "// from func.return examples/fold.mlir:9:3\n" in text
    ordinal = _run("actiondbg annotate --at '#1' --comments-only --level function " + tool)
    assert "return %0 : i32  // from func.func @shift examples/fold.mlir:4:1\n" in ordinal
    words = "--origin canonicalize --snapshot middle.mlir --loc-only"
    text = _run(f"actiondbg annotate {words} {tool}")
    assert 'llvm.add %arg0, %0 : i32 loc("middle.mlir":4:10)\n' in text
    assert Path("middle.mlir").read_text().splitlines()[3].startswith("    %0 = arith.addi")
    own = f"actiondbg annotate --at '#1' --origin '#1' -o own.mlir {tool}; mlir-opt own.mlir"
    assert "arith.addi %arg0, %c5_i32" in _run(own)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--at nonsense", "No pass 'nonsense' runs: the passes of this run are canonicalize."),
        ("--at '#999999'", "No action of this run is '#999999': name a pass or #N."),
        ("--at '#1' --origin '#2'", "One of --at and --origin can be an action of a tool"),
    ],
)
def test_a_pass_that_is_not_there_is_refused(options: str, message: str) -> None:
    tool = "mlir-opt examples/fold.mlir --canonicalize"
    done = subprocess.run(
        f"actiondbg annotate {options} -- {tool}", shell=True, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert message in done.stderr


def test_a_profile_can_be_joined_with_a_run_of_the_tool() -> None:
    Path("times.json").write_text('{"fold.mlir:8": 2}')
    tool = "mlir-opt examples/fold.mlir --canonicalize"
    listing = _run(f"actiondbg cost times.json -- {tool}")
    assert "100.0 %  100.0 %       8    %twice = arith.addi %once, %three : i32\n" in listing


def test_a_report_shows_the_cost_of_operations() -> None:
    Path("times.json").write_text('{"fold.mlir:8": 2}')
    tool = "mlir-opt examples/fold.mlir --canonicalize"
    _run(f"actiondbg record -q --lineage -o run.adbrec -- {tool}")
    _run("actiondbg report run.adbrec --cost times.json -o report.html")
    page = Path("report.html").read_text()
    assert "<h2>Cost of operations</h2>" in page
    assert "JSON: 2.00 s, of which 100.0 % belong to 1 operation of examples/fold.mlir." in page
    _run(f"actiondbg record -q -o run.adbrec -- {tool}")
    done = subprocess.run(
        ["actiondbg", "report", "run.adbrec", "--cost", "times.json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "record --lineage" in done.stderr
