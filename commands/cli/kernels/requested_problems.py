"""The operations and configurations that the options of a command name."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import product

from actiondbg.commands.cli.kernels.options import ProblemOptions
from actiondbg.errors import UsageError
from actiondbg.kernels.model.configuration import Configuration
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.operations.registry import find_kind, kind_names
from actiondbg.kernels.problems.expansion import expand, fields_of_kind
from actiondbg.kernels.problems.file import read_configurations, read_problems
from actiondbg.kernels.problems.model import operations_of
from actiondbg.kernels.problems.ranges import parse_range
from actiondbg.kernels.problems.sets import load_set

ALL = "all"
_DEFAULT_SET = "small"


def requested_kinds(text: str) -> list[str]:
    """Return the kinds of ``--operation-kind``.

    Raises:
        UsageError: there is no such kind.
    """
    if text == ALL:
        return kind_names()
    return [find_kind(each.strip()).kind for each in text.split(",")]


def requested_operations(options: ProblemOptions, kinds: Sequence[str]) -> list[Operation]:
    """Return the operations that options name, each once; those of a small set if they name none.

    Raises:
        ActiondbgError: a value is wrong, or a file cannot be read.
    """
    operations: list[Operation] = []
    fields = _fields(options)
    if fields:
        operations += _of_fields(fields, kinds)
    for name in options.problem_set:
        operations += [each for each in load_set(name) if each.kind in kinds]
    if options.problems is not None:
        operations += read_problems(options.problems)
    if options.model is not None:
        operations += operations_of(options.model)
    if not (fields or options.problem_set or options.problems or options.model):
        operations = [each for each in load_set(_DEFAULT_SET) if each.kind in kinds]
    return list(dict.fromkeys(operations))


def _fields(options: ProblemOptions) -> dict[str, list[int]]:
    """Return the sizes of fields that are given."""
    given = {"m": options.problem_m, "n": options.problem_n, "k": options.problem_k}
    texts = {name: text for name, text in given.items() if text}
    for word in options.problem:
        name, equals, text = word.partition("=")
        if not equals:
            raise UsageError(f"--problem: {word!r} has no value: write FIELD=SIZES.")
        texts[name] = text
    return {name: parse_range(text) for name, text in texts.items()}
