"""Problems, a kind with its fields, and configurations: from options, YAML or JSON.

Each combination of the sizes and types of a problem is an operation.

Problems are a list of operations, each by its kind and its fields::

- {kind: matmul, m: 128, n: "64:513:64", k: [128, 256], types: i8-i32}
- {kind: conv_2d, batch: 1, height: 58, width: 58, channels: 64, filters: 64,
   kernel_h: 3, kernel_w: 3, stride_h: 2, stride_w: 2, layout: nhwc_hwcf}
- {kind: reduction, shape: [128, 256], axes: [1], combiner: max}

A size may be a list or a range ``start:end:step``: that is an operation for each combination.
``types`` is as the option --types; the fields of single types, such as ``lhs_type``, work as well.

Configurations are a list, too::

- provider: mlir
  name: mlir_wide            # optional: made of the parameters
  parameters: {tile: [64, 64, 256], vector: [8, 32, 1]}
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import cast

import msgspec

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.model import Configuration, ElementType, Operation, Parameter
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import BatchMatmul, Matmul, MatmulSoftmax
from actiondbg.kernels.operations.registry import find_kind, kind_names
from actiondbg.kernels.operations.windowed import Conv2d, Pooling
from actiondbg.recording.errors import need_packages

_Types = tuple[ElementType, ElementType]  # of the operands, and of the result
_Fields = Mapping[str, object]
_SIZE = re.compile(r"[0-9]+\Z")
_F16, _F32 = ElementType.F16, ElementType.F32
# The slices that the dispatch profiler splits the sums of its set splitk_matmul into.
SPLIT_K_SLICES = (2, 4, 16, 18)


def problem_operations(entry: object) -> list[Operation]:
    """Return the operations of a problem, one for each combination of sizes and types.

    Args:
        entry: a mapping with the kind and its fields; with ``types`` as of --types, if any.

    Raises:
        UsageError: a field is unknown, missing or wrong.
    """
    if not isinstance(entry, Mapping) or "kind" not in entry:
        raise UsageError(f"It has no kind; there are {', '.join(kind_names())}.")
    given = dict(cast("_Fields", entry))
    kind = find_kind(str(given.pop("kind")))
    types = given.pop("types", None)
    _check_names(kind, given)
    fields = dataclasses.fields(kind)
    names = [each.name for each in fields if each.type in ("int", int) and each.name in given]
    sizes = {name: _sizes(name, given.pop(name)) for name in names}
    typed = [
        {
            each.name: result if each.name.startswith("result") else operand
            for each in fields
            if each.type in ("ElementType", ElementType)
        }
        for operand, result in ([] if types is None else _parse_types(str(types)))
    ] or [{}]
    operations: list[Operation] = []
    for values, type_values in product(product(*sizes.values()), typed):
        every = {**type_values, **given, **dict(zip(sizes, values, strict=True))}
        operations.append(_operation(kind, every))
    return operations


def _check_names(kind: type[Operation], given: _Fields) -> None:
    fields = {each.name: each for each in dataclasses.fields(kind)}
    for name in given:
        if name not in fields:
            raise UsageError(
                f"{kind.kind} has no field '{name}'; it has {', '.join(fields)}, and types."
            )
    missing = [
        name
        for name, each in fields.items()
        if each.default is dataclasses.MISSING and name not in given
    ]
    if missing:
        raise UsageError(f"{kind.kind} needs {', '.join(missing)}.")


def _sizes(name: str, value: object) -> list[int]:
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    sizes: list[int] = []
    for each in values:
        if isinstance(each, bool) or not isinstance(each, int | str):
            raise UsageError(f"The {name} must be a size, got {each!r}.")
        sizes += [each] if isinstance(each, int) else parse_range(each)
    if not sizes:
        raise UsageError(f"The {name} is an empty list.")
    return sizes


def _operation(kind: type[Operation], fields: _Fields) -> Operation:
    try:
        operation = msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"A field of {kind.kind} is wrong: {error}.") from error
    operation.check()
    return operation


def _parse_types(text: str) -> list[_Types]:
    """Return the types of a list such as ``f32,i8-i32``: of operands, or of operands and result."""
    known = {each.value: each for each in ElementType if each is not ElementType.I1}
    pairs: list[_Types] = []
    for word in text.split(","):
        operand, _, result = word.strip().partition("-")
        for name in (operand, result or operand):
            if name not in known:
                raise UsageError(
                    f"Unknown type '{name}' in '{text}'; there are {', '.join(known)}."
                )
        pairs.append((known[operand], known[result or operand]))
    return pairs


def parse_range(text: str) -> list[int]:
    """Return the sizes of ``64``, of a list ``64,128``, or of a range ``start:end:step``.

    The end of a range is not in it, as in Python; a list may have ranges.

    Raises:
        UsageError: the text is something else, or there is no size in it.
    """
    sizes: list[int] = []
    for part in text.split(","):
        bounds = part.strip().split(":")
        if len(bounds) > 3 or not all(map(_SIZE.match, bounds)):
            raise UsageError(
                f"'{part}' is not a size: write a number, numbers with commas, or start:end:step."
            )
        numbers = [int(each) for each in bounds]
        if len(numbers) == 1:
            sizes += numbers
            continue
        if len(numbers) == 3 and numbers[2] == 0:
            raise UsageError(f"The step of '{part}' is 0.")
        sizes += range(*numbers)
    if not sizes:
        raise UsageError(f"There is no size in '{text}': the end of a range is not in it.")
    return list(dict.fromkeys(sizes))


def read_problems(path: Path) -> list[Operation]:
    """Return the operations of a file.

    Raises:
        UsageError: the file is not a list of problems; names the problem.
        ActiondbgError: PyYAML is not installed, or the file cannot be read.
    """
    need_packages("--problems", ("yaml",), "kernels")
    operations: list[Operation] = []
    for at, entry in enumerate(_entries(path), 1):
        try:
            operations += problem_operations(entry)
        except ActiondbgError as error:
            raise UsageError(f"{path}, problem {at}: {error}") from error
    return operations


def _entries(path: Path) -> list[object]:
    from yaml import YAMLError

    try:
        value: object = msgspec.yaml.decode(_content(path))
    except (msgspec.DecodeError, YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{path} is neither YAML nor JSON: {reason}.") from error
    if not isinstance(value, list) or not value:
        raise UsageError(
            f"{path} is not a list of problems: write '- {{kind: matmul, m: 64, n: 64, k: 64}}'."
        )
    return cast("list[object]", value)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ActiondbgError(f"Cannot read {path}: {error.strerror}.") from error


# --- configurations ---


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    provider: str
    parameters: dict[str, Parameter]
    name: str = ""


def read_configurations(path: Path) -> list[Configuration]:
    """Return the configurations of a file.

    Raises:
        UsageError: the file is not a list of configurations; names the entry.
        ActiondbgError: PyYAML is not installed, or the file cannot be read.
    """
    need_packages("--configurations", ("yaml",), "kernels")
    from yaml import YAMLError

    try:
        entries = msgspec.yaml.decode(_content(path), type=list[_Entry])
    except (msgspec.DecodeError, YAMLError) as error:
        raise UsageError(
            f"{path} is not a list of configurations ({error}): each has provider, parameters and "
            "perhaps a name."
        ) from error
    if not entries:
        raise UsageError(f"{path} has no configuration.")
    return [
        Configuration(
            each.provider,
            each.name or f"{each.provider}_{parameters_name(each.parameters)}",
            each.parameters,
        )
        for each in entries
    ]


def parameters_name(parameters: Mapping[str, Parameter]) -> str:
    """Return a name of parameters; of long ones, a digest."""
    texts = {
        key: str(value) if isinstance(value, int | str) else "x".join(map(str, value))
        for key, value in parameters.items()
    }
    name = "_".join(f"{key}_{text}" for key, text in texts.items())
    if len(name) <= 100 and all(each.isalnum() or each == "_" for each in name):
        return name
    return f"{'_'.join(parameters)}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def load_set(name: str) -> list[Operation]:
    """Return the operations of a set, each once.

    Raises:
        UsageError: there is no such set.
    """
    if name not in SETS:
        raise UsageError(f"Unknown problem set '{name}'; there are {', '.join(SETS)}.")
    return list(dict.fromkeys(SETS[name]))


# The sets of the dispatch profiler.
_MATMUL = (
    Matmul(*shape, *types)
    for types in ((_F16, _F16, _F16), (_F32, _F32, _F32), (_F16, _F16, _F32))
    for shape in ((256, 512, 128), (2560, 2560, 2560), (3456, 1024, 2048))
)
_BATCH_MATMUL = (BatchMatmul(16, 512, 64, 512, each, each, each) for each in (_F16, _F32))
_SPLIT_K = (Matmul(128, 128, 12288, each, each, each) for each in (_F16, _F32))


def _resnet50() -> Iterator[Operation]:
    """Yield the layers for one image of 224 x 224, padded, with strides in the 3 x 3 filters."""
    yield Conv2d(1, 230, 230, 3, 64, 7, 7, 2, 2)
    yield Pooling(1, 114, 114, 64, 3, 3, 2, 2)
    size, channels = 56, 64
    for stage in range(4):
        narrow = 64 * 2**stage
        stride = 1 if stage == 0 else 2
        yield from _bottleneck(size, channels, narrow, stride)
        size, channels = size // stride, 4 * narrow
        yield from _bottleneck(size, channels, narrow, 1)
        yield Elementwise((1, size, size, channels), ("add", "relu"))
    yield Pooling(1, size, size, channels, size, size, combiner="sum")
    yield Matmul(1, 1000, channels)


def _bottleneck(size: int, channels: int, narrow: int, stride: int) -> Iterator[Operation]:
    """Yield the convolutions of a block; one changes the shape if the block does."""
    yield Conv2d(1, size, size, channels, narrow, 1, 1)
    yield Conv2d(1, size + 2, size + 2, narrow, narrow, 3, 3, stride, stride)
    yield Conv2d(1, size // stride, size // stride, narrow, 4 * narrow, 1, 1)
    if channels != 4 * narrow:
        yield Conv2d(1, size, size, channels, 4 * narrow, 1, 1, stride, stride)


def _transformer(tokens: int, hidden: int, heads: int) -> Iterator[Operation]:
    """Yield a layer: projections, attention, the network of two layers, norm and residual."""
    head = hidden // heads
    yield Matmul(tokens, 3 * hidden, hidden)
    yield Matmul(tokens, hidden, hidden)
    yield BatchMatmul(heads, tokens, tokens, head, rhs_layout="n")
    yield MatmulSoftmax(tokens, tokens, head, rhs_layout="n")
    yield BatchMatmul(heads, tokens, head, tokens)
    yield Matmul(tokens, 4 * hidden, hidden)
    yield Matmul(tokens, hidden, 4 * hidden)
    yield Reduction((tokens, hidden), (1,))
    yield Elementwise((tokens, hidden), ("add",))


SETS: dict[str, tuple[Operation, ...]] = {
    # Operations of each kind that take milliseconds.
    "small": tuple(each for kind in map(find_kind, kind_names()) for each in kind.examples()),
    "matmul": tuple(_MATMUL),
    "batch_matmul": tuple(_BATCH_MATMUL),
    "splitk_matmul": tuple(_SPLIT_K),
    "resnet50": tuple(_resnet50()),
    "bert_base_128": tuple(_transformer(128, hidden=768, heads=12)),
    "bert_base_384": tuple(_transformer(384, hidden=768, heads=12)),
    # Of a model of characters: 256 tokens, 384 wide, 6 heads, 65 characters.
    "gpt_small": (*_transformer(256, hidden=384, heads=6), Matmul(256, 65, 384)),
}
