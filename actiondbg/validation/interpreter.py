"""The interpreter with the meaning of all operations."""

from __future__ import annotations

from collections.abc import Sequence

from actiondbg.validation.dialects import (
    affine,
    calls,
    complex,
    control,
    linalg,
    memory,
    reductions,
    tensor,
    vector,
    vector_memory,
    vector_reductions,
    views,
)
from actiondbg.validation.domain import Domain
from actiondbg.validation.machine import Buffer, Machine, Outcome, RuntimeValue
from actiondbg.validation.program import Module

# Modules that register the meaning of operations when they are imported.
DIALECTS = (
    *(affine, calls, control, memory, reductions, views),
    *(complex, linalg, tensor, vector, vector_memory, vector_reductions),
)


def run_function(
    module: Module,
    symbol: str,
    arguments: Sequence[RuntimeValue],
    domain: Domain,
    *,
    steps: int = 200_000,
    entry_globals: dict[str, Buffer] | None = None,
    is_source: bool = False,
) -> Outcome:
    """Run a function of a module.

    Args:
        module: the program.
        symbol: of the function.
        arguments: of the function.
        domain: of the scalars.
        steps: the most operations that are run, and elements that are made.
        entry_globals: memory of globals at the beginning, by symbol.
        is_source: the program is the one before an action.

    Raises:
        UndefinedBehaviour: the run has none that is defined.
        NotInterpreted: it came to something that has no meaning here.
        OutOfBudget: it takes too long.
    """
    machine = Machine(module, domain, steps=steps, entry_globals=entry_globals, is_source=is_source)
    return machine.run(symbol, arguments)
