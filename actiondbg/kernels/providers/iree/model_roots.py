"""The roots of a program's dispatches, as IREE forms them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.model.operation import Loop, Operation
from actiondbg.kernels.programs.bindings import element_name, parse_program
from actiondbg.kernels.programs.structured_operation import structured
from actiondbg.kernels.providers.iree.lowering import find_roots, operation_text, read_lowerings

# The loops of a root with their types, and the element types of its operands and its result.
RootKey = tuple[tuple[Loop, ...], tuple[str, ...]]

_VALUE = re.compile(r"%[\w#]+")
_TENSOR = re.compile(r"tensor<[^<>]*>")
_OPERANDS = re.compile(r"(?:ins|outs)\(((?:%[\w#]+(?:, )?)+) : (.*?)\)(?= |$)")


@dataclass(frozen=True)
class ModelRoot:
    """An operation that decides how a dispatch of a program is tiled.

    Attributes:
        text: the operation, whose operands are ``%arg0`` and so on; without a result.
        types: of the operands, then of the result.
        key: what it has in common with the root of a kernel that was cut out of the program.
    """

    text: str
    types: tuple[str, ...]
    key: RootKey


def root_key(operation: Operation) -> RootKey:
    """Return the key of an operation's root."""
    # A group's operands are more than its root's: two for a product or a convolution.
    read = [each.type.value for each in operation.inputs][:2]
    return operation.loops, (*read, operation.accumulator.value)


def read_roots(stage: str) -> list[ModelRoot]:
    """Return the roots of a stage ``executable-configurations``, each once.

    Roots that take more from outside than their operands are left out.
    """
    found: dict[str, ModelRoot] = {}
    for root in find_roots(read_lowerings(stage)):
        made = _model_root(operation_text(stage, root))
        if made is not None:
            found.setdefault(made.text, made)
    return list(found.values())


def _model_root(operation: str) -> ModelRoot | None:
    """Return the root of an operation's text; None if it takes more than its operands."""
    names: list[str] = []
    types: list[str] = []
    for group in _OPERANDS.finditer(operation):
        names += group[1].split(", ")
        types += _TENSOR.findall(group[2])
    renamed = {name: f"%arg{at}" for at, name in enumerate(names)}
    text = _VALUE.sub(lambda value: renamed.setdefault(value[0], f"%v{len(renamed)}"), operation)
    arguments = ", ".join(f"%arg{at}: {each}" for at, each in enumerate(types))
    try:
        module = parse_program(
            f"func.func @root({arguments}) -> {types[-1]} {{\n  %root = {text}\n"
            f"  return %root : {types[-1]}\n}}\n",
            "the root",
        )
        (function,) = module.body.operations
        root = structured(function.operation.regions[0].blocks[0].operations[0].operation)
    except (ActiondbgError, IndexError):
        return None
    elements = tuple(element_name(each.type) for each in root.operation.operands)
    return ModelRoot(text, tuple(types), (root.loops, elements))
