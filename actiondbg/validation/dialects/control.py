"""Control: branches, loops and calls, and operations of which nothing is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import cast

from actiondbg.validation.dialects.elements import applied, compared, plain_element, poison_of
from actiondbg.validation.dialects.indices import mixed, numbers, slice_positions
from actiondbg.validation.dialects.memory import places, read
from actiondbg.validation.dialects.races import iterations
from actiondbg.validation.dialects.tensor import inserted_slice
from actiondbg.validation.domain import (
    NotInterpreted,
    OpenRace,
    Scalar,
    UndefinedBehaviour,
    UnknownEffect,
)
from actiondbg.validation.machine import (
    UNKNOWN,
    Aborted,
    Elements,
    Machine,
    MemRef,
    Opaque,
    Results,
    RuntimeValue,
    VisibleEvent,
    handles,
)
from actiondbg.validation.program import (
    Attribute,
    Dense,
    OpaqueAttribute,
    Operation,
    Symbol,
    Value,
    is_mutable,
)
from actiondbg.validation.types import INDEX, FloatType, IntegerType, ShapedType, Type

_NO_SIGNED_WRAP = {"overflowFlags": OpaqueAttribute("#arith.overflow<nsw>")}
_NO_UNSIGNED_WRAP = {"overflowFlags": OpaqueAttribute("#arith.overflow<nuw>")}

# --- branches ---


@handles("cf.br", "llvm.br")
def _branch(_: Machine, operation: Operation, *arguments: RuntimeValue) -> Results:
    return operation.successors[0], arguments


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
def _assert(machine: Machine, operation: Operation, condition: Scalar) -> Results:
    if machine.domain.decide(condition):
        return []
    text = str(operation.attributes.get("msg"))
    machine.happens(VisibleEvent("abort", (), text=text))
    raise Aborted


@handles("ub.poison", "llvm.mlir.poison")
def _poison(machine: Machine, operation: Operation) -> Results:
    value = operation.attributes.get("value")
    if value not in (None, OpaqueAttribute("#ub.poison")):
        raise NotInterpreted("ub.poison of some elements")
    return [poison_of(machine, operation.results[0].type)]


# --- regions ---


@handles("scf.if")
def _if(machine: Machine, operation: Operation, condition: Scalar) -> Results:
    region = operation.regions[0 if machine.domain.decide(condition) else 1]
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
def _for(machine: Machine, operation: Operation, *operands: RuntimeValue) -> Results:
    lower, upper, step, *carried = operands
    type = operation.operands[0].type
    assert isinstance(type, IntegerType)
    is_unsigned = bool(operation.attributes.get("unsignedCmp"))
    for variable in counted(machine, (lower, upper, step), type, is_unsigned=is_unsigned):
        carried = machine.region(operation.regions[0], [variable, *carried]).operands
    return carried


@handles("scf.while")
def _while(machine: Machine, operation: Operation, *carried: RuntimeValue) -> Results:
    before, after = operation.regions
    while True:
        machine.charge(1)
        condition, *passed = machine.region(before, carried).operands
        if not machine.domain.decide(condition):
            return passed
        carried = tuple(machine.region(after, passed).operands)


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
            # The regions of the reduction combine the results so far, and an iteration's values.
            parts = zip(ended.operation.regions, results, ended.operands, strict=True)
            results = [machine.region(region, pair).operands[0] for region, *pair in parts]
    return results


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


# --- calls ---


# Functions of MLIR's runner: they print, and neither change nor read anything else.
_PRINTING = frozenset(
    {
        *("printI64", "printU64", "printF32", "printF64", "printF16", "printBF16"),
        *("printOpen", "printClose", "printComma", "printNewline"),
    }
)
_PRINTS_MEMORY = "@printMemref"  # and the type of the elements


@handles("func.call", "llvm.call")
def _call(machine: Machine, operation: Operation) -> Results:
    callee = operation.attributes.get("callee")
    if not isinstance(callee, Symbol) or len(callee.path) != 1:
        raise NotInterpreted(f"{operation.name} of a function that is computed")
    operands, *bundles = operation.segments()
    if any(bundles) or "var_callee_type" in operation.attributes:
        raise NotInterpreted(f"{operation.name} of @{callee.path[0]} with other operands")
    return _called(machine, callee.path[0], operation, machine.all(operands))


@handles("func.constant")
def _function(_: Machine, operation: Operation) -> Results:
    symbol = operation.attributes.get("value")
    if not isinstance(symbol, Symbol) or len(symbol.path) != 1:
        raise NotInterpreted(operation.name)
    return [Opaque("function", symbol.path[0])]


@handles("func.call_indirect")
def _call_indirect(
    machine: Machine, operation: Operation, callee: RuntimeValue, *operands: RuntimeValue
) -> Results:
    if not isinstance(callee, Opaque) or callee.kind != "function":
        raise NotInterpreted(f"{operation.name} of an unknown function")
    return _called(machine, str(callee.value), operation, operands)


def _called(
    machine: Machine, symbol: str, operation: Operation, operands: Sequence[RuntimeValue]
) -> Results:
    function = machine.module.functions.get(symbol)
    if function is not None and function.body is not None:
        return machine.call(function, operands)
    return _outside(machine, f"@{symbol}", operation, operands)


def _outside(
    machine: Machine, name: str, operation: Operation, operands: Sequence[RuntimeValue]
) -> Results:
    """Have the world outside do something, and return what it returns.

    It sees all memory that it knows of, and may change it.
    """
    if name.startswith(_PRINTS_MEMORY) and not operation.results:
        return _print_memory(machine, name, operation, operands)
    scalars = _scalars(machine, name, operands)
    if name[1:] in _PRINTING and not operation.results:
        machine.happens(VisibleEvent(f"call {name}", tuple(operands)))
        return []
    for symbol, each in machine.module.others.items():
        if is_mutable(each):  # also a private one, by calling back
            raise NotInterpreted(f"{name} may change the global @{symbol}")
    machine.calls_outside += 1
    alive = [buffer for buffer in machine.escaped if buffer.is_alive]
    seen: list[Elements] = []
    for buffer in alive:
        machine.charge(len(buffer.items))
        seen.append(Elements((len(buffer.items),), tuple(buffer.items), buffer.element))
    machine.happens(VisibleEvent(f"call {name}", (*operands, *seen)))
    key = (name, machine.calls_outside, _shapes(operands))
    for number, buffer in enumerate(alive):
        element = plain_element(buffer.element)
        buffer.items[:] = machine.domain.unknown(
            (*key, "memory", number), scalars, [element] * len(buffer.items)
        )
    return _unknown_results(machine, name, key, operation, scalars)


def _print_memory(
    machine: Machine, name: str, operation: Operation, operands: Sequence[RuntimeValue]
) -> Results:
    """Print the elements of a view; its address, which is printed too, is left out."""
    view = operands[-1]
    if (
        not isinstance(view, MemRef)
        or len(operands) > 1
        or "vector" in str(operation.operands[-1].type)
    ):
        raise NotInterpreted(f"{name} of something else")
    items = [read(view, at) for at in places(machine, view)]
    printed = Elements(view.sizes, items, view.buffer.element)
    machine.happens(VisibleEvent(f"call {name}", (printed,)))
    return []


def _unknown_results(
    machine: Machine, name: str, key: object, operation: Operation, scalars: Sequence[Scalar]
) -> Results:
    results: list[RuntimeValue] = []
    for number, result in enumerate(operation.results):
        machine.unknown.add(name.partition(" ")[0])
        results.append(_unknown_value(machine, (key, number), result.type, scalars))
    return results


def _unknown_value(
    machine: Machine, key: object, type: Type, scalars: Sequence[Scalar]
) -> RuntimeValue:
    if isinstance(type, IntegerType | FloatType):
        (value,) = machine.domain.unknown((key, str(type)), scalars, [type])
        return value
    if not isinstance(type, ShapedType) or type.kind == "memref" or None in type.shape:
        raise NotInterpreted(f"an unknown value of type {type}")
    shape = tuple(size or 0 for size in type.shape)
    element = plain_element(type)
    machine.charge(prod(shape))
    types = [element] * prod(shape)
    return Elements(shape, machine.domain.unknown((key, str(type)), scalars, types), element)


def _scalars(machine: Machine, name: str, operands: Sequence[RuntimeValue]) -> list[Scalar]:
    found: list[Scalar] = []
    for operand in operands:
        if isinstance(operand, MemRef | Opaque):
            what = "memory" if isinstance(operand, MemRef) else "a value of a special type"
            raise UnknownEffect(f"{name} is given {what}, so that its effect is not known")
        items = operand.items if isinstance(operand, Elements) else [operand]
        machine.charge(len(items))
        for item in items:  # a complex number is a pair
            found.extend(cast("tuple[Scalar, ...]", item) if isinstance(item, tuple) else [item])
    return found


def _shapes(operands: Sequence[RuntimeValue]) -> tuple[tuple[int, ...], ...]:
    return tuple(each.shape if isinstance(each, Elements) else () for each in operands)


# --- operations that are not interpreted ---

_PURE_DIALECTS = frozenset({"arith", "math", "complex"})


@handles(UNKNOWN)
def _unknown(machine: Machine, operation: Operation, *operands: RuntimeValue) -> Results:
    name = operation.name
    if operation.regions or operation.successors or name.startswith("llvm."):
        raise NotInterpreted(name)
    if any(isinstance(each, Symbol) for each in operation.attributes.values()):
        raise NotInterpreted(name)
    machine.unknown.add(name)
    described = f"{name} {_described(operation.attributes)}"
    if name.partition(".")[0] not in _PURE_DIALECTS:
        return _outside(machine, described, operation, operands)
    scalars = _scalars(machine, name, operands)
    return _unknown_results(machine, name, (described, _shapes(operands)), operation, scalars)


def _described(attributes: Mapping[str, Attribute]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(attributes.items()))


# --- printing ---

_PUNCTUATION = frozenset({"newline", "comma", "open", "close"})


@handles("vector.print")
def _print(machine: Machine, operation: Operation) -> Results:
    """Print as the functions of MLIR's runner do, which it is lowered to."""
    text = operation.attributes.get("stringLiteral")
    if isinstance(text, str):
        machine.happens(VisibleEvent(f"print {text!r}", ()))
        return []
    if operation.operands:
        (operand,) = operation.operands
        value, element = machine.frame[operand], plain_element(operand.type)
        if isinstance(value, Elements):
            machine.charge(len(value.items))
            _print_row(machine, value.items, value.shape or (1,), element)
        else:
            _print_row(machine, [value], (), element)
    punctuation = str(operation.attributes.get("punctuation")).partition("<")[2].partition(">")[0]
    if punctuation in _PUNCTUATION:
        machine.happens(VisibleEvent(f"call @print{punctuation.capitalize()}", ()))
    return []


