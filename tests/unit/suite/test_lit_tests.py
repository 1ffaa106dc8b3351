"""The lit test of a process, and its RUN line."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from actiondbg.suite.lit_tests import LitTest, LitTests, run_lines
from actiondbg.suite.processes import SuiteProcess, SuiteProcesses

TEXT = """\
// RUN: mlir-opt %s -split-input-file --canonicalize="top-down=false" | FileCheck %s
// RUN: not mlir-opt %s --verify-diagnostics \\
// RUN:   --cse 2>&1 | FileCheck %s --check-prefix=CSE
# RUN: env X=1 mlir-opt %s --cse --inline && mlir-translate %s --mlir-to-llvmir
// RUN: (mlir-opt %s --pass-pipeline="builtin.module(a | b, c)" ; mlir-opt -o '%t' --sccp)
// RUN: mlir-opt %s --lower='target="cpu",  \\
// RUN:     size=2'
// RUN: bash -c 'for i in 1 2; do mlir-opt "%s" --lower --fast; done'
"""


def process(
    number: int, *argv: str, parent: int = 1, cwd: str = "/", stdin: str = "/dev/null"
) -> SuiteProcess:
    """A process that began at its number."""
    return SuiteProcess(f"{number}-{number}", parent, argv[0], cwd, stdin, "", argv, 1)


def find(*processes: SuiteProcess, outputs: dict[str, str] | None = None) -> LitTest | None:
    """The test of the last process."""
    return LitTests(SuiteProcesses(list(processes), outputs=outputs or {})).find(processes[-1])


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
        (5, "--sccp)"),
        (6, "size=2'"),
        (8, "done'"),
    ]
    assert run_lines(lit_file)[1].text.startswith("not mlir-opt %s --verify-diagnostics --cse")
    assert run_lines("/no/such/file") == ()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("mlir-opt {} -split-input-file --canonicalize=top-down=false", 1),
        ("mlir-opt {} -split-input-file --canonicalize", None),
        ("/tools/mlir-opt {} --verify-diagnostics --cse", 2),
        ("mlir-opt {} --cse --inline", 4),
        ("mlir-translate {} --mlir-to-llvmir", 4),
        ("mlir-opt {} '--pass-pipeline=builtin.module(a | b, c)'", 5),
        ("mlir-opt {} -o x --sccp", 5),
        ("mlir-opt {} '--lower=target=\"cpu\",      size=2'", 6),
        ("mlir-opt {} --lower", None),
        ("mlir-opt {} --lower --fast", 8),
        ("fir-opt {} --cse --inline", None),
    ],
)
def test_the_run_line_with_the_command(lit_file: str, words: str, line: int | None) -> None:
    found = find(process(2, *shlex.split(words.format(lit_file))))
    assert found is not None and found.name == lit_file
    assert (found.run and found.run.line) == line


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("mlir-opt {} --cse", 1),
        ("mlir-opt {} --sccp", 2),
        ("mlir-opt {} --inline", 3),
        ("mlir-opt {} --sroa", 4),
        ("mlir-opt --mem2reg", 5),
        ("mlir-opt {} --lift", 6),
        ("mlir-opt {} --loop", 7),
        ("mlir-opt {} --strip", 8),
    ],
)
def test_redirections_and_commands_in_the_background(tmp_path: Path, words: str, line: int) -> None:
    test = tmp_path / "in.mlir"
    test.write_text("""\
