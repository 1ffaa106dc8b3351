"""The signature of a program's function."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actiondbg.errors import UsageError
from actiondbg.kernels.errors import NoReference
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.programs.bindings import parse_program
from actiondbg.kernels.programs.extraction import tensor_of

if TYPE_CHECKING:
    from mlir.ir import Operation  # pyright: ignore[reportMissingTypeStubs]


@dataclass(frozen=True)
class Signature:
    """A function with what it takes and returns.

    Attributes:
        name: of the function.
        inputs: the operands.
        results: the results, at least one.
    """

    name: str
    inputs: tuple[Tensor, ...]
    results: tuple[Tensor, ...]


def entry_signature(program: Path, name: str = "") -> Signature:
    """Return the signature of a program's public function.

    Args:
        program: an MLIR file.
        name: of the function; "" if there is only one.

    Raises:
        UsageError: there is no such function, or more than one without a name, or its operands are
            not tensors of element types that kernels have.
    """
    module = parse_program(program.read_text(), str(program))
    functions = [view.operation for view in module.body.operations]
    public = {_name(each): each for each in functions if _is_public(each)}
    chosen = {each: function for each, function in public.items() if name in ("", each)}
    if len(chosen) != 1:
        has = ", ".join(public) or "none"
        wanted = f"public function {name}" if name else "single public function"
        raise UsageError(f"{program} has no {wanted} (it has {has}): name one with --function.")
    ((found, function),) = chosen.items()
    kind: Any = function.attributes["function_type"]
    try:
        return Signature(
            found,
            tuple(tensor_of(f"arg{at}", each) for at, each in enumerate(kind.value.inputs)),
            tuple(tensor_of(f"result{at}", each) for at, each in enumerate(kind.value.results)),
        )
    except NoReference as error:
        raise UsageError(f"The function {found} of {program} cannot be called: {error}") from error


def _is_public(operation: Operation) -> bool:
    attributes = operation.attributes
    visibility = str(attributes["sym_visibility"]) if "sym_visibility" in attributes else ""
    return operation.name == "func.func" and visibility.strip('"') in ("", "public")


def _name(function: Operation) -> str:
    return str(function.attributes["sym_name"]).strip('"')
