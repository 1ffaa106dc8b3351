"""The operations and configurations that the options of a command name."""

from __future__ import annotations

from collections.abc import Sequence


from actiondbg.commands.cli.kernels.options import OperationOptions, ProblemOptions
from actiondbg.errors import UsageError
from actiondbg.kernels.model.configuration import Configuration
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.operations.registry import find_kind, kind_names
from actiondbg.kernels.problems.configuration_file import parameters_name, read_configurations
from actiondbg.kernels.problems.expansion import expand, parse_types, size_fields
from actiondbg.kernels.problems.ranges import parse_range

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


def requested_operations(options: OperationOptions, kinds: Sequence[str]) -> list[Operation]:
    """Return the operations that options name, each once; those of a small set if they name none.

    Raises:
        ActiondbgError: a value is wrong, or a file cannot be read.
    """
    from actiondbg.kernels.problems.file import read_problems
    from actiondbg.kernels.problems.model import operations_of
    from actiondbg.kernels.problems.sets import load_set
    operations: list[Operation] = []
    sizes = _sizes(options)
    if sizes:
        operations += _of_sizes(sizes, options.types, kinds)
    for name in options.problem_set:
        operations += [each for each in load_set(name) if each.kind in kinds]
    if options.problems is not None:
        operations += read_problems(options.problems)
    if options.model is not None:
        operations += operations_of(options.model)
    if not (sizes or options.problem_set or options.problems or options.model):
        operations = [each for each in load_set(_DEFAULT_SET) if each.kind in kinds]
    return list(dict.fromkeys(operations))


def _sizes(options: OperationOptions) -> dict[str, list[int]]:
    """Return the sizes that options give."""
    given = {"m": options.problem_m, "n": options.problem_n, "k": options.problem_k}
    texts = {name: text for name, text in given.items() if text}
    for word in options.problem:
        name, equals, text = word.partition("=")
        if not equals:
            raise UsageError(f"--problem: '{word}' has no value: write FIELD=SIZES.")
        texts[name] = text
    return {name: parse_range(text) for name, text in texts.items()}


def _of_sizes(sizes: dict[str, list[int]], types: str, kinds: Sequence[str]) -> list[Operation]:
    """Return the operations of the kinds that have the sizes.

    Raises:
        UsageError: no kind has them.
    """
    pairs = parse_types(types) if types else []
    classes = [find_kind(name) for name in kinds]
    if len(classes) > 1:  # those that have all of them, and need no others
        classes = [each for each in classes if _takes(size_fields(each), sizes)]
    if not classes:
        raise UsageError(
            f"No kind of operation has just the sizes {', '.join(sizes)}: name one with "
            "--operation-kind, and its sizes with --problem FIELD=SIZES."
        )
    return [each for kind in classes for each in expand(kind, sizes, pairs)]


def _takes(fields: dict[str, bool], sizes: dict[str, list[int]]) -> bool:
    required = {name for name, needed in fields.items() if needed}
    return required <= sizes.keys() <= fields.keys()


def requested_configurations(options: ProblemOptions) -> list[Configuration]:
    """Return the user's own configurations; none for the predefined ones.

    Raises:
        ActiondbgError: the file cannot be read.
    """
    configurations = [_of_pipeline(each) for each in options.pipeline]
    if options.configurations is not None:
        configurations += read_configurations(options.configurations)
    return configurations


def _of_pipeline(pipeline: str) -> Configuration:
    """Return the configuration of a pipeline of the provider mlir."""
    parameters = {"pipeline": pipeline}
    return Configuration("mlir", f"mlir_{parameters_name(parameters)}", parameters)
