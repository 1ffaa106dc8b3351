"""The interpreter: walks over a function, with scalars of a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from math import prod
from typing import Any

from actiondbg.validation.domain import (
    Domain,
    NotInterpreted,
    OutOfBudget,
    Scalar,
    UndefinedBehaviour,
)
from actiondbg.validation.program import (
    STRUCTURED,
    Block,
    Dense,
    Function,
    Module,
    Operation,
    Region,
    Value,
    walk,
)
from actiondbg.validation.scalar_operations import BY_NAME
from actiondbg.validation.types import FloatType, IntegerType, ScalarType, ShapedType, Type


@dataclass(frozen=True, slots=True)
class Elements:
    """A vector or a tensor; nobody changes the items."""

    shape: tuple[int, ...]
    items: Sequence[Scalar]  # scalars, row by row
    element: ScalarType

    def with_items(self, changed: Iterable[tuple[int, Scalar]]) -> Elements:
        """Return the same with other items at some places."""
        items = list(self.items)
        for at, item in changed:
            items[at] = item
        return Elements(self.shape, items, self.element)


@dataclass(eq=False, slots=True)
class Buffer:
    """Memory; compared by identity."""

    # Scalars, changed in place; a vector in memory takes one for each of its elements.
    items: list[Scalar]
    element: ScalarType  # the type of the items
    is_alive: bool = True  # not yet freed
    is_constant: bool = False  # nobody may write to it


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of elements that are stored row by row."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def positions(sizes: Sequence[int], strides: Sequence[int], offset: int = 0) -> list[int]:
    """Return where the elements of a window are, in the order of the window's rows."""
    if 0 in sizes:  # another size may be huge
        return []
    found = [offset]
    for size, stride in zip(sizes, strides, strict=True):
        steps = [at * stride for at in range(size)]
        found = [base + step for base in found for step in steps]
    return found


