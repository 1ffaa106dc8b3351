"""The operations of a program, such as an exported model: groups, as functions of their own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.errors import Unsupported
from actiondbg.kernels.model import ElementType, Tensor
from actiondbg.kernels.packages import func, ir, linalg
from actiondbg.kernels.programs.model_operation import DESTINATION, ROOT_MARK, ModelOperation
from actiondbg.kernels.programs.structured_operation import (
    StructuredOperation,
    defining_operation,
    dimensions,
    element_name,
    is_candidate,
    nested_operations,
    parse_program,
    structured,
    tensor_shape,
)

_ARITHMETIC = re.compile(r"arith\.(add|sub|mul|div|max|min|rem|neg)|math\.")
_INDEX_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui")
_TYPES = {each.value: each for each in ElementType}
_HINTS = {
    "tosa": "mlir-opt --pass-pipeline='builtin.module(func.func(tosa-infer-shapes,"
    "tosa-to-linalg-named,canonicalize,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))'",
    "stablehlo": "stablehlo-opt's --stablehlo-legalize-to-linalg",
    "torch": "torch-mlir-opt's --torch-backend-to-linalg-on-tensors-backend-pipeline",
    "onnx": "onnx-mlir-opt's --convert-onnx-to-linalg",
}
_DIALECT = re.compile(r"(?:= |^\s*)\"?([a-z_]+)\.[a-z_]", re.MULTILINE)


@dataclass(frozen=True)
class CutProgram:
    """What was cut out of a program.

    Attributes:
        operations: each once, in the order of their first occurrence, with their counts.
        left_out: a sentence for each linalg operation that cannot be a kernel.
    """

    operations: list[ModelOperation]
    left_out: list[str]


def cut(program: ir.Module) -> CutProgram:
    operations: dict[str, ModelOperation] = {}
    left_out: list[str] = []
    for block in _blocks(program.operation):
        operations_of_block, unfit = _structured_operations(block)
        left_out += unfit
        for group in _grouped(operations_of_block):
            try:
                made = _Extraction(group).operation()
            except Unsupported as error:
                left_out.append(str(error))
                continue
            known = operations.get(made.symbol)
            operations[made.symbol] = replace(made, count=known.count + 1) if known else made
    return CutProgram(list(operations.values()), left_out)


def _blocks(program: ir.Operation) -> list[ir.Block]:
    """Return the blocks that contain linalg operations, in program order."""
    blocks: list[ir.Block] = []
    for operation in nested_operations(program):
        if is_candidate(operation):
            block = operation.block
            if block not in blocks[-1:]:
                blocks.append(block)
    return blocks


class _Extraction:
    """Clones a group into a function; what it reads from outside becomes arguments."""

    def __init__(self, members: Sequence[StructuredOperation]) -> None:
        self._members = members
        # The reduction, or else the last operation.
        self._root = next((each for each in members if each.is_reduction), members[-1])
        self._inside = {each.operation for each in members}
        self._copies: dict[ir.Value, ir.Value] = {}
        self._taker = self._takes_destination()

    def operation(self) -> ModelOperation:
        """Return the group as an operation."""
        root, last = self._root, self._members[-1]
        if not root.loops:
            raise Unsupported(f"{root.name} has no loops: it computes one number.")
        outside = self._outside()
        operands = tuple(tensor_of(f"arg{at}", each.type) for at, each in enumerate(outside))
        output = tensor_of("result", last.result.type)
        with last.operation.context, ir.Location.unknown():
            module = ir.Module.create()
            types = [*(each.type for each in outside), last.result.type]
            with ir.InsertionPoint(module.body):
                function = func.FuncOp("kernel", ir.FunctionType.get(types, [last.result.type]))
            block: ir.Block = function.add_entry_block()
            self._copies.update(zip(outside, block.arguments, strict=False))
            with ir.InsertionPoint(block):
                for member in self._members:
                    self._clone(member, block.arguments[len(outside)])
                func.ReturnOp([self._copies[last.result]])
            lines = str(function.operation.get_asm(use_local_scope=True)).strip().splitlines()
        body = "\n".join(line.strip() for line in lines[1:-1])
        body = re.sub(r"%out\b", "%old", body)  # a name that callers may use for the destination
        text = re.sub(rf"%arg{len(outside)}\b", f"%{DESTINATION}", body)
        accumulation = tensor_of("root", root.result.type).type
        return ModelOperation(
            _symbol(root, text, operands, output),
            text,
            operands,
            output,
            root.loops,
            root.name,
            sum(_work(each) for each in self._members),
            accumulation if accumulation.is_float else output.type,
            selected=root.selected if self._is_of(outside) else "",
            selected_axes=self._selected_axes(outside),
            indexed=self._indexed(outside),
        )

    def _is_of(self, outside: Sequence[ir.Value]) -> bool:
        """Whether the group is the root alone, of one operand: a window has a shape only."""
        return len(self._members) == 1 and list(outside) == self._root.inputs[:1]

    def _indexed(self, outside: Sequence[ir.Value]) -> tuple[int, ...]:
        """Return of each operand the size of the dimension that its elements are indices of, or 0.

        () if no operand has indices: of elements that tensor.extract reads.
        """
        limits = dict.fromkeys(outside, 0)
        for member in self._members:
            for each in nested_operations(member.operation):
                if each.name != "tensor.extract":
                    continue
                source, *indices = each.operands
                for index, size in zip(indices, tensor_shape(source.type), strict=True):
                    value = _element_of(member, index)
                    if value in limits:
                        limits[value] = min(limits[value] or size, size)
        return tuple(limits.values()) if any(limits.values()) else ()

    def _selected_axes(self, outside: Sequence[ir.Value]) -> tuple[int, ...]:
        """Return the dimensions of the first operand that the root reduces, if it reads that."""
        root = self._root
        if not outside or root.inputs[:1] != [outside[0]]:
            return ()
        loops = dimensions(root.maps[0])
        if None in loops:
            return ()
        return tuple(
            axis
            for axis, loop in enumerate(loops)
            if loop is not None and root.loops[loop].type == "reduction"
        )

    def _outside(self) -> list[ir.Value]:
        """Return the values that the group reads and that are computed elsewhere."""
        values: dict[ir.Value, None] = {}
        for member in self._members:
            for value in (*_read(member), member.destination):
                if not self._is_cloned(value):
                    values[value] = None
        return list(values)

    def _is_cloned(self, value: ir.Value) -> bool:
        """Whether a value is computed in the function: by a member, or by what needs nothing."""
        operation = defining_operation(value)
        if operation is None:
            return False
        if operation in self._inside or operation.name == "tensor.empty":
            return True
        if operation.name == "linalg.fill":
            return all(self._is_cloned(each) for each in operation.operands)
        if operation.name != "arith.constant":
            return False
        # A scalar, or a tensor of one value.
        constant = operation.attributes["value"]
        return not isinstance(constant, ir.DenseElementsAttr) or constant.is_splat

    def _takes_destination(self) -> ir.Operation:
        """Return the operation that writes to the function's destination first.

        That is a member or its ``linalg.fill``: from the last member back over those whose memory
        can be the result's.
        """
        members = {each.operation: each for each in self._members}
        at = self._members[-1]
        while True:
            source = defining_operation(at.destination)
            if (
                source is not None
                and source.name == "linalg.fill"
                and self._is_cloned(at.destination)
            ):
                return source
            earlier = members.get(source) if source is not None else None
            if source is not None and source.name == "tensor.empty":
                earlier = self._in_place(at)
            if earlier is None:
                return at.operation
            at = earlier

    def _in_place(self, member: StructuredOperation) -> StructuredOperation | None:
        """Return the member whose result an elementwise operation may overwrite."""
        if member.reads_destination or not member.is_elementwise:
            return None
        for each in self._members:
            users = {use.owner.operation for use in each.result.uses}
            if (
                users == {member.operation}
                and each.result.type == member.result.type
                and member.reads_by_identity(each.result)
            ):
                return each
        return None

    def _clone(self, member: StructuredOperation, destination: ir.Value) -> None:
        """Append a member, after what it needs."""
        for value in _read(member):
            self._materialize(value)
        initial = self._initial(member, destination)
        clone = self._append(member.operation)
        clone.operands[len(clone.operands) - 1] = initial
        if member.operation == self._root.operation:
            clone.attributes[ROOT_MARK] = ir.UnitAttr.get()
        self._copies[member.result] = clone.results[0]

    def _initial(self, member: StructuredOperation, destination: ir.Value) -> ir.Value:
        """Return the initial values of a member's result, in the function."""
        value = member.destination
        source = defining_operation(value)
        if source is not None and source.name == "tensor.empty":
            earlier = self._in_place(member)
            if earlier is not None:
                return self._copies[earlier.result]
            if member.operation == self._taker:
                return destination
            return self._append(source).results[0]
        if source is not None and source == self._taker and source.name == "linalg.fill":
            self._materialize(source.operands[0])
            fill = self._append(source)
            fill.operands[1] = destination
            return fill.results[0]
        self._materialize(value)
        if member.operation == self._taker:  # an argument or a constant must not be overwritten
            return linalg.copy(self._copies[value], outs=[destination])
        return self._copies[value]

    def _materialize(self, value: ir.Value) -> None:
        """Append a constant, an empty tensor or a fill, if the function does not have it."""
        operation = defining_operation(value)
        if value in self._copies or operation is None:
            return
        for each in operation.operands:
            self._materialize(each)
        self._copies[value] = self._append(operation).results[0]

    def _append(self, operation: ir.Operation) -> ir.Operation:
        clone = operation.clone().operation
        for each in (clone, *nested_operations(clone)):
            for at, value in enumerate(each.operands):
                if value in self._copies:
                    each.operands[at] = self._copies[value]
        return clone


