"""Programs parsed by MLIR's Python bindings, and their linalg operations with loops and maps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, cast

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.errors import Unsupported
from actiondbg.kernels.model import IteratorType, Loop
from actiondbg.kernels.packages import ir, linalg

_COMBINATION = re.compile(r"arith\.(add[fi]|(max|min)(imumf|numf|si))")
# Of the linalg dialect, but without loops of their own.
_OTHERS = frozenset({"linalg.yield", "linalg.index"})


def parse_program(text: str, source: str) -> ir.Module:
    """Return the module of a program.

    Args:
        text: of the program.
        source: its name in messages.

    Raises:
        ActiondbgError: the bindings are not installed.
        UsageError: the text is not valid MLIR; with the first diagnostic.
    """
    try:
        import_module("mlir.dialects.linalg")
        bindings: Any = import_module("mlir.ir")  # whose errors have no type stubs
    except ImportError as error:
        raise ActiondbgError(
            "Cutting kernels out of a program needs MLIR's Python bindings: "
            "pip install xtc-mlir-python-bindings."
        ) from error
    context = bindings.Context()
    context.enable_multithreading(False)  # a script may fork
    try:
        return bindings.Module.parse(text, context)
    except bindings.MLIRError as error:
        first = next(iter(error.error_diagnostics), None)
        reason = f"{first.message} at {_place(str(first.location))}" if first else str(error)
        raise UsageError(f"{source} is not valid MLIR: {reason.rstrip('.')}.") from error


def _place(location: str) -> str:
    """Return the line and column of a location in text without a file name."""
    found = re.search(r'"-":(\d+):(\d+)', location)
    return f"line {found[1]}, column {found[2]}" if found else location


def nested_operations(operation: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the operations inside of one, in program order."""
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                yield from nested_operations(view.operation)


def defining_operation(value: ir.Value) -> ir.Operation | None:
    """Return the operation whose result a value is; None for a block's argument."""
    return cast("ir.Operation | None", getattr(value.owner, "operation", None))


def tensor_shape(kind: ir.Type) -> tuple[int, ...]:
    return tuple(cast("Any", kind).shape)


def element_name(kind: ir.Type) -> str:
    """Return the element type of a tensor type, such as ``f32``."""
    return str(cast("Any", kind).element_type)


def integer_attribute(operation: ir.Operation, name: str) -> int:
    return cast("Any", operation.attributes[name]).value


@dataclass(frozen=True)
class StructuredOperation:
    """A linalg operation with one result.

    Attributes:
        maps: from loops to the elements of each operand.
    """

    operation: ir.Operation
    maps: tuple[ir.AffineMap, ...]
    loops: tuple[Loop, ...]

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def inputs(self) -> list[ir.Value]:
        """The operands that are read."""
        return list(self.operation.operands)[:-1]

    @property
    def destination(self) -> ir.Value:
        """The operand that has the initial values of the result."""
        return list(self.operation.operands)[-1]

    @property
    def result(self) -> ir.Value:
        return self.operation.results[0]

    @property
    def body(self) -> ir.Block:
        """The computation of an element."""
        return self.operation.regions[0].blocks[0]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(loop.size for loop in self.loops)

    @property
    def is_elementwise(self) -> bool:
        """Whether no loop is a reduction, and the loops are the result's dimensions."""
        return is_identity(self.maps[-1]) and not self.is_reduction

    @property
    def is_reduction(self) -> bool:
        return any(loop.type == "reduction" for loop in self.loops)

    @property
    def yielded(self) -> ir.Value:
        operations = self.body.operations
        return operations[len(operations) - 1].operation.operands[0]

    @property
    def so_far(self) -> ir.Value:
        """The argument of the body that has the result so far."""
        return self.body.arguments[len(self.body.arguments) - 1]

    @property
    def reads_destination(self) -> bool:
        """Whether the result depends on the initial values."""
        return any(True for _ in self.so_far.uses)

    @property
    def selected(self) -> Literal["max", "min", ""]:
        """What a reduction selects of its first operand, or "" if it computes something else.

        Elements may be extended, which is exact.
        """
        combine = self.combination if self.is_reduction else None
        if combine is None:
            return ""
        term = next(each for each in combine.operands if each != self.so_far)
        cast_of_it = defining_operation(term)
        if cast_of_it is not None and cast_of_it.name in ("arith.extf", "arith.extsi"):
            term = cast_of_it.operands[0]
        if term != self.body.arguments[0]:
            return ""
        found = re.fullmatch(r"arith\.(max|min)(imumf|numf|si)", combine.name)
        return cast('Literal["max", "min"]', found[1]) if found else ""

    @property
    def combination(self) -> ir.Operation | None:
        """The operation that combines a term with the result so far.

        None if the reduction is not one sum, maximum or minimum.
        """
        users = [use.owner.operation for use in self.so_far.uses]
        combine = defining_operation(self.yielded)
        if combine is None or users != [combine] or not _COMBINATION.fullmatch(combine.name):
            return None
        return combine

    def reads_by_identity(self, value: ir.Value) -> bool:
        """Whether a value is read only at the element that is computed."""
        reads = [at for at, each in enumerate(self.operation.operands) if each == value]
        return bool(reads) and all(is_identity(self.maps[at]) for at in reads)


