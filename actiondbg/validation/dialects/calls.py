"""Calls, and operations of which nothing is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import cast

from actiondbg.validation.dialects.memory import places, read
from actiondbg.validation.dialects.scalars import plain_element
from actiondbg.validation.domain import NotInterpreted, Scalar
from actiondbg.validation.machine import (
    UNKNOWN,
    Elements,
    Event,
    Machine,
    MemRef,
    Opaque,
    Results,
    RuntimeValue,
    handles,
)
from actiondbg.validation.program import Attribute, Operation, Symbol
from actiondbg.validation.types import FloatType, IntegerType, ShapedType, Type

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
def _call_indirect(machine: Machine, operation: Operation) -> Results:
    callee, *operands = machine.all(operation.operands)
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
        machine.happens(Event(f"call {name}", tuple(operands)))
        return []
    if any(each.name == "memref.global" for each in machine.module.others.values()):
        _check_globals(machine, name)
    machine.calls_outside += 1
    alive = [buffer for buffer in machine.escaped if buffer.is_alive]
    seen: list[Elements] = []
    for buffer in alive:
        machine.charge(len(buffer.items))
        seen.append(Elements((len(buffer.items),), tuple(buffer.items), buffer.element))
    machine.happens(Event(f"call {name}", (*operands, *seen)))
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
    machine.happens(Event(f"call {name}", (printed,)))
    return []


def _check_globals(machine: Machine, name: str) -> None:
    """Check that no global may be changed by the world outside.

    It may change a private one by calling back.
    """
    for symbol, operation in machine.module.others.items():
        is_constant = operation.attributes.get("constant")
        if operation.name == "memref.global" and not is_constant:
            raise NotInterpreted(f"{name} may change the global @{symbol}")


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
            raise NotInterpreted(f"{name} is given memory, or a value of a special type")
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
def _unknown(machine: Machine, operation: Operation) -> Results:
    name, operands = operation.name, machine.all(operation.operands)
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
        machine.happens(Event(f"print {text!r}", ()))
        return []
    if operation.operands:
        (operand,) = operation.operands
        _print_value(machine, machine.frame[operand], plain_element(operand.type))
    punctuation = str(operation.attributes.get("punctuation")).partition("<")[2].partition(">")[0]
    if punctuation in _PUNCTUATION:
        machine.happens(Event(f"call @print{punctuation.capitalize()}", ()))
    return []


def _print_value(machine: Machine, value: RuntimeValue, element: IntegerType | FloatType) -> None:
    if not isinstance(value, Elements):
        machine.happens(_printed(machine, value, element))
        return
    machine.charge(len(value.items))
    _print_row(machine, value.items, value.shape or (1,), element)


def _print_row(
    machine: Machine,
    items: Sequence[Scalar],
    shape: Sequence[int],
    element: IntegerType | FloatType,
) -> None:
    if not shape:
        machine.happens(_printed(machine, items[0], element))
        return
    machine.happens(Event("call @printOpen", ()))
    count = len(items) // shape[0]
    for at in range(shape[0]):
        if at:
            machine.happens(Event("call @printComma", ()))
        _print_row(machine, items[at * count : (at + 1) * count], shape[1:], element)
    machine.happens(Event("call @printClose", ()))


def _printed(machine: Machine, value: Scalar, type: IntegerType | FloatType) -> Event:
    if isinstance(type, FloatType):
        return _printed_float(machine, value, type)
    if type.is_index:
        return Event("call @printU64", (value,))
    wide = IntegerType(64)
    if type.width > wide.width:
        raise NotInterpreted(f"vector.print of {type}")
    extend = "arith.extui" if type.width == 1 else "arith.extsi"
    if type.width < wide.width:
        (value,) = machine.domain.apply(extend, [value], [type], [wide], {})
    return Event("call @printI64", (value,), wide)


def _printed_float(machine: Machine, value: Scalar, type: FloatType) -> Event:
    if type.name in ("f32", "f64"):
        return Event(f"call @print{type.name.upper()}", (value,))
    if type.name not in ("f16", "bf16"):
        raise NotInterpreted(f"vector.print of {type}")
    (bits,) = machine.domain.apply("arith.bitcast", [value], [type], [IntegerType(16)], {})
    return Event(f"call @print{type.name.upper()}", (bits,))
