"""Text on narrow terminals: tables, the stack, help and messages break at words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock
from tests.terminal.terminal import ESCAPE, Terminal, environment_in

BUILDS = LIBRARY

COLUMNS = 60
_OF_A_STOP = (
    "backtrace",
    "info actions",
    "info pipeline",
    "info changes",
    "info patterns",
    "info folds",
    "info program",
    "info processes",
    "info threads",
    "info contexts",
    "info breakpoints",
    "info timeline",
    "info checkpoints",
    "history",
    "info action",
    "context",
    "show",
    "frame 9",
    "info nonsense",
    "set context nonsense",
    "break pattern:AddISubConstantRHS if depth > 1 and name ~ 'AddI*' and op ~ 'arith.*'",
)
_OF_HELP = (
    "help",
    "help cursor",
    "help break",
    "help bisect",
    "help spec",
    "help expr",
    "help tasks",
)


@pytest.fixture
def narrow(terminal: Callable[..., Terminal]) -> Terminal:
    """A shell on a terminal of 60 columns, at the end of a pattern."""
    shell = terminal()
    shell.resize(40, COLUMNS)
    shell.ready()
    shell.do("break pattern:AddIAddConstant if line == 8")
    shell.do("run")
    shell.do("checkpoint")
    shell.do("step")
    return shell


def too_wide(text: str) -> list[str]:
    """Return the rows that the terminal breaks within a word, and not for the length of a word."""
    rows = text.strip("\n").split("\n")
    return [row for row in rows if len(row) > COLUMNS and max(map(len, row.split())) < COLUMNS // 2]


def test_tables_and_the_stack_break_at_words(narrow: Terminal) -> None:
    for command in _OF_A_STOP:
        assert too_wide(narrow.do(command)) == [], command


def test_help_breaks_at_words(narrow: Terminal) -> None:
    for command in _OF_HELP:
        shown = narrow.do(command)
        assert shown.strip() and too_wide(shown) == [], command


ALLOCATED = """\
func.func @f(%n: index, %m: index) -> memref<?x?xf32> {
  %a = memref.alloc(%n, %m) {alignment = 64 : i64} : memref<?x?xf32>
  return %a : memref<?x?xf32>
}
"""


def test_an_explanation_breaks_at_words_and_keeps_types(mlir_opt: str, tmp_path: Path) -> None:
    source = stock.write(str(tmp_path / "a.mlir"), ALLOCATED)
    words = ["-m", "actiondbg", "explain", "--", mlir_opt, source, "--convert-memref-to-emitc"]
    child: pexpect.spawn[str] = pexpect.spawn(
        sys.executable,
        words,
        env=environment_in(tmp_path),
        dimensions=(40, COLUMNS),
        encoding="utf-8",
        timeout=60,
    )
    child.expect(pexpect.EOF)
    shown = ESCAPE.sub("", child.before or "").replace("\r", "")
    explanation = shown[shown.index("@2 memref.alloc") :]
    assert too_wide(explanation) == []
    [operation] = [row for row in explanation.split("\n") if '"memref.alloc"' in row]
    assert operation.endswith("… : (index, index) -> memref<?x?xf32>")


def test_a_row_after_the_first_begins_below_its_column(narrow: Terminal) -> None:
    tool = narrow.do("info tool").replace("\r", "").split("\n")
    [first] = [at for at, row in enumerate(tool) if row.startswith("capabilities")]
    column = tool[first].index("interrupt")
    assert tool[first + 1][:column].isspace() and not tool[first + 1][column].isspace()