def _read(member: StructuredOperation) -> list[ir.Value]:
    """Return the inputs, and the values that the body takes from outside."""
    inside = list(nested_operations(member.operation))
    own = {each for operation in inside for each in operation.results}
    own.update(member.body.arguments)
    values = member.inputs
    for operation in inside:
        values += [each for each in operation.operands if each not in own]
    return values


def _element_of(member: StructuredOperation, index: ir.Value) -> ir.Value | None:
    """Return the operand of a member whose elements, maybe cast, are an index; None for others."""
    operation = defining_operation(index)
    while operation is not None and operation.name in _INDEX_CASTS:
        index = operation.operands[0]
        operation = defining_operation(index)
    arguments = list(member.body.arguments)
    return member.operation.operands[arguments.index(index)] if index in arguments else None


def tensor_of(name: str, kind: ir.Type) -> Tensor:
    """Return an operand.

    Raises:
        Unsupported: it is no tensor of an element type.
    """
    if not isinstance(kind, ir.RankedTensorType):
        raise Unsupported(f"An operand has the type {kind}, which is not a tensor.")
    element = _TYPES.get(element_name(kind))
    if element is None:
        raise Unsupported(
            f"An operand has the type {kind}; kernels have elements of {', '.join(_TYPES)}."
        )
    return Tensor(name, tensor_shape(kind), element)


