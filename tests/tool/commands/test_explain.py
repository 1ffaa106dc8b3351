"""``actiondbg explain`` over a tool and over a recording."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.fakes import stock_tool as stock
from tests.paths import COMMAND
from tests.tool.session.test_explain import LEFT, NO_REASON_IN_TOOL, REASON

TOSA = "--pass-pipeline=builtin.module(func.func(tosa-to-linalg-named))"


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def explain(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, "explain", *words], capture_output=True, text=True)


def test_a_failure(mlir_opt: str) -> None:
    stock.write("a.mlir", NO_REASON_IN_TOOL)
    done = explain("--html", "why.html", "--", mlir_opt, "a.mlir", "--convert-arith-to-spirv")
    assert done.returncode == 0
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("@2 arith.muli at a.mlir:4:10 was not legalized: pattern ")
    assert first.endswith(
        " needs type vector<5xi32>, which mlir::SPIRVTypeConverter does not convert."
    )
    assert second == "in the partial conversion #2 of convert-arith-to-spirv"
    own = stock.run([mlir_opt, "a.mlir", "--convert-arith-to-spirv"])
    assert own.stderr in done.stderr
    page = Path("why.html").read_text()
    assert "<title>@2 arith.muli at a.mlir:4:10 was not legalized" in page
    assert "mlir::SPIRVTypeConverter does not convert vector&lt;5xi32&gt;" in page


def test_operations_that_were_left(mlir_opt: str) -> None:
    stock.write("a.mlir", LEFT)
    argv = ["--", mlir_opt, "a.mlir", "--finalize-memref-to-llvm"]
    done = explain("--left", "op:memref.*", "--html", "why.html", *argv)
    assert done.returncode == 0
    assert done.stdout.startswith("2 x memref.load, first @2 at a.mlir:2:8: left by the partial ")
    assert "2 x memref.load" in Path("why.html").read_text()
    done = explain("--left", "op:gpu.*", *argv)
    assert done.returncode == 1
    assert done.stdout == "No dialect conversion up to now had op:gpu.* to legalize.\n"
    done = explain(*argv)
    assert (done.returncode, done.stdout) == (1, "No dialect conversion failed up to now.\n")


def test_a_recording_tells_patterns_and_reasons(mlir_opt: str) -> None:
    stock.write("a.mlir", REASON)
    subprocess.run([COMMAND, "record", "-q", "-o", "a.adbrec", "--", mlir_opt, "a.mlir", TOSA])
    live = explain("--", mlir_opt, "a.mlir", TOSA).stdout.splitlines()
    recorded = explain("a.adbrec").stdout.splitlines()
    assert recorded[0] == live[0]
    assert recorded[0].endswith("input zero point cannot be statically determined.")
    assert any("explain a run" in line for line in recorded)
    tree = json.loads(explain("--json", "a.adbrec").stdout)["conversions"][0]["legalizations"]
    (tried,) = tree[-1]["tried"]
    assert (tried["name"], tried["result"]) == ("DepthwiseConvConverter", "failed")

    stock.write("b.mlir", LEFT)
    argv = [mlir_opt, "b.mlir", "--finalize-memref-to-llvm", "-o", "b.out"]
    subprocess.run([COMMAND, "record", "-q", "-o", "b.adbrec", "--", *argv])
    done = explain("--left", "op:memref.*", "b.adbrec")
    assert done.stdout.startswith("@2 memref.load at b.mlir:2:8: left by the conversion #2")


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ([], 2, "the tool or recording is missing"),
        (["--left", "nothing", "--", "mlir-opt"], 2, "'nothing' is not an operation"),
        (["--left", "op:", "--", "mlir-opt"], 2, "'op:' lacks a name"),
        (["--left", "%3", "--", "mlir-opt"], 2, "give an id such as @12, or op:GLOB"),
        (["--html", "no/such/why.html", "--", "mlir-opt"], 2, "its directory does not exist"),
        (["--", "/no/such/tool"], 3, "/no/such/tool"),
    ],
)
def test_bad_usage(words: list[str], status: int, text: str) -> None:
    done = explain(*words)
    assert done.returncode == status
    assert text in done.stderr and "Traceback" not in done.stderr
