"""The options that a tool's --help lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.tool import Tool
from actiondbg.tool.known_names import option_names

HELP = """\
OVERVIEW: optimizer

Color Options:

  --color                                  - Use colors in output

General options:

  -o=<filename>                            - Output filename
  Compiler passes to run
    Passes:
      --cse                                -   Eliminate common sub-expressions
      --canonicalize                       -   Canonicalize operations
        --max-iterations=<long>            - Max. iterations, in braces behind the pass
  --mlir-print-ir-after=<pass-arg>         - Print IR after specified passes
    =cse                                   -   a value
"""


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """A tool that prints help, and writes a line for each run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = tmp_path / "an-opt"
    (tmp_path / "help").write_text(HELP)
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/runs\n[ "$1" = --help ] && cat {tmp_path}/help\n'
    )
    program.chmod(0o755)
    return Tool(program, None, "build")


def test_options_of_the_tool_and_its_passes(tool: Tool) -> None:
    assert option_names(tool, None, None) == [
        "--canonicalize",
        "--color",
        "--cse",
        "--mlir-print-ir-after=",
        "-o=",
    ]


def test_the_tool_is_run_once_for_each_build(tool: Tool, tmp_path: Path) -> None:
    assert option_names(tool, None, None) == option_names(tool, None, None)
    assert (tmp_path / "runs").read_text() == "--help\n"
    (tmp_path / "help").write_text("  --licm  - Loop invariant code motion\n")
    tool.path.write_text(tool.path.read_text() + "# built again\n")
    assert option_names(tool, None, None) == ["--licm"]


def test_a_tool_without_such_help_has_none(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "help").write_text("no options\n")
    assert option_names(tool, None, None) == []
    assert option_names(tool._replace(path=tmp_path / "missing"), None, None) == []