RUN: cat %s > /dev/null && mlir-opt %s --cse > /dev/null
RUN: mlir-opt %s 2>&1 --sccp 2> log.txt | FileCheck %s
RUN: mlir-opt %s --inline &> log.txt; cat log.txt
RUN: sh -c 'mlir-opt %s --sroa & wait'
RUN: mlir-opt --mem2reg < %s
RUN: mlir-opt --lift %s < /dev/null
RUN: mlir-opt %s --loop >> "a file"
RUN: mlir-opt %s --strip |& FileCheck %s
""")
    stdin = "/dev/null" if "{}" in words else str(test)
    found = find(process(2, *shlex.split(words.format(test)), stdin=stdin))
    assert found is not None and found.run is not None
    assert (found.name, found.run.line) == (str(test), line)


def test_a_test_by_its_script_or_temporary_file() -> None:
    script = process(2, "bash", "/build/test/Dialect/Output/fold.mlir.script")
    tool = process(4, "mlir-opt", "-", parent=3, cwd="/build/test/Dialect")
    found = find(script, process(3, "cat", parent=2), tool)
    assert found is not None and (found.name, found.run) == ("/build/test/Dialect/fold.mlir", None)
    found = find(process(2, "mlir-opt", "Output/part.mlir.tmp/first.mlir", cwd="/build/test"))
    assert found is not None and found.name == "/build/test/part.mlir"
    assert find(process(2, "sh", "build.sh"), process(3, "mlir-opt", "Output/x.txt")) is None


def test_the_run_line_of_a_temporary_file(lit_file: str, tmp_path: Path) -> None:
    output = str(tmp_path / "Output" / "in.mlir.tmp")
    found = find(process(2, "mlir-opt", output, "--cse", "--inline"))
    assert found is not None and (found.name, found.run and found.run.line) == (lit_file, 4)


def test_the_run_line_of_a_temporary_file_with_the_words_of_another(tmp_path: Path) -> None:
    test = tmp_path / "in.mlir"
    test.write_text("RUN: mlir-opt %s --cse\nRUN: mlir-opt %s -o %t && mlir-opt %t --cse\n")
    for file, line in ((test, 1), (tmp_path / "Output" / "in.mlir.tmp", 2)):
        found = find(process(2, "mlir-opt", str(file), "--cse"))
        assert found is not None and found.run is not None
        assert (found.name, found.run.line) == (str(test), line)


def test_a_temporary_file_of_a_test_that_runs_in_another_folder(tmp_path: Path) -> None:
    folder, build = tmp_path / "Dialect", "/build/test/Dialect"
    folder.mkdir()
    for name in ("in.mlir", "other.mlir"):
        (folder / name).write_text("RUN: mlir-opt %s -o %t\nRUN: mlir-opt %t --cse\n")
    reader = process(2, "mlir-opt", str(folder / "other.mlir"), cwd=build)
    found = find(reader, process(3, "mlir-opt", f"{build}/Output/in.mlir.tmp", "--cse", cwd=build))
    assert found is not None and found.run is not None
    assert (found.name, found.run.line) == (str(folder / "in.mlir"), 2)


def test_a_test_by_a_pipeline(lit_file: str, tmp_path: Path) -> None:
    writer = process(2, "cat", lit_file)
    tool = process(3, "mlir-opt", "-", "--cse", "--inline", stdin="pipe:[7]")
    found = find(writer, tool, outputs={writer.key: "pipe:[7]"})
    assert found is not None and (found.name, found.run and found.run.line) == (lit_file, 4)
    check = process(5, "FileCheck", lit_file, stdin="pipe:[9]")
    middle = process(4, "mlir-opt", stdin="pipe:[8]")
    found = find(check, middle, tool, outputs={tool.key: "pipe:[8]", middle.key: "pipe:[9]"})
    assert found is not None and found.name == lit_file
    assert find(writer, tool, outputs={writer.key: "pipe:[6]"}) is None
    # A log that processes of several tests share.
    other = tmp_path / "other.mlir"
    other.write_text(TEXT)
    second, log = process(8, "cat", str(other)), process(9, "tee", "log", stdin="pipe:[5]")
    tool = process(10, "mlir-opt", "--cse")
    outputs = dict.fromkeys([writer.key, second.key, tool.key], "pipe:[5]")
    assert find(writer, second, log, tool, outputs=outputs) is None


def test_a_test_by_a_script_that_it_is(lit_file: str, tmp_path: Path) -> None:
    tool = process(4, "mlir-opt", "-", parent=3)
    found = find(process(2, "lit", lit_file), process(3, "python", lit_file, parent=2), tool)
    assert found is not None and found.name == lit_file
    # What lit was told to run, or a list of tests, is no input of one.
    assert find(process(3, "python3", "/usr/bin/lit", lit_file), tool) is None
    other = tmp_path / "other.mlir"
    other.write_text(TEXT)
    assert find(process(3, "sh", "run", lit_file, str(other)), tool) is None