def indices_at(at: int, shape: Sequence[int]) -> list[int]:
    """Return the indices of the element at a place, row by row."""
    return [at // step % size for step, size in zip(row_major(shape), shape, strict=True)]


def extent(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """Return how many items a window spans; none if it has no elements."""
    last = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return last + 1 if all(sizes) else 0


@dataclass(frozen=True, slots=True)
class MemRef:
    """A view of memory: element (i, j) is ``items[offset + i*strides[0] + j*strides[1]]``.

    In a memref of vectors, the offset and the strides count vectors, each of ``unit`` items.
    """

    buffer: Buffer
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    unit: tuple[int, ...] | None = None

    @property
    def places(self) -> list[int]:
        """Where the elements are in the buffer, row by row."""
        return positions(self.sizes, self.strides, self.offset)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that few operations know."""

    kind: object  # what it is: ``function``, or the type of the value that was converted to it
    value: Any  # the symbol of the function, or the converted value


# What a value of a program is when it is interpreted: a scalar of the domain, or one of these.
RuntimeValue = Any
Results = Sequence[RuntimeValue]  # of an operation


@dataclass(frozen=True, slots=True)
class VisibleEvent:
    """Something that the world can see: printed values, the call of an external function."""

    kind: str  # such as ``vector.print``, with what tells one kind from another
    operands: tuple[RuntimeValue, ...]
    type: Type | None = None  # as which the operands are shown; None for their bits
    text: str = ""  # of a failed assertion, which a runtime may show


@dataclass(frozen=True, slots=True)
class FunctionOutcome:
    """What a run of a function did."""

    results: tuple[RuntimeValue, ...]
    events: tuple[VisibleEvent, ...]
    # The memory of the module's globals at the end, by symbol, but constant ones.
    globals: dict[str, Buffer]
    # Names of the operations, and the functions, of which nothing is known, and whose results the
    # run took from ``Domain.unknown``.
    unknown: frozenset[str]
    # The program has ended itself, by a failed assertion; there are no results.
    is_aborted: bool = False
    steps: int = 0  # that the run took


class Aborted(Exception):
    """The program ended itself; the last event says how."""


@dataclass(frozen=True, slots=True)
class Terminated:
    """How a region ended."""

    operation: Operation  # the terminator: ``scf.yield``, ``func.return``
    operands: list[RuntimeValue]


Handler = Callable[..., Results]  # of the machine, the operation, and operands


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A handler, with what it is given."""

    handler: Handler
    count: int | None  # of the operands; None for all
    elements: tuple[int, ...]  # the places of the operands that must be vectors or tensors


MEANINGS: dict[str, _Meaning] = {}  # of the dialects that are imported
UNKNOWN = "any operation of which nothing is known"
# Dialects whose operations, if they have no meaning of their own, the domain applies to scalars.
_SCALAR_DIALECTS = frozenset({"arith", "index", "math", "llvm"})
_MOST_CALLS = 64  # nested in each other
TERMINATORS = frozenset(
    {
        "func.return",
        "llvm.return",
        "scf.yield",
        "scf.condition",
        "scf.reduce",
        "scf.reduce.return",
        "scf.forall.in_parallel",
        "affine.yield",
        "linalg.yield",
        "memref.atomic_yield",
        "tensor.yield",
        "vector.yield",
        "memref.alloca_scope.return",
    }
)


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a function as the meaning of operations.

    It is given the machine, the operation, and what the first operands are, as many as it has
    parameters for; where one of these is annotated as ``Elements``, the operand must be so. It
    returns a value for each result; for a branch the block to go on with, and its arguments.
    """

    def register(handler: Handler) -> Handler:
        given = list(signature(handler).parameters.values())[2:]
        takes_all = any(each.kind is each.VAR_POSITIONAL for each in given)
        elements = tuple(at for at, each in enumerate(given) if each.annotation == "Elements")
        for name in names:
            assert name not in MEANINGS, name
            MEANINGS[name] = _Meaning(handler, None if takes_all else len(given), elements)
        return handler

    return register


@dataclass(eq=False)
class Machine:
    """Runs functions of a module."""

    module: Module  # the program
    domain: Domain  # of the scalars
    steps: int = 200_000  # operations that may still be run, and elements that may be made
    # Memory of globals, by symbol; one that is not there yet has its initial value.
    globals: dict[str, Buffer] = field(default_factory=dict[str, Buffer])
    # The values of the function that runs, of which its regions are a part.
    frame: dict[Value, RuntimeValue] = field(default_factory=dict[Value, RuntimeValue])
    events: list[VisibleEvent] = field(default_factory=list[VisibleEvent])
    unknown: set[str] = field(default_factory=set[str])  # see ``FunctionOutcome``
    # Memory that the world outside knows of, beside that of globals.
    escaped: list[Buffer] = field(default_factory=list[Buffer])
    # Memory that the functions which are running made for themselves.
    allocas: list[Buffer] = field(default_factory=list[Buffer])
    calls_outside: int = 0  # how often the world outside had a chance to change
    parallel: list[Any] = field(default_factory=list[Any])  # loops that run, the outermost first
    _used: frozenset[Value] | None = None
    _depth: int = 0  # of calls

    def run(self, symbol: str, arguments: Sequence[RuntimeValue]) -> FunctionOutcome:
        """Call a function from outside.

        Raises:
            UndefinedBehaviour: the run has none that is defined.
            NotInterpreted: it came to something that has no meaning here.
            OutOfBudget: it takes too long.
        """
        memory = [each.buffer for each in arguments if isinstance(each, MemRef)]
        self.escaped = list(dict.fromkeys(memory))
        is_aborted, steps = False, self.steps
        results: Sequence[RuntimeValue] = ()
        try:
            results = self.call(self.module.functions[symbol], arguments)
        except Aborted:
            is_aborted = True
        except RecursionError:
            raise OutOfBudget("regions are nested too deeply") from None
        unknown = frozenset(self.unknown)
        events = tuple(self.events)
        memory = {name: each for name, each in self.globals.items() if not each.is_constant}
        steps -= self.steps
        return FunctionOutcome(tuple(results), events, memory, unknown, is_aborted, steps)

    def call(self, function: Function, arguments: Sequence[RuntimeValue]) -> list[RuntimeValue]:
        """Call a function with a body."""
        if function.body is None:
            raise NotInterpreted(f"@{function.symbol} has no body")
        self._depth += 1
        if self._depth > _MOST_CALLS:
            raise OutOfBudget("calls are nested too deeply")
        callers, self.frame = self.frame, {}
        try:
            return self.scoped(function.body, arguments).operands
        finally:
            self.frame = callers
            self._depth -= 1

    def all(self, values: Sequence[Value]) -> list[RuntimeValue]:
        """Return what some values are."""
        return [self.frame[value] for value in values]

    def scoped(self, region: Region, arguments: Sequence[RuntimeValue]) -> Terminated:
        """Run a region, and free what ``alloca`` made in it."""
        before = len(self.allocas)
        ended = self.region(region, arguments)
        for buffer in self.allocas[before:]:
            buffer.is_alive = False
        del self.allocas[before:]
        return ended

    def region(self, region: Region, arguments: Sequence[RuntimeValue]) -> Terminated:
        """Run a region from its first block to a terminator that leaves it."""
        block = region.blocks[0]
        while True:
            self.frame.update(zip(block.arguments, arguments, strict=True))
            ended = self._block(block)
            if isinstance(ended, Terminated):
                return ended
            block, arguments = ended

    def is_used(self, value: Value) -> bool:
        """Whether any operation has a value as an operand."""
        if self._used is None:
            functions = [each.operation for each in self.module.functions.values()]
            users = [user for function in functions for user in walk(function)]
            self._used = frozenset(each for user in users for each in user.operands)
        return value in self._used

    def happens(self, event: VisibleEvent) -> None:
        """Add an event.

        Raises:
            NotInterpreted: a parallel loop runs, and the order of its events is open.
        """
        if self.parallel:
            raise NotInterpreted(f"{event.kind} in a parallel loop")
        self.events.append(event)

    def charge(self, steps: int) -> None:
        """Take steps from the budget, before elements are made.

        Raises:
            OutOfBudget: none are left.
        """
        self.steps -= steps
        if self.steps < 0:
            raise OutOfBudget("the run takes too many steps")

    def _block(self, block: Block) -> Terminated | tuple[Block, Sequence[RuntimeValue]]:
        for operation in block.operations:
            self.charge(1)
            if operation.name in TERMINATORS:
                return Terminated(operation, self.all(operation.operands))
            results = self.evaluate(operation)
            if operation.successors:
                block, arguments = results
                return block, arguments
            self.frame.update(zip(operation.results, results, strict=True))
        last = block.operations[-1].name if block.operations else "nothing"
        raise NotInterpreted(f"a block that ends with {last}")

    def evaluate(self, operation: Operation) -> Results:
        """Return the results of an operation that is not a terminator.

        Raises:
            NotInterpreted: it has no meaning here, or an operand has another type than it should.
        """
        meaning = MEANINGS.get(operation.name)
        if meaning is None:
            has_parts = operation.regions or operation.successors
            if not has_parts and operation.name.partition(".")[0] in _SCALAR_DIALECTS:
                return self.elementwise(operation, self.all(operation.operands))
            meaning = MEANINGS[STRUCTURED if operation.is_structured else UNKNOWN]
        operands = self.all(operation.operands[: meaning.count])
        for at in meaning.elements:
            elements(operands[at], operation)
        try:
            return meaning.handler(self, operation, *operands)
        except UndefinedBehaviour as error:
            error.operation = error.operation or operation.name
            raise

    def elementwise(self, operation: Operation, operands: Sequence[RuntimeValue]) -> Results:
        """Apply a scalar operation to scalars, or to each element of vectors and tensors."""
        shaped = [operand for operand in operands if isinstance(operand, Elements)]
        has_shape = [isinstance(value.type, ShapedType) for value in operation.results]
        if any(each != bool(shaped) for each in has_shape):
            raise NotInterpreted(operation.name)
        types = [_scalar_type(value.type, operation) for value in operation.operands]
        results = [_scalar_type(value.type, operation) for value in operation.results]
        if not shaped:
            return self._scalar(operation, operands, types, results)
        shape = shaped[0].shape
        has_other_results = not all(_may_have(value.type, shape) for value in operation.results)
        if has_other_results or any(each.shape != shape for each in shaped):
            raise NotInterpreted(f"{operation.name} of elements of different shapes")
        count = prod(shape)
        self.charge(count)
        columns = [
            operand.items if isinstance(operand, Elements) else [operand] * count
            for operand in operands
        ]
        rows = [self._scalar(operation, row, types, results) for row in zip(*columns, strict=True)]
        return [
            Elements(shape, [row[at] for row in rows], result) for at, result in enumerate(results)
        ]

    def _scalar(
        self,
        operation: Operation,
        operands: Sequence[Scalar],
        types: Sequence[IntegerType | FloatType],
        results: Sequence[IntegerType | FloatType],
    ) -> Sequence[Scalar]:
        """Apply a scalar operation; one that the domain does not have is an unknown function."""
        name = operation.name
        try:
            return self.domain.apply(name, operands, types, results, operation.attributes)
        except NotInterpreted:
            known = BY_NAME.get(name)
            may_trap = known is not None and known.is_division
            if not name.startswith(("arith.", "math.")) or may_trap:
                raise
        self.unknown.add(name)
        key = (name, str(sorted(operation.attributes.items())), *map(str, types))
        return self.domain.unknown(key, operands, results)

    def constant(self, value: object, type: Type) -> RuntimeValue:
        """Return a constant of an attribute.

        Raises:
            NotInterpreted: of a type or an attribute that has no meaning here.
        """
        if isinstance(type, IntegerType | FloatType) and isinstance(value, int | float):
            return self.domain.constant(value, type)
        if (
            isinstance(type, ShapedType)
            and isinstance(value, Dense)
            and isinstance(type.element, IntegerType | FloatType)
        ):
            element = type.element
            shape = tuple(size or 0 for size in type.shape)
            count = prod(shape)
            self.charge(count)
            items = [self.domain.constant(each, element) for each in value.values]
            return Elements(shape, items * count if value.is_splat else items, element)
        raise NotInterpreted(f"a constant of type {type}")


def elements(value: RuntimeValue, operation: Operation) -> Elements:
    """Return an operand that must be a vector, or a tensor.

    Raises:
        NotInterpreted: it is something else.
    """
    if not isinstance(value, Elements):
        kind = "tensor" if operation.name.startswith("tensor.") else "vector"
        raise NotInterpreted(f"{operation.name} of another value than a {kind}")
    return value


def _scalar_type(type: Type, operation: Operation) -> IntegerType | FloatType:
    element = type.element if isinstance(type, ShapedType) else type
    is_memory = isinstance(type, ShapedType) and type.kind == "memref"
    if isinstance(element, IntegerType | FloatType) and not is_memory:
        return element
    raise NotInterpreted(f"{operation.name} of {type}")


def _may_have(type: Type, shape: Sequence[int]) -> bool:
    """Whether elements of a type may have a shape."""
    sizes = type.shape if isinstance(type, ShapedType) else ()
    return len(sizes) == len(shape) and all(
        size in (None, here) for size, here in zip(sizes, shape, strict=True)
    )


@handles("arith.constant", "index.constant", "index.bool.constant", "llvm.mlir.constant")
def _constant(machine: Machine, operation: Operation) -> Results:
    return [machine.constant(operation.attributes.get("value"), operation.results[0].type)]