def is_identity(indexing: ir.AffineMap) -> bool:
    identity = ir.AffineMap.get_identity(indexing.n_dims, indexing.context)
    return indexing.n_dims == len(indexing.results) and indexing == identity


def is_candidate(operation: ir.Operation) -> bool:
    """Whether an operation is of linalg, and computes something."""
    return operation.name.startswith("linalg.") and operation.name not in _OTHERS


def structured(operation: ir.Operation) -> StructuredOperation:
    """Return an operation of linalg with its loops.

    Raises:
        Unsupported: it has no loops, several results, or a size that is not constant.
    """
    if len(operation.results) != 1 or not operation.regions:
        raise Unsupported(f"{operation.name} has {len(operation.results)} results, not one tensor.")
    attribute = linalg.get_indexing_maps(operation)
    if attribute is None:
        raise Unsupported(f"{operation.name} has no indexing maps.")
    maps = tuple(ir.AffineMapAttr(each).value for each in attribute)
    shapes: list[list[int]] = []
    for value in operation.operands:
        shape = value.type if isinstance(value.type, ir.ShapedType) else None
        if shape is not None and not shape.has_static_shape:
            raise Unsupported(f"{operation.name} has a dynamic shape, {value.type}.")
        shapes.append(list(shape.shape) if shape is not None else [])
    types = _iterator_types(operation, maps[-1])
    sizes = _sizes(maps, shapes)
    if None in sizes:
        raise Unsupported(f"The size of a loop of {operation.name} is not a size of an operand.")
    loops = tuple(Loop(size or 0, each) for size, each in zip(sizes, types, strict=True))
    return StructuredOperation(operation, maps, loops)


def _sizes(maps: tuple[ir.AffineMap, ...], shapes: list[list[int]]) -> list[int | None]:
    """Return the sizes of the loops: each is the dimension of an operand that it alone indexes."""
    sizes: list[int | None] = [None] * maps[-1].n_dims
    for indexing, shape in zip(maps, shapes, strict=True):
        for at, loop in enumerate(dimensions(indexing)):
            if loop is not None:
                sizes[loop] = shape[at]
    return sizes


def dimensions(indexing: ir.AffineMap) -> list[int | None]:
    """Return the loop that each result of a map is; None for another expression."""
    return [
        each.position if isinstance(each, ir.AffineDimExpr) else None for each in indexing.results
    ]


def _iterator_types(operation: ir.Operation, result: ir.AffineMap) -> list[IteratorType]:
    """Return the types of loops; those of a named operation are parallel if they index it."""
    if "iterator_types" in operation.attributes:
        listed: Any = operation.attributes["iterator_types"]
        names = [str(each) for each in listed]
        return ["reduction" if "reduction" in name else "parallel" for name in names]
    parallel = dimensions(result)
    return ["parallel" if at in parallel else "reduction" for at in range(result.n_dims)]
