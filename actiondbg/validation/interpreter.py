"""The interpreter with the meaning of all operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from actiondbg.validation.dialects import affine, complex, control, memory, tensor, vector_memory
from actiondbg.validation.domain import Domain, NotInterpreted
from actiondbg.validation.machine import Buffer, FunctionOutcome, Machine, RuntimeValue
from actiondbg.validation.program import Module

# They, and the modules that they import, register the meaning of operations.
DIALECTS = (affine, complex, control, memory, tensor, vector_memory)


def run_function(
    module: Module,
    symbol: str,
    arguments: Sequence[RuntimeValue],
    domain: Domain,
    *,
    steps: int = 200_000,
    entry_globals: dict[str, Buffer] | None = None,
    shown: Iterable[str] = (),
) -> FunctionOutcome:
    """Run a function of a module; see ``Machine``.

    Args:
        module: the program.
        symbol: the function.
        arguments: what it is called with.
        domain: of the scalars.
        steps: the most operations that are run, and elements that are made.
        entry_globals: memory of globals at the beginning, by symbol; others have their initial
            values.
        shown: globals whose memory is in the outcome though the function may leave them alone.
    """
    machine = Machine(module, domain, steps, dict(entry_globals or {}))
    for name in shown:
        with suppress(NotInterpreted):  # a function that touches it raises it again
            memory.global_buffer(machine, name)
    return machine.run(symbol, arguments)