def _symbol(
    root: StructuredOperation, text: str, operands: tuple[Tensor, ...], output: Tensor
) -> str:
    kind = root.name.removeprefix("linalg.")
    shape = "x".join(str(loop.size) for loop in root.loops) or "scalar"
    content = repr((text, operands, output))
    digest = hashlib.sha256(content.encode()).hexdigest()[:8]
    return f"model_{kind}_{shape}_{output.type.value}_{digest}"


def _work(member: StructuredOperation) -> int:
    inside = nested_operations(member.operation)
    each = sum(_ARITHMETIC.match(operation.name) is not None for operation in inside)
    return each * prod(member.sizes)


# --- groups ---
# A group is a root with the elementwise operations around it. An operation joins the group of its
# users if all of them are in that group and read it only at the element that they compute; a
# broadcast that only fills the destination joins as well. A group has at most one reduction (a
# product, a convolution, a pooling, a sum), and what follows a reduction is elementwise. So only
# the last operation's result is used outside.


def _structured_operations(block: ir.Block) -> tuple[list[StructuredOperation], list[str]]:
    """Return the operations of a block that compute something, and why others are left out."""
    found: list[StructuredOperation] = []
    left_out: list[str] = []
    for view in block.operations:
        operation = view.operation
        if not is_candidate(operation) or operation.name == "linalg.fill":
            continue
        try:
            found.append(structured(operation))
        except Unsupported as error:
            left_out.append(str(error))
    return found, left_out


