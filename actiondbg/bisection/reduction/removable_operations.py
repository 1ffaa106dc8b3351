"""Removable operations of a module, by MLIR's Python bindings.

Used results are replaced by an operand of the same type, or by a constant, so that the rest is
valid.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlir.ir import Attribute, Block, Module, Operation, Type, Value  # pyright: ignore[reportMissingTypeStubs]

_BINDINGS = "mlir.ir"  # imported when needed: the bindings are optional, and load libMLIR
_CHILDREN, _ALL, _AROUND, _ARGUMENTS, _RESULTS = range(5)


def read_operations(source: bytes) -> Operations | None:
    """Parse a module, text or bytecode; None if the bindings are missing or cannot parse it."""
    try:
        ir: Any = import_module(_BINDINGS)
    except ImportError:
        return None
    context = ir.Context()
    context.allow_unregistered_dialects = True
    context.enable_multithreading(False)
    try:
        return Operations(ir.Module.parse(source, context))
    except (ir.MLIRError, ValueError):
        return None


class Operations:
    """A module.

    The kinds of parts: children of modules; all operations; operations whose body is kept;
    unused arguments of functions; results of functions.
    """

    unit = "operations"
    kinds = 5

    def __init__(self, module: Module) -> None:
        self._ir: Any = import_module(_BINDINGS)
        self._module = module
        self.text = _text_of(module.operation)
        operations = list(_walk(module.operation))
        self.size = len(operations)
        # By kind: the operation's number in the walk, and the number of the argument or result.
        self._parts: dict[int, list[tuple[int, int]]] = {kind: [] for kind in range(self.kinds)}
        for at, op in enumerate(operations):
            self._add_parts(at, op)

    def count(self, kind: int) -> int:
        return len(self._parts[kind])

    def without(self, kind: int, parts: Sequence[int]) -> str | None:
        clone = self._module.operation.clone()
        operations = list(_walk(clone.operation))
        chosen = [self._parts[kind][part] for part in parts]
        try:
            if kind in (_CHILDREN, _ALL):
                self._remove_all(operations, [at for at, _ in chosen])
            else:
                remove = {
                    _AROUND: self._unwrap,
                    _ARGUMENTS: self._remove_argument,
                    _RESULTS: self._remove_result,
                }[kind]
                for at, number in reversed(chosen):
                    remove(operations[at], number)
            return _text_of(clone.operation) if clone.operation.verify() else None
        except self._ir.MLIRError:
            return None

    def reparse(self, text: str) -> Operations | None:
        return read_operations(text.encode())

    def _add_parts(self, at: int, op: Operation) -> None:
        if _is_child(op):
            self._parts[_CHILDREN].append((at, 0))
        if _is_removable(op):
            self._parts[_ALL].append((at, 0))
        if not _is_child(op) and _body(op) is not None:
            self._parts[_AROUND].append((at, 0))
        if op.name == "func.func" and len(op.regions[0].blocks):
            unused = enumerate(op.regions[0].blocks[0].arguments)
            self._parts[_ARGUMENTS] += [(at, number) for number, one in unused if not _is_used(one)]
            results = self._ir.TypeAttr(op.attributes["function_type"]).value.results
            self._parts[_RESULTS] += [(at, number) for number in range(len(results))]

    # --- removing ---

    def _remove_all(self, operations: Sequence[Operation], chosen: Sequence[int]) -> None:
        ends = {at: at + 1 + sum(1 for _ in _walk(operations[at])) for at in chosen}
        for at in reversed(_outermost(chosen, ends)):
            self._remove(operations[at])

    def _remove(self, op: Operation) -> None:
        """Remove an operation, if there are replacements for its used results."""
        used = [result for result in op.results if _is_used(result)]
        replacements = [self._replacement(op, result.type) for result in used]
        if any(other is None for other in replacements):
            return
        for result, other in zip(used, replacements, strict=True):
            result.replace_all_uses_with(other)
        op.erase()

    def _unwrap(self, op: Operation, _: int) -> None:
        """Replace an operation by the operations of its body."""
        body = _body(op)
        if body is None:
            return
        replacements = [self._replacement(op, argument.type) for argument in body.arguments]
        if any(other is None for other in replacements):
            return
        for argument, other in zip(body.arguments, replacements, strict=True):
            argument.replace_all_uses_with(other)
        *inner, last = [each.operation for each in body.operations]
        for each in inner:
            each.move_before(op)
        yielded = list(last.operands)
        for number, result in enumerate(op.results):
            if number < len(yielded) and yielded[number].type == result.type:
                result.replace_all_uses_with(yielded[number])
        self._remove(op)

    def _remove_argument(self, op: Operation, number: int) -> None:
        op.regions[0].blocks[0].erase_argument(number)
        self._change_type(op, "inputs", "arg_attrs", number)

    def _remove_result(self, op: Operation, number: int) -> None:
        ir = self._ir
        returns = [each for each in _walk(op) if each.name == "func.return"]
        for each in returns:
            left = [value for at, value in enumerate(each.operands) if at != number]
            with op.context, ir.Location.unknown():
                ir.Operation.create("func.return", operands=left, ip=ir.InsertionPoint(each))
            each.erase()
        self._change_type(op, "results", "res_attrs", number)

    def _change_type(self, op: Operation, side: str, attributes: str, number: int) -> None:
        """Remove one input or result from a function's type and attributes."""
        ir = self._ir
        with op.context:
            type = ir.TypeAttr(op.attributes["function_type"]).value
            types = {"inputs": list(type.inputs), "results": list(type.results)}
            del types[side][number]
            new = ir.FunctionType.get(types["inputs"], types["results"])
            op.attributes["function_type"] = ir.TypeAttr.get(new)
            if attributes in op.attributes:
                left = list(ir.ArrayAttr(op.attributes[attributes]))
                del left[number]
                op.attributes[attributes] = ir.ArrayAttr.get(left)

    # --- replacements ---

    def _replacement(self, op: Operation, type: Type) -> Value | None:
        """Return a value of a type for the users of an operation, or None."""
        found = next((operand for operand in op.operands if operand.type == type), None)
        if found is not None:
            return found
        ir = self._ir
        with contextlib.suppress(ir.MLIRError, ValueError), op.context, ir.Location.unknown():
            return ir.Operation.create(
                "arith.constant",
                results=[type],
                attributes={"value": self._one(type)},
                ip=ir.InsertionPoint(op),
            ).result
        return None

    def _one(self, type: Type) -> Attribute:
        """Return the constant 1: a divisor or the step of a loop must not be 0."""
        ir = self._ir
        for value in ("1", "1.0", "true", "dense<1>", "dense<1.0>", "dense<true>"):
            with contextlib.suppress(ir.MLIRError, ValueError):
                attribute = ir.Attribute.parse(value if value == "true" else f"{value} : {type}")
                if attribute.type == type:
                    return attribute
        raise ValueError("No constant of this type is known.")


def _text_of(op: Operation) -> str:
    return str(op.get_asm())


def _walk(op: Operation) -> Iterator[Operation]:
    """Yield the operations in an operation in textual order, without itself."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from _walk(inner.operation)


def _is_child(op: Operation) -> bool:
    return op.parent is not None and str(op.parent.name).endswith(".module")


def _is_removable(op: Operation) -> bool:
    """Return whether an operation is not the terminator of a block."""
    if _is_child(op) or len(op.results):
        return True
    *_, last = op.block.operations
    return last.operation != op


def _body(op: Operation) -> Block | None:
    """Return the first block with operations before its terminator.

    Returns:
        None if there is none, or if a region has several blocks.
    """
    blocks = [list(region.blocks) for region in op.regions]
    if any(len(each) > 1 for each in blocks):
        return None
    filled = (block for each in blocks for block in each if len(list(block.operations)) > 1)
    return next(filled, None)


def _is_used(value: Value) -> bool:
    return any(True for _ in value.uses)


def _outermost(chosen: Sequence[int], ends: dict[int, int]) -> list[int]:
    result: list[int] = []
    end = 0
    for at in chosen:
        if at >= end:
            result.append(at)
            end = ends[at]
    return result
