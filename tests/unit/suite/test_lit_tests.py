"""The lit test of a process, and its RUN line."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.suite.lit_tests import find_test, run_lines

TEXT = """\
// RUN: mlir-opt %s -split-input-file --canonicalize="top-down=false" | FileCheck %s
// RUN: not mlir-opt %s --verify-diagnostics \\
// RUN:   --cse 2>&1 | FileCheck %s --check-prefix=CSE
# RUN: env X=1 mlir-opt %s --cse --inline && mlir-translate %s --mlir-to-llvmir
"""


@pytest.fixture
def lit_file(tmp_path: Path) -> str:
    file = tmp_path / "in.mlir"
    file.write_text(TEXT)
    return str(file)


def test_run_lines_with_continuations(lit_file: str) -> None:
    assert [(one.line, one.text.split()[-1]) for one in run_lines(lit_file)] == [
        (1, "%s"),
        (2, "--check-prefix=CSE"),
        (4, "--mlir-to-llvmir"),
    ]
    assert run_lines(lit_file)[1].text.startswith("not mlir-opt %s --verify-diagnostics --cse")
    assert run_lines("/no/such/file") == ()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("mlir-opt {} -split-input-file --canonicalize=top-down=false", 1),
        ("/tools/mlir-opt {} --verify-diagnostics --cse", 2),
        ("mlir-opt {} --cse --inline", 4),
        ("mlir-translate {} --mlir-to-llvmir", 4),
        ("mlir-opt {} --sccp", None),
        ("fir-opt {} --cse --inline", None),
    ],
)
def test_the_run_line_with_the_command(lit_file: str, words: str, line: int | None) -> None:
    found = find_test(words.format(lit_file).split(), "/", [lit_file], [])
    assert found is not None and found.name == lit_file
    assert (found.run and found.run.line) == line


def test_a_test_by_its_script_or_temporary_file() -> None:
    argv = ["mlir-opt", "-"]
    script = ["bash", "/build/test/Dialect/Output/fold.mlir.script"]
    found = find_test(argv, "/build/test/Dialect", [], [["cat"], script])
    assert found is not None and (found.name, found.run) == ("/build/test/Dialect/fold.mlir", None)
    argv = ["mlir-opt", "Output/part.mlir.tmp/first.mlir"]
    found = find_test(argv, "/build/test", [], [])
    assert found is not None and found.name == "/build/test/part.mlir"
    assert find_test(["mlir-opt", "Output/other.txt"], "/", [], [["sh", "build.sh"]]) is None
