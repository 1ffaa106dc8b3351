"""Units of generated code: loop nests, functions, dispatches and globals answer for operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import Trace, Tracking
from actiondbg.lineage.stage import Operation, Stage

_LOOPS = {  # by dialect
    "scf": frozenset({"for", "forall", "parallel", "while"}),
    "affine": frozenset({"for", "parallel"}),
    "omp": frozenset({"wsloop", "parallel", "loop_nest", "target", "teams"}),
    "acc": frozenset({"loop", "parallel", "kernels"}),
    "fir": frozenset({"do_loop", "iterate_while", "do_concurrent"}),
    "emitc": frozenset({"for"}),
    "gpu": frozenset({"launch"}),
}
_NO_NESTS = frozenset({"yield", "index"})  # of linalg
_FUNCTIONS = frozenset({"func", "ml_program.subgraph", "util.initializer"})
_GLOBALS = frozenset({"spirv.GlobalVariable", "cir.global"})
_EXECUTABLES = frozenset({"hal.executable", "flow.executable", "stream.executable", "gpu.func"})
_KERNEL = re.compile(
    r"\b(?:gpu\.kernel|nvvm\.kernel|rocdl\.kernel|(?:amdgpu|ptx|spir)_kernelcc"
    r"|spirv\.entry_point_abi)\b"
)
_PRIVATE = re.compile(r"\bprivate\b")


def is_loop(operation: Operation) -> bool:
    """Whether an operation is a loop, or an operation of linalg, which counts as a nest."""
    dialect, _, name = operation.name.partition(".")
    if dialect == "linalg":
        return name not in _NO_NESTS
    return name in _LOOPS.get(dialect, ())


def is_function(operation: Operation) -> bool:
    """Whether an operation is a function, of any dialect."""
    return operation.name.endswith(".func") or operation.name in _FUNCTIONS


def is_global(operation: Operation) -> bool:
    """Whether an operation is a global variable or constant, of any dialect."""
    return operation.name.endswith(".global") or operation.name in _GLOBALS


def is_dispatch(operation: Operation) -> bool:
    """Whether an operation is a kernel, or an executable around kernels."""
    if operation.name in _EXECUTABLES:
        return True
    if not is_function(operation):
        return False
    lines = operation.stage.text_lines
    first = lines[operation.line - 1]
    if operation.name == "tt.func":
        return not _PRIVATE.search(first)
    # The generic form has discardable attributes behind the regions.
    last = lines[operation.stage.last_lines[operation.index] - 1]
    return bool(_KERNEL.search(first) or _KERNEL.search(last))


def units_of(stage: Stage, level: Level) -> list[int]:
    """Return the unit of each operation of a stage.

    Args:
        stage: the operations.
        level: ``operation``: each is its own unit. ``loop``: the outermost loop around it.
            ``function``: the function. ``dispatch``: the kernel or executable. An operation
            outside loops and dispatches belongs to its function, and one outside functions to
            the global around it.

    Returns:
        For each operation the index of its unit; -1 for an operation, such as a module, outside
        all units.
    """
    if level == "operation":
        return list(range(len(stage)))
    functions = _outermost(stage, lambda one: is_function(one) or is_global(one))
    if level == "function":
        return functions
    inner = _outermost(stage, is_loop if level == "loop" else is_dispatch)
    return [one if one >= 0 else around for one, around in zip(inner, functions, strict=True)]


def unit_label(stage: Stage, unit: int) -> str:
    """Name a unit as users find it again: by its symbol, or its function and line."""
    if unit < 0:
        return ""
    operation = stage[unit]
    if operation.symbol:
        return f"@{operation.symbol}"
    around = function_of(operation)
    inside = f" in {around}" if around else ""
    return f"{operation.name}{inside} line {operation.line}"


def function_of(operation: Operation) -> str:
    """Return the symbol, with the ``@``, of the function or global around an operation."""
    for one in (operation, *operation.around):
        if one.symbol and (is_function(one) or is_global(one)):
            return f"@{one.symbol}"
    return ""


def roll_up(operations: Iterable[Operation], level: Level) -> list[Operation]:
    """Return the units that answer for operations, in the order of the text.

    A loop that is one of the operations answers for those inside it, even if a loop that is not
    one of them is around both: only the outermost loop made from a matmul answers for it. An
    operation outside all units of the level answers only where none is inside one.

    Args:
        operations: of one stage.
        level: see ``units_of``.
    """
    given = list(operations)
    if level == "operation" or not given:
        return given
    stage = given[0].stage
    is_unit = _test_of(stage, level)
    chosen = {operation.index for operation in given}
    found = {_answering(operation.index, stage, chosen, is_unit) for operation in given}
    found.discard(-1)
    if found:
        return [Operation(stage, index) for index in sorted(found)]
    return roll_up(given, "function") if level == "dispatch" else given


def answering_units(
    stage: Stage, level: Level
) -> Callable[[Sequence[int]], Iterable[tuple[int, list[int]]]]:
    """Return a function from indices of operations to the units that answer for them.

    They are those of ``roll_up``; an operation that is no unit stands for the unit around it,
    which ``units_of`` has. Each comes with the operations for which it answers.

    Args:
        stage: the operations.
        level: of the units.
    """
    if level == "operation":
        return lambda indices: ((one, [one]) for one in indices)
    around, is_unit = units_of(stage, level), _test_of(stage, level)

    def answer(indices: Sequence[int]) -> Iterable[tuple[int, list[int]]]:
        answers = {one.index for one in roll_up([Operation(stage, at) for at in indices], level)}
        members: dict[int, list[int]] = {}
        for index in indices:
            unit = _nearest(index, stage, answers)
            if unit >= 0:
                members.setdefault(unit if is_unit(unit) else around[unit], []).append(index)
        return members.items()

    return answer


def rolled_up(
    tracking: Tracking, level: Level, given: Iterable[Operation] | None = None
) -> Tracking:
    """Return a tracking whose traces lead to units; see ``roll_up``.

    Args:
        tracking: the traces.
        level: of the units.
        given: the operations for which the units answer; None for what the tracking reached.
    """
    if level == "operation" or not tracking.traces:
        return tracking
    stage = tracking.traces[0].operation.stage
    answering = roll_up(tracking.operations if given is None else given, level)
    units = {unit.index for unit in answering}
    # An exact trace shows more than one by locations, and a short one is easier to read.
    first: dict[int, tuple[bool, bool, int, int]] = {}
    for place, trace in enumerate(tracking.traces):
        unit = _nearest(trace.operation.index, stage, units)
        is_inside = trace.operation.index != unit
        key = (not trace.is_exact, is_inside, len(trace.steps), place)
        if unit >= 0 and (unit not in first or key < first[unit]):
            first[unit] = key
    traces: list[Trace] = []
    for unit, (_, is_inside, _, place) in sorted(first.items()):
        reached, steps, _ = tracking.traces[place]
        traces.append(Trace(Operation(stage, unit), steps, reached if is_inside else None))
    return tracking._replace(traces=tuple(traces))


def outermost(stage: Stage, indices: Iterable[int]) -> list[int]:
    """Return the outermost among some operations, in the order of the text."""
    given = sorted(indices)
    chosen = set(given)
    return [index for index in given if chosen.isdisjoint(stage.around(index))]


def innermost(stage: Stage, indices: Iterable[int]) -> list[int]:
    """Return the operations of some that are around no others of them, in the order of the text."""
    given = set(indices)
    return sorted(given.difference(*map(stage.around, given)))


def _test_of(stage: Stage, level: Level) -> Callable[[int], bool]:
    """Return whether the operation with an index is a unit, computed once for each."""
    tests: dict[Level, Callable[[Operation], bool]] = {
        "loop": lambda one: is_loop(one) or is_global(one),
        "function": lambda one: is_function(one) or is_global(one),
        "dispatch": is_dispatch,
    }
    test = tests[level]

    @cache
    def is_unit(index: int) -> bool:
        return test(Operation(stage, index))

    return is_unit


def _answering(index: int, stage: Stage, chosen: set[int], is_unit: Callable[[int], bool]) -> int:
    """Return the outermost unit around an operation: one of those chosen, or any; -1 for none."""
    units = [one for one in (index, *stage.around(index)) if is_unit(one)]
    mine = [one for one in units if one in chosen]
    return (mine or units or [-1])[-1]


def _nearest(index: int, stage: Stage, units: set[int]) -> int:
    return next((one for one in (index, *stage.around(index)) if one in units), -1)


def _outermost(stage: Stage, is_unit: Callable[[Operation], bool]) -> list[int]:
    """Return for each operation the outermost unit around it, or -1."""
    units: list[int] = []
    for operation, parent in zip(stage, stage.parents, strict=True):
        around = units[parent] if parent >= 0 else -1
        if around < 0 and is_unit(operation):
            around = operation.index
        units.append(around)
    return units
