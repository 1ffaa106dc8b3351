"""The examples in the help of the commands on kernels are command lines that work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import cast

import pytest

from actiondbg.cli import load_subcommand, main
from actiondbg.commands import SUBCOMMANDS
from actiondbg.commands.cli.line_parser import LineParser
from actiondbg.commands.interpreter.options import Options
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.operations.registry import find_kind
from actiondbg.kernels.problems.problem import load_set
from actiondbg.kernels.sweep.generation import DispatchFilter

_COMMANDS = [
    name for name in SUBCOMMANDS if name.startswith("kernels ") and name != "kernels count"
]


def _examples(command: str) -> list[list[str]]:
    """Return the words behind the command's name in each example of its help."""
    text = load_subcommand(SUBCOMMANDS[command]).build_parser().format_help()
    block = text.partition("examples:\n")[2].partition("\n\n")[0].replace("\\\n", " ")
    lines = [shlex.split(line) for line in block.splitlines()]
    start = ["actiondbg", *command.split()]
    return [words[len(start) :] for words in lines if words[: len(start)] == start]


@pytest.mark.parametrize("command", _COMMANDS)
def test_examples_are_accepted(command: str) -> None:
    examples = _examples(command)
    assert examples
    parser = cast("LineParser[Options]", load_subcommand(SUBCOMMANDS[command]).build_parser())
    for words in examples:
        options = parser.read_intermixed(words)
        operations = [
            each for name in getattr(options, "problem_set", ()) for each in load_set(name)
        ]
        kinds = re.findall(r"\w+", getattr(options, "operation_kind", "all"))
        if kinds != ["all"]:
            assert [find_kind(each).kind for each in kinds] == kinds
        if operations:
            chosen = DispatchFilter(names=getattr(options, "dispatches", ""))
            dispatches = [
                Dispatch(each, Configuration("mlir", "mlir_default")) for each in operations
            ]
            assert chosen.select(dispatches)


def test_a_list_that_is_given_twice_is_one_list() -> None:
    parser = cast("LineParser[Options]", load_subcommand(SUBCOMMANDS["kernels run"]).build_parser())
    words = shlex.split("--op-kind matmul --operation-kind pooling --problem-m 8 --problem-m 9,10")
    options = parser.read_intermixed(words)
    assert getattr(options, "operation_kind", "") == "matmul,pooling"
    assert getattr(options, "problem_m", "") == "8,9,10"
    assert getattr(options, "dispatches", None) == ""
    assert getattr(parser.read_intermixed([]), "operation_kind", "") == "all"


def test_each_of_several_dispatches_counts(tmp_path: Path) -> None:
    line = f"kernels generate --generated-dir {tmp_path} --operation-kind matmul --problem-m 5,6,7"
    line += " --problem-n 4 --problem-k 4 --default-config --dispatches *5x4* --dispatches *7x4*"
    assert main(line.split()) == 0
    folder = tmp_path / "generated/linalg/matmul"
    sizes = {each.name.split("_")[1] for each in folder.iterdir()}
    assert sizes == {"5x4x4", "7x4x4"}
