"""IREE's tuning specs: the lowerings of a program's roots, in the transform dialect."""

from __future__ import annotations

from collections.abc import Sequence

from actiondbg.kernels.providers.iree.lowering import Lowering
from actiondbg.kernels.providers.iree.model_roots import ModelRoot

_HEAD = """\
// Pass it to iree-compile by --iree-codegen-tuning-spec-path.
module @tuning_spec attributes {transform.with_named_sequence} {
  transform.named_sequence @apply_op_config(
      %op: !transform.any_op {transform.readonly},
      %config: !transform.any_param {transform.readonly}) {
    transform.annotate %op "compilation_info" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }
"""


def tuning_spec(tuned: Sequence[tuple[ModelRoot, Lowering]]) -> str:
    """Return the spec that gives roots their lowerings; each operation of its text is matched."""
    named = [(f"@match_{at}", root, lowering) for at, (root, lowering) in enumerate(tuned)]
    cases = ",\n        ".join(f"{name} -> @apply_op_config" for name, _, _ in named)
    return f"""{_HEAD}{"".join(_matcher(*each) for each in named)}
  transform.named_sequence @__kernel_config(
      %variant: !transform.any_op {{transform.consumed}}) -> !transform.any_op
      attributes {{iree_codegen.tuning_spec_entrypoint}} {{
    // A convolution of one image gets the dimension of its batch back, which drops its attributes.
    %functions = transform.structured.match ops{{["func.func"]}} in %variant
      : (!transform.any_op) -> !transform.any_op
    %batched = transform.apply_registered_pass
      "iree-codegen-insert-batch-dim-for-batchless-conv" to %functions
      : (!transform.any_op) -> !transform.any_op
    %module = "transform.get_parent_op"(%batched) <{{deduplicate, op_name = "builtin.module"}}>
      : (!transform.any_op) -> !transform.any_op
    %done = transform.foreach_match in %module
        {cases} : (!transform.any_op) -> !transform.any_op
    transform.yield %done : !transform.any_op
  }}
}}
"""


def _matcher(name: str, root: ModelRoot, lowering: Lowering) -> str:
    arguments = ", ".join(f"%arg{at}: {each}" for at, each in enumerate(root.types))
    text = root.text.replace("\n", "\n      ")
    return f"""
  transform.named_sequence {name}(%root: !transform.any_op {{transform.readonly}})
      -> (!transform.any_op, !transform.any_param) {{
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {{
    ^bb0({arguments}):
      %result = {text}
    }} : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    %config = transform.param.constant #iree_codegen.compilation_info<
      lowering_config = {lowering.lowering_config},
      translation_info = {lowering.translation_info}> -> !transform.any_param
    transform.yield %root, %config : !transform.any_op, !transform.any_param
  }}
"""