def _grouped(operations: Sequence[StructuredOperation]) -> list[list[StructuredOperation]]:
    """Group operations, from the last to the first: the users have their groups already."""
    group_of: dict[ir.Operation, int] = {}
    members: list[list[StructuredOperation]] = []
    by_operation = {each.operation: each for each in operations}
    for each in reversed(operations):
        users = [by_operation.get(use.owner.operation) for use in each.result.uses]
        group = _group_to_join(each, users, group_of, members)
        if group is None:
            group = len(members)
            members.append([])
        members[group].append(each)
        group_of[each.operation] = group
    return [group[::-1] for group in reversed(members)]


def _group_to_join(
    operation: StructuredOperation,
    users: Sequence[StructuredOperation | None],
    group_of: dict[ir.Operation, int],
    members: Sequence[Sequence[StructuredOperation]],
) -> int | None:
    """Return the group of all users, if the operation may join it."""
    groups = {group_of.get(user.operation) if user is not None else None for user in users}
    if len(groups) != 1:
        return None
    group = groups.pop()
    if group is None or not all(user is not None and _joins(operation, user) for user in users):
        return None
    has_reduction = any(each.is_reduction for each in members[group])
    return None if operation.is_reduction and has_reduction else group


def _joins(operation: StructuredOperation, user: StructuredOperation) -> bool:
    """Whether one user of an operation can be in its group."""
    if operation.is_reduction:
        return user.is_elementwise and user.reads_by_identity(operation.result)
    if not operation.is_elementwise:
        return False
    only_destination = operation.result not in user.inputs
    return only_destination or user.reads_by_identity(operation.result)


def operations_of(path: Path) -> list[ModelOperation]:
    """Return each linalg operation of a program, or fused group, once for each shape and body.

    Raises:
        UsageError: the file is not MLIR, or has no linalg operation on tensors.
        ActiondbgError: MLIR's Python bindings are not installed, or the file cannot be read.
    """
    return cut_program(path).operations


def cut_program(path: Path) -> CutProgram:
    """Return the operations of a program, and why others are left out; see ``operations_of``."""
    try:
        text = path.read_text()
    except OSError as error:
        raise ActiondbgError(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not text: write the program as .mlir, not bytecode."
        ) from error
    found = cut(parse_program(text, str(path)))
    if found.operations:
        return found
    if found.left_out:
        raise UsageError(f"{path} has no operation that can be a kernel: {found.left_out[0]}")
    dialects = set(_DIALECT.findall(text))
    known = next((each for each in _HINTS if each in dialects), None)
    advice = f"lower it to linalg first; it has {', '.join(sorted(dialects)) or 'no operation'}."
    if known is not None:
        advice = f"lower {known} to linalg first, with {_HINTS[known]}."
    raise UsageError(f"{path} has no linalg operation on tensors: {advice}")
