"""The operations and configurations that the options of a command name."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from actiondbg.commands.cli.kernels.options import OperationOptions, ProblemOptions
from actiondbg.commands.interpreter.options import changed_fields
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import UsageError
from actiondbg.kernels.model import Configuration, Operation
from actiondbg.kernels.operations.registry import SPLIT_K_ALIASES, find_kind, kind_names
from actiondbg.kernels.problems.problem import (
    SPLIT_K_SLICES,
    load_set,
    parameters_name,
    parse_range,
    problem_operations,
    read_configurations,
    read_problems,
)

ALL = "all"
_SMALL = "small"


def requested_kinds(text: str) -> list[str]:
    """Return the kinds of ``--operation-kind``."""
    if text == ALL:
        return kind_names()
    return [find_kind(each.strip()).kind for each in text.split(",")]


def requested_operations(
    options: OperationOptions, kinds: Sequence[str], default_set: str = _SMALL
) -> list[Operation]:
    """Return the operations that options name, each once; those of a set if they name none."""
    operations: list[Operation] = []
    given = _given_fields(options)
    if options.types and not given:
        raise UsageError(
            "--types needs the fields of a problem, such as --problem-m: the problems of sets, "
            "files and programs have types of their own."
        )
    if given:
        operations += _of_fields(given, options.types, kinds)
    for name in options.problem_set:
        operations += [each for each in load_set(name) if each.kind in kinds]
    if options.problems is not None:
        operations += read_problems(options.problems)
    if options.model is not None:
        operations += _of_program(options.model)
    if not (given or options.problem_set or options.problems or options.model):
        operations = [each for each in load_set(default_set) if each.kind in kinds]
    return list(dict.fromkeys(operations))


def names_problems(options: ProblemOptions) -> bool:
    """Whether options name operations or configurations to be generated."""
    return bool(changed_fields(options, ProblemOptions))


def _of_program(path: Path) -> list[Operation]:
    """Return the operations of a program; print what is left out."""
    from actiondbg.kernels.problems.program_file import cut_program  # imports MLIR's bindings

    cut = cut_program(path)
    for reason, count in Counter(cut.left_out).items():
        times = f" ({count} times)" if count > 1 else ""
        print_notice(f"left out of {path.name}: {reason}{times}")
    return list(cut.operations)


def requested_slices(options: ProblemOptions, kinds: str) -> Sequence[int]:
    """Return the slices of sums; those of the dispatch profiler for its kind splitk_matmul."""
    if options.split_k_slices:
        return parse_range(options.split_k_slices)
    return SPLIT_K_SLICES if _has_split_k(kinds) else ()


def default_set(kinds: str) -> str:
    """Return the problem set of kinds for which no operation is named."""
    return "splitk_matmul" if _has_split_k(kinds) else _SMALL


def _has_split_k(kinds: str) -> bool:
    return any(each.strip() in SPLIT_K_ALIASES for each in kinds.split(","))


def _given_fields(options: OperationOptions) -> dict[str, str]:
    """Return the fields of a kind that options give, as text."""
    given = {"m": options.problem_m, "n": options.problem_n, "k": options.problem_k}
    fields = {name: text for name, text in given.items() if text}
    for word in options.problem:
        name, equals, text = word.partition("=")
        if not equals:
            raise UsageError(f"--problem: '{word}' has no value: write FIELD=VALUE.")
        fields[name] = text
    return fields


def _of_fields(given: dict[str, str], types: str, kinds: Sequence[str]) -> list[Operation]:
    """Return the operations of the kinds that have the fields."""
    classes = [find_kind(name) for name in kinds]
    if list(kinds) == kind_names():  # those that have all of them, and need no others
        fields = {each: dataclasses.fields(each) for each in classes}
        classes = [
            kind
            for kind, its in fields.items()
            if {each.name for each in its if each.default is dataclasses.MISSING} <= given.keys()
            and given.keys() <= {each.name for each in its}
        ]
    if not classes:
        raise UsageError(
            f"No kind of operation has just the fields {', '.join(given)}: name one with "
            "--operation-kind, and its fields with --problem FIELD=VALUE."
        )
    operations: list[Operation] = []
    for each in classes:
        entry: dict[str, object] = {"kind": each.kind, **_typed(each, given)}
        operations += problem_operations(entry | ({"types": types} if types else {}))
    return operations


def _typed(kind: type[Operation], given: dict[str, str]) -> dict[str, object]:
    """Return fields with the values of tuples parsed: ``128x256``, or words with commas."""
    kinds = {each.name: each.type for each in dataclasses.fields(kind)}
    typed: dict[str, object] = {}
    for name, text in given.items():
        if kinds.get(name) == "tuple[int, ...]":
            typed[name] = [_size(name, each) for each in text.split("x")]
        elif kinds.get(name) == "tuple[str, ...]":
            typed[name] = text.split(",")
        else:
            typed[name] = text
    return typed


def _size(name: str, text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"--problem: {name} must be sizes such as 128x256, got '{text}'.")
    return int(text)


def requested_configurations(options: ProblemOptions) -> list[Configuration]:
    """Return the user's own configurations; none for the predefined ones."""
    chosen = [{"pipeline": each} for each in options.pipeline]
    configurations = [
        Configuration("mlir", f"mlir_{parameters_name(each)}", each) for each in chosen
    ]
    if options.configurations is not None:
        configurations += read_configurations(options.configurations)
    return configurations
