"""Control: branches, loops and calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actiondbg.validation.dialects.indices import mixed, numbers, slice_positions
from actiondbg.validation.dialects.races import iterations
from actiondbg.validation.dialects.scalars import applied, compared, poison_of
from actiondbg.validation.dialects.tensor import inserted_slice
from actiondbg.validation.domain import NotInterpreted, OpenRace, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import (
    Aborted,
    Elements,
    Event,
    Machine,
    Results,
    RuntimeValue,
    Terminated,
    handles,
)
from actiondbg.validation.program import Dense, OpaqueAttribute, Operation, Value
from actiondbg.validation.types import INDEX, IntegerType

_NO_SIGNED_WRAP = {"overflowFlags": OpaqueAttribute("#arith.overflow<nsw>")}
_NO_UNSIGNED_WRAP = {"overflowFlags": OpaqueAttribute("#arith.overflow<nuw>")}

# --- branches ---


@handles("cf.br", "llvm.br")
def _branch(machine: Machine, operation: Operation) -> Results:
    return operation.successors[0], machine.all(operation.operands)


@handles("cf.cond_br", "llvm.cond_br")
def _conditional(machine: Machine, operation: Operation) -> Results:
    condition, *operands = operation.segments()
    at = 0 if machine.domain.decide(machine.frame[condition[0]]) else 1
    return operation.successors[at], machine.all(operands[at])


@handles("cf.switch", "llvm.switch")
def _switch(machine: Machine, operation: Operation) -> Results:
    (flag,), default, operands = operation.segments()
    cases = operation.attributes.get("case_values", ())
    sizes = numbers(operation.attributes.get("case_operand_segments", ()))
    if isinstance(cases, Dense):
        cases = cases.values * (len(operation.successors) - 1 if cases.is_splat else 1)
    case = _case(machine, flag, numbers(cases))
    if case is None:
        return operation.successors[0], machine.all(default)
    at = sum(sizes[:case])
    return operation.successors[1 + case], machine.all(operands[at : at + sizes[case]])


def _case(machine: Machine, flag: Value, cases: Sequence[int]) -> int | None:
    """Return which case a value is, None for the default; poison is undefined behaviour."""
    value, type = machine.frame[flag], flag.type
    assert isinstance(type, IntegerType)
    machine.domain.decide(compared(machine, "eq", value, value, type))
    for at, case in enumerate(cases):
        wanted = machine.domain.constant(case, type)
        if machine.domain.decide(compared(machine, "eq", value, wanted, type)):
            return at
    return None


@handles("ub.unreachable", "llvm.unreachable")
def _unreachable(_: Machine, operation: Operation) -> Results:
    raise UndefinedBehaviour(operation.name)


@handles("cf.assert")
def _assert(machine: Machine, operation: Operation) -> Results:
    if machine.domain.decide(machine.frame[operation.operands[0]]):
        return []
    machine.happens(Event("abort", ()))
    raise Aborted


@handles("ub.poison", "llvm.mlir.poison")
def _poison(machine: Machine, operation: Operation) -> Results:
    value = operation.attributes.get("value")
    if value not in (None, OpaqueAttribute("#ub.poison")):
        raise NotInterpreted("ub.poison of some elements")
    return [poison_of(machine, operation.results[0].type)]


# --- regions ---


@handles("scf.if")
def _if(machine: Machine, operation: Operation) -> Results:
    at = 0 if machine.domain.decide(machine.frame[operation.operands[0]]) else 1
    region = operation.regions[at]
    return machine.region(region, []).operands if region.blocks else []


@handles("scf.index_switch")
def _index_switch(machine: Machine, operation: Operation) -> Results:
    cases = numbers(operation.attributes.get("cases", ()))
    case = _case(machine, operation.operands[0], cases)
    region = operation.regions[0 if case is None else 1 + case]
    return machine.region(region, []).operands


@handles("scf.execute_region")
def _execute_region(machine: Machine, operation: Operation) -> Results:
    return machine.region(operation.regions[0], []).operands


def counted(
    machine: Machine,
    bounds: tuple[Scalar, Scalar, Scalar],
    type: IntegerType = INDEX,
    *,
    is_unsigned: bool = False,
) -> Iterator[Scalar]:
    """Yield the induction variable of a loop, by its lower bound, its upper one and its step.

    Where the variable wraps around, the loop has no defined behaviour: lowered, it goes on from
    there, but by its documentation it ends.

    Raises:
        UndefinedBehaviour: the step is not positive, or the variable wraps around.
    """
    variable, upper, step = bounds
    below = "ult" if is_unsigned else "slt"
    flags = _NO_UNSIGNED_WRAP if is_unsigned else _NO_SIGNED_WRAP
    zero = machine.domain.constant(0, type)
    if not machine.domain.decide(compared(machine, below, zero, step, type)):
        raise UndefinedBehaviour("the step of a loop is not positive")
    while machine.domain.decide(compared(machine, below, variable, upper, type)):
        machine.charge(1)
        yield variable
        variable = applied(machine, "arith.addi", (variable, step), type, attributes=flags)


@handles("scf.for")
def _for(machine: Machine, operation: Operation) -> Results:
    lower, upper, step, *carried = machine.all(operation.operands)
    type = operation.operands[0].type
    assert isinstance(type, IntegerType)
    is_unsigned = bool(operation.attributes.get("unsignedCmp"))
    for variable in counted(machine, (lower, upper, step), type, is_unsigned=is_unsigned):
        carried = machine.region(operation.regions[0], [variable, *carried]).operands
    return carried


@handles("scf.while")
def _while(machine: Machine, operation: Operation) -> Results:
    before, after = operation.regions
    carried = machine.all(operation.operands)
    while True:
        machine.charge(1)
        condition, *passed = machine.region(before, carried).operands
        if not machine.domain.decide(condition):
            return passed
        carried = machine.region(after, passed).operands


def nested(
    machine: Machine, loops: Sequence[tuple[Scalar, Scalar, Scalar]]
) -> Iterator[list[Scalar]]:
    """Yield the induction variables of loops in each other."""
    if not loops:
        yield []
        return
    for variable in counted(machine, loops[0]):
        for inner in nested(machine, loops[1:]):
            yield [variable, *inner]


@handles("scf.parallel")
def _parallel(machine: Machine, operation: Operation) -> Results:
    lower, upper, step, initial = (machine.all(segment) for segment in operation.segments())
    results = initial
    with iterations(machine, operation.name) as loop:
        for variables in nested(machine, list(zip(lower, upper, step, strict=True))):
            loop.current += 1
            ended = machine.region(operation.regions[0], variables)
            results = _combined(machine, ended, results)
    return results


def _combined(
    machine: Machine, ended: Terminated, results: Sequence[RuntimeValue]
) -> list[RuntimeValue]:
    """Return what the regions of a reduction make of results so far, and an iteration's values."""
    parts = zip(ended.operation.regions, results, ended.operands, strict=True)
    return [machine.region(region, [result, value]).operands[0] for region, result, value in parts]


