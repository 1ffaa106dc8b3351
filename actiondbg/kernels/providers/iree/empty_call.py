"""The function of a module that does nothing: what a call of IREE's runtime takes."""

from __future__ import annotations

from actiondbg.kernels.model.operation import Operation

EMPTY_CALL = "actiondbg_empty_call"


def empty_call(operation: Operation) -> str:
    """Return the MLIR of a function with the signature of an operation's.

    As the operation's function does, it checks its operands, allocates the result and runs one
    dispatch, which computes nothing.
    """
    operands = [f"%{each.name}: {each.mlir}" for each in operation.inputs]
    names = [f"%{each.name}" for each in operation.inputs]
    types = ", ".join(each.mlir for each in operation.inputs)
    used = f"  %used:{len(names)} = util.optimization_barrier {', '.join(names)} : {types}\n"
    result = operation.result.mlir
    return f"""func.func @{EMPTY_CALL}({", ".join(operands)}) -> {result} {{
{used if names else ""}  %out = tensor.empty() : {result}
  %same = flow.dispatch.region -> ({result}) {{
    flow.return %out : {result}
  }}
  return %same : {result}
}}
"""
