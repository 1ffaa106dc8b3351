"""Scopes and variables: the action, its outcome, changes and operation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from actiondbg.commands.dap.debuggee import Children, Debuggee
from actiondbg.commands.dap.handlers import request
from actiondbg.commands.dap.protocol import Arguments, Body, Scope, Variable
from actiondbg.commands.dap.requests.stack import FrameHandle
from actiondbg.commands.dap.server import Client
from actiondbg.commands.render.outcomes import change_line, outcome_lines, result_words
from actiondbg.commands.render.units import operation
from actiondbg.errors import ActiondbgError
from actiondbg.ir.attributes import attributes_of, operands_of

if TYPE_CHECKING:
    from actiondbg.protocol import Unit

_MOST_CHANGES = 1000
_ELIDED = 16  # elements of a constant
_MOST_OPERANDS = 100  # with their definitions; others are names


class ScopesArguments(Arguments, frozen=True):
    frame_id: int


class ScopesResponse(Body):
    scopes: list[Scope]


class VariablesArguments(Arguments, frozen=True):
    """A scope, or a variable that has parts; ``start`` and ``count`` select some of them."""

    variables_reference: int
    start: int = 0
    count: int = 0


class VariablesResponse(Body):
    variables: list[Variable]


@request("scopes")
def scopes(client: Client, arguments: ScopesArguments) -> ScopesResponse:
    """Return the groups of variables of a frame, which becomes the selected one."""
    debuggee = client.debuggee
    frame = debuggee.handles.get(arguments.frame_id, FrameHandle)
    if debuggee.session.stack.selected != frame.index:
        debuggee.session.stack.select(frame.index)
    stop = debuggee.stop
    readers: dict[str, Callable[[Debuggee], list[Variable]]] = {"Action": _action}
    if stop is not None and stop.outcome is not None and not frame.index:
        readers["Outcome"] = _outcome
    readers["Changes"] = _changes
    readers["Operation"] = _operation
    return ScopesResponse(
        scopes=[
            Scope(name=name, variables_reference=_reference(debuggee, read), expensive=False)
            for name, read in readers.items()
        ]
    )


@request("variables")
def variables(client: Client, arguments: VariablesArguments) -> VariablesResponse:
    """Return the variables of a scope, or the parts of a variable."""
    debuggee = client.debuggee
    found = debuggee.handles.get(arguments.variables_reference, Children).read()
    last = arguments.start + arguments.count if arguments.count else len(found)
    return VariablesResponse(variables=found[arguments.start : last])


def _reference(
    debuggee: Debuggee, read: Callable[[Debuggee], list[Variable]], id: int | None = None
) -> int:
    """Return a number for variables that are read later, of the cursor then, or of an operation."""

    def read_there() -> list[Variable]:
        with contextlib.nullcontext() if id is None else debuggee.session.cursor.at(f"@{id}"):
            return read(debuggee)

    return debuggee.handles.add(Children(read_there))


def leaf(name: str, value: object, evaluate: str | None = None) -> Variable:
    return Variable(name=name, value=str(value), variables_reference=0, evaluate_name=evaluate)


def _parent(debuggee: Debuggee, name: str, value: str, parts: list[Variable]) -> Variable:
    if not parts:
        return leaf(name, value)
    number = debuggee.handles.add(Children(lambda: parts))
    return Variable(name=name, value=value, variables_reference=number)


# --- what the scopes hold ---------------------------------------------------------


def _action(debuggee: Debuggee) -> list[Variable]:
    """Return the facts of the selected action; those that have to be printed are parts."""
    session = debuggee.session
    frame = session.stack.frames(units=False)[session.stack.selected]
    stop = debuggee.stop
    facts: dict[str, object] = {
        "action": f"#{frame.ordinal}",
        "tag": frame.tag,
        "name": frame.name,
        "depth": frame.depth,
        "operation": operation(frame.id, frame.op) if frame.op else None,
        "function": frame.function,
        "location": frame.location,
        "context": frame.context,
        "mlir": frame.mlir,
    }
    if stop is not None and not frame.index:
        facts |= {"when": stop.when, "pass": stop.pass_run, "event": stop.event}
    found = [leaf(name, value) for name, value in facts.items() if value is not None]
    number = _reference(debuggee, _details)
    found.append(Variable(name="details", value="...", variables_reference=number))
    return found


def _details(debuggee: Debuggee) -> list[Variable]:
    action = debuggee.session.stack.action()
    facts: dict[str, object] = {
        "full name": action.full_name,
        "labels": ", ".join(action.labels) or None,
        "iteration": action.iteration,
        "location": action.full_location,
        "text": action.text or None,
    }
    found = [leaf(name, value) for name, value in facts.items() if value is not None]
    units = [unit_variable(debuggee, str(at), each) for at, each in enumerate(action.units)]
    return [*found, _parent(debuggee, "units", f"{len(units)}", units)]


def unit_variable(debuggee: Debuggee, name: str, unit: Unit) -> Variable:
    """Return an IR unit as a variable; its parts are its definitions, users and attributes."""
    text = (unit.text or unit.name or unit.kind).strip()
    if unit.state != "alive":
        text = f"({unit.state}) {text}"
    if unit.id is None or unit.kind != "operation" or unit.state == "erased":
        return leaf(name, text)
    return Variable(
        name=name,
        value=text,
        variables_reference=_reference(debuggee, _operation, unit.id),
        type=unit.name,
        evaluate_name=f"@{unit.id}",
    )


def _outcome(debuggee: Debuggee) -> list[Variable]:
    stop = debuggee.stop
    if stop is None or stop.outcome is None:
        return []
    outcome = stop.outcome
    found = [leaf("result", result_words(outcome, stop.change_count))]
    found += [leaf(f"reason {at}", each) for at, each in enumerate(outcome.reasons)]
    if outcome.how:
        found += [leaf("how", line) for line in outcome_lines(outcome, stop.tag)[-1:]]
    return found


def _changes(debuggee: Debuggee) -> list[Variable]:
    found = debuggee.session.outcome.changes(limit=_MOST_CHANGES)
    stop = debuggee.stop
    ordinal = stop.ordinal if stop is not None else 0
    shown = [
        leaf(str(at), change_line(each, ordinal), None if each.id is None else f"@{each.id}")
        for at, each in enumerate(found.changes)
    ]
    if found.total > len(shown):
        shown.append(leaf("...", f"{found.total - len(shown)} more: info changes"))
    return shown


def _operation(debuggee: Debuggee) -> list[Variable]:
    session = debuggee.session
    unit = session.cursor.get().unit
    found = [leaf("text", (unit.text or unit.name or "").strip())]
    if unit.id is not None:
        found.append(leaf("id", f"@{unit.id}", f"@{unit.id}"))
    if unit.location:
        found.append(leaf("location", unit.location))
    if unit.kind != "operation" or debuggee.live is None:
        return found
    number = _reference(debuggee, _attributes, unit.id)
    found.append(Variable(name="attributes", value="...", variables_reference=number))
    found.append(_operands(debuggee, unit.id))
    users = session.cursor.users()
    parts = [unit_variable(debuggee, str(at), each) for at, each in enumerate(users)]
    found.append(_parent(debuggee, "users", f"{len(users)}", parts))
    return found


def _operands(debuggee: Debuggee, id: int | None) -> Variable:
    """Return the operands of the cursor's operation, which are looked up when they are shown."""
    names = operands_of(_generic(debuggee))
    if not names:
        return leaf("operands", "0")

    def read(debuggee: Debuggee) -> list[Variable]:
        first = enumerate(names[:_MOST_OPERANDS])
        shown = [_operand(debuggee, str(at), name) for at, name in first]
        rest = enumerate(names[_MOST_OPERANDS:], _MOST_OPERANDS)
        return [*shown, *(leaf(str(at), name, name) for at, name in rest)]

    number = _reference(debuggee, read, id)
    return Variable(name="operands", value=f"{len(names)}", variables_reference=number)


def _operand(debuggee: Debuggee, index: str, name: str) -> Variable:
    """Return an operand: the operation that defines it, or the block whose argument it is."""
    try:
        with debuggee.session.cursor.at(name) as cursor:
            unit = cursor.unit
    except ActiondbgError:
        return leaf(index, name)
    if unit.kind == "operation":
        made = unit_variable(debuggee, index, unit)
        if "#" in name:
            made.value = f"{name} of {made.value}"
        return made
    block = (unit.text or unit.kind).strip().removeprefix("block ")
    return leaf(index, f"{name}, an argument of {block.partition(',')[0]}", name)


def _attributes(debuggee: Debuggee) -> list[Variable]:
    return [leaf(name, value) for name, value in attributes_of(_generic(debuggee))]


def _generic(debuggee: Debuggee) -> str:
    """Return the cursor's operation in the generic form, without its regions."""
    ir = debuggee.session.ir
    with ir.print("cursor", generic=True, skip_regions=True, elide=_ELIDED) as printed:
        return printed.text