@handles("scf.forall")
def _forall(machine: Machine, operation: Operation) -> Results:
    *dynamic, shared_outs = operation.segments()
    outs = machine.all(shared_outs)
    names = ("staticLowerBound", "staticUpperBound", "staticStep")
    bounds = [
        mixed(machine, operation.attributes.get(name), operands)
        for name, operands in zip(names, dynamic, strict=True)
    ]
    body = operation.regions[0]
    loops = list(zip(*bounds, strict=True))
    shared = body.blocks[0].arguments[len(loops) :]
    threads = _Threads(machine, dict(zip(shared, outs, strict=True)))
    with iterations(machine, operation.name) as loop:
        for variables in nested(machine, loops):
            loop.current += 1
            threads.insert(machine.region(body, [*variables, *outs]).operation)
    return list(threads.results.values())


class _Threads:
    """What the threads of ``scf.forall`` insert; each of them sees the tensors as they were."""

    def __init__(self, machine: Machine, results: dict[Value, Elements]) -> None:
        self._machine = machine
        self.results = results
        self._written: dict[Value, set[int]] = {each: set() for each in results}

    def insert(self, terminator: Operation) -> None:
        """Insert what a thread has at its end.

        Raises:
            OpenRace: another one has inserted there.
        """
        mine: dict[Value, set[int]] = {each: set() for each in self.results}
        for insertion in _insertions(terminator):
            tensor = insertion.operands[1]
            old = self.results[tensor]
            self.results[tensor] = inserted_slice(self._machine, insertion, old)
            _, places = slice_positions(self._machine, insertion, old.shape)
            mine[tensor].update(places)
        for tensor, places in mine.items():
            if places & self._written[tensor]:
                raise OpenRace("threads of scf.forall insert slices that overlap")
            self._written[tensor] |= places


def _insertions(terminator: Operation) -> Iterator[Operation]:
    for block in terminator.regions[0].blocks:
        for insertion in block.operations:
            if insertion.name != "tensor.parallel_insert_slice":
                raise NotInterpreted(insertion.name)
            yield insertion
