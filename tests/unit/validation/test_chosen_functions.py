"""The judgement of some functions of a module, which the globs of ``--func`` choose."""

from __future__ import annotations

from actiondbg.validation.function_judgement import JudgementLimits, Query
from actiondbg.validation.module_judge import ModuleJudge


def _verdicts(before: str, after: str, *func: str) -> dict[str, str]:
    judge = ModuleJudge(JudgementLimits(seconds=5, func=func))
    return {each.symbol: each.verdict for each in judge.judge(Query(before, after))}


_CALLED = """\
func.func private @part(%x: i32) -> i32 {{
  %y = arith.{operation} %x, %x : i32
  return %y : i32
}}
func.func @whole(%x: i32) -> i32 {{
  %y = func.call @part(%x) : (i32) -> i32
  return %y : i32
}}
func.func @other(%x: i32) -> i32 {{
  %c = arith.constant {constant} : i32
  return %c : i32
}}
"""
_ADDS, _SUBTRACTS = (
    _CALLED.format(operation=operation, constant=constant)
    for operation, constant in (("addi", 1), ("subi", 2))
)


def test_only_chosen_functions_are_judged() -> None:
    whole = _verdicts(_ADDS, _SUBTRACTS)
    assert whole.keys() == {"part", "whole", "other"}
    assert _verdicts(_ADDS, _SUBTRACTS, "wh*") == {"whole": whole["whole"]}
    assert _verdicts(_ADDS, _SUBTRACTS, "wh*", "o?her").keys() == {"whole", "other"}


def test_a_private_function_is_as_its_callers_are() -> None:
    """They are judged for it, though they are not chosen: see the doubt of the next test."""
    for func in ((), ("part",)):
        assert _verdicts(_ADDS, _SUBTRACTS, *func)["part"] == "different"


def test_a_private_function_is_doubted_if_no_caller_differs() -> None:
    """The calls pass 0 only, as a pass may know."""
    zero = """\
func.func private @part(%x: i32) -> i32 {{
  {line}
  return %y : i32
}}
func.func @whole() -> i32 {{
  %zero = arith.constant 0 : i32
  %y = func.call @part(%zero) : (i32) -> i32
  return %y : i32
}}
"""
    before = zero.format(line="%y = arith.addi %x, %x : i32")
    after = zero.format(line="%y = arith.constant 0 : i32")
    for func in ((), ("part",)):
        assert _verdicts(before, after, *func)["part"] == "unknown"


def test_a_chosen_function_that_is_gone_is_not_known() -> None:
    """Its callers are judged in its place, if they are chosen."""
    inlined = """\
func.func @whole(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  return %y : i32
}
"""
    assert _verdicts(_ADDS, inlined, "part") == {"part": "unknown"}
    assert _verdicts(_ADDS, inlined, "part", "whole") == {"whole": "equivalent"}


def test_a_module_with_a_chosen_function_in_it_is_not_known() -> None:
    inner = """\
module @kernels {{
  func.func @inner() -> i32 {{
    %c = arith.constant {constant} : i32
    return %c : i32
  }}
}}
memref.global @table : memref<1xi32> = dense<{constant}>
"""
    before, after = (inner.format(constant=each) for each in (1, 2))
    assert _verdicts(before, after) == {"kernels": "unknown", "table": "unknown"}
    assert _verdicts(before, after, "inner") == {"kernels": "unknown"}
    assert _verdicts(before, after, "outer") == {}
