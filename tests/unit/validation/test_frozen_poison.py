"""``freeze`` of poison: each one chooses a value, the program before an action as it likes."""

from __future__ import annotations

import pytest

from actiondbg.validation.function_judgement import FunctionJudgement, JudgementLimits, Query
from actiondbg.validation.module_judge import ModuleJudge

_MAYBE = "%p = arith.addi %x, %y overflow<nsw> : i32"
_TURNED = "%q = arith.addi %y, %x overflow<nsw> : i32"
_ONE = "%a = llvm.freeze %p : i32"
_TWO = f"{_ONE}\n%b = llvm.freeze %p : i32"
_RETURN = "return %r : i32"
_ALIKE = f"%r = arith.subi %a, %a : i32\n{_RETURN}"
_APART = f"%r = arith.subi %a, %b : i32\n{_RETURN}"
_LOOP = """\
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c3 = arith.constant 3 : index
%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %x) -> i32 {{
  {inside}
  %new = arith.xori %sum, %a : i32
  scf.yield %new : i32
}}
return %r : i32
"""


def _function(*lines: str) -> str:
    body = "\n".join(lines)
    return f"func.func @f(%x: i32, %y: i32) -> i32 {{\n{body}\n}}"


def _judgement(before: str, after: str) -> FunctionJudgement:
    (found,) = ModuleJudge(JudgementLimits(seconds=10, inputs=24)).judge(Query(before, after))
    return found


_ALLOWED = {
    "two that become one": ((_MAYBE, _TWO, _APART), (_MAYBE, _ONE, _ALIKE)),
    "two that choose the same": (
        (_MAYBE, _TWO, _APART),
        ("%r = arith.constant 0 : i32", _RETURN),
    ),
    "two that stay two": (
        (_MAYBE, _TWO, "%r = arith.addi %a, %b : i32", _RETURN),
        (_MAYBE, _TWO, "%r = arith.addi %b, %a : i32", _RETURN),
    ),
    "one without the flag that makes poison": (
        (_MAYBE, _ONE, _ALIKE.replace("%a, %a", "%a, %x")),
        ("%a = arith.addi %x, %y : i32", _ALIKE.replace("%a, %a", "%a, %x")),
    ),
    "one before a loop": (
        (_MAYBE, _LOOP.format(inside=_ONE)),
        (_MAYBE, _ONE, _LOOP.format(inside="")),
    ),
}


@pytest.mark.parametrize("name", _ALLOWED)
def test_the_program_before_may_choose_as_the_one_after(name: str) -> None:
    before, after = _ALLOWED[name]
    found = _judgement(_function(*before), _function(*after))
    assert (found.verdict, found.evidence) == ("equivalent", "proof")


_OPEN = {
    "one that becomes two": ((_MAYBE, _ONE, _ALIKE), (_MAYBE, _TWO, _APART)),
    "one of constant poison that becomes two": (
        ("%p = ub.poison : i32", _ONE, _ALIKE),
        ("%p = ub.poison : i32", _TWO, _APART),
    ),
    "one that becomes two of equal values": (
        (_MAYBE, _ONE, _ALIKE),
        (_MAYBE, _TURNED, _ONE, "%b = llvm.freeze %q : i32", _APART),
    ),
    "one condition that becomes two": (
        (
            _MAYBE,
            "%c = arith.cmpi slt, %p, %x : i32\n%a = llvm.freeze %c : i1",
            "%s = arith.xori %a, %a : i1\n%r = arith.extui %s : i1 to i32",
            _RETURN,
        ),
        (
            _MAYBE,
            "%c = arith.cmpi slt, %p, %x : i32\n%a = llvm.freeze %c : i1\n%b = llvm.freeze %c : i1",
            "%s = arith.xori %a, %b : i1\n%r = arith.extui %s : i1 to i32",
            _RETURN,
        ),
    ),
    "one in each iteration of a loop": (
        (_MAYBE, _ONE, _LOOP.format(inside="")),
        (_MAYBE, _LOOP.format(inside=_ONE)),
    ),
    "one that is left out": ((_MAYBE, _ONE, "return %a : i32"), (_MAYBE, "return %p : i32")),
    # A real run makes 0 of poison: a difference is not confirmed by it.
    "one that chooses a constant": (
        ("%p = ub.poison : i32", _ONE, "return %a : i32"),
        ("%r = arith.constant 7 : i32", _RETURN),
    ),
}


@pytest.mark.parametrize("name", _OPEN)
def test_a_result_that_one_choice_does_not_allow_is_not_known(name: str) -> None:
    before, after = _OPEN[name]
    found = _judgement(_function(*before), _function(*after))
    assert found.verdict == "unknown"
    assert "freeze leaves a value of poison open" in found.detail


def test_what_the_action_freezes_is_any_number() -> None:
    sum = ("%a = arith.addi %x, %y : i32", "return %a : i32")
    found = _judgement(_function(*sum), _function(_MAYBE, _ONE, "return %a : i32"))
    assert found.verdict == "different"