def _print_row(
    machine: Machine,
    items: Sequence[Scalar],
    shape: Sequence[int],
    element: IntegerType | FloatType,
) -> None:
    if not shape:
        machine.happens(_printed(machine, items[0], element))
        return
    machine.happens(VisibleEvent("call @printOpen", ()))
    count = len(items) // shape[0]
    for at in range(shape[0]):
        if at:
            machine.happens(VisibleEvent("call @printComma", ()))
        _print_row(machine, items[at * count : (at + 1) * count], shape[1:], element)
    machine.happens(VisibleEvent("call @printClose", ()))


def _printed(machine: Machine, value: Scalar, type: IntegerType | FloatType) -> VisibleEvent:
    if isinstance(type, FloatType):
        return _printed_float(machine, value, type)
    if type.is_index:
        return VisibleEvent("call @printU64", (value,))
    wide = IntegerType(64)
    if type.width > wide.width:
        raise NotInterpreted(f"vector.print of {type}")
    extend = "arith.extui" if type.width == 1 else "arith.extsi"
    if type.width < wide.width:
        (value,) = machine.domain.apply(extend, [value], [type], [wide], {})
    return VisibleEvent("call @printI64", (value,), wide)


def _printed_float(machine: Machine, value: Scalar, type: FloatType) -> VisibleEvent:
    if type.name in ("f32", "f64"):
        return VisibleEvent(f"call @print{type.name.upper()}", (value,))
    if type.name not in ("f16", "bf16"):
        raise NotInterpreted(f"vector.print of {type}")
    (bits,) = machine.domain.apply("arith.bitcast", [value], [type], [IntegerType(16)], {})
    return VisibleEvent(f"call @print{type.name.upper()}", (bits,))
