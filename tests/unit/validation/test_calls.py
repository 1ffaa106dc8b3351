"""Calls: of functions in the module, and of the world outside."""

from __future__ import annotations

import pytest

from actiondbg.validation.agreement import FunctionRun, disagreement
from actiondbg.validation.concrete import Concrete
from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.function_judgement import JudgementLimits, Query
from actiondbg.validation.inputs import Input, View, materialize
from actiondbg.validation.interpreter import run_function
from actiondbg.validation.machine import Elements
from actiondbg.validation.module_judge import ModuleJudge
from actiondbg.validation.program import Module
from actiondbg.validation.program_reader import ProgramReader
from actiondbg.validation.strictness import strictness

_OUTSIDE = "func.func private @outside(i32) -> i32\nfunc.func private @look()\n"
_ONCE = """\
func.func @f(%x: i32) -> i32 {
  %a = func.call @outside(%x) : (i32) -> i32
  %b = arith.muli %a, %a : i32
  return %b : i32
}
"""
_TWICE = """\
func.func @f(%x: i32) -> i32 {
  %a = func.call @outside(%x) : (i32) -> i32
  %c = func.call @outside(%x) : (i32) -> i32
  %b = arith.muli %a, %c : i32
  return %b : i32
}
"""


def _run(module: Module, input: Input) -> FunctionRun:
    function = module.functions["f"]
    domain = Concrete()
    arguments, memory = materialize(input, function.inputs, domain.constant)
    return FunctionRun(run_function(module, "f", arguments, domain), memory, function.results)


def _difference(before: str, after: str, input: Input) -> str | None:
    reader = ProgramReader()
    old, new = reader.read(before), reader.read(after)
    agreement = strictness(old, new, "f")
    return disagreement(_run(old, input), _run(new, input), agreement)


def test_an_outside_function_is_the_same_in_both_programs() -> None:
    renamed = _ONCE.replace("%a", "%other").replace("%b", "%product")
    assert _difference(_OUTSIDE + _ONCE, _OUTSIDE + renamed, Input((7,))) is None


def test_an_outside_call_may_not_be_dropped_or_repeated() -> None:
    assert _difference(_OUTSIDE + _ONCE, _OUTSIDE + _TWICE, Input((7,))) is not None
    assert _difference(_OUTSIDE + _TWICE, _OUTSIDE + _ONCE, Input((7,))) is not None


def test_an_outside_call_gets_the_same_operands() -> None:
    other = _ONCE.replace("@outside(%x)", "@outside(%y)").replace(
        "  %a", "  %y = arith.addi %x, %x : i32\n  %a", 1
    )
    assert _difference(_OUTSIDE + _ONCE, _OUTSIDE + other, Input((7,))) is not None
    assert _difference(_OUTSIDE + _ONCE, _OUTSIDE + other, Input((0,))) is None


_LOAD_AFTER = """\
func.func @f(%m: memref<2xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  func.call @look() : () -> ()
  %x = memref.load %m[%c0] : memref<2xi32>
  return %x : i32
}
"""
_LOAD_BEFORE = """\
func.func @f(%m: memref<2xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %x = memref.load %m[%c0] : memref<2xi32>
  func.call @look() : () -> ()
  return %x : i32
}
"""
_MEMORY = Input((View(0, 0, (2,), (1,)),), ((5, 6),))


def test_an_outside_call_may_change_memory_of_the_caller() -> None:
    assert _difference(_OUTSIDE + _LOAD_AFTER, _OUTSIDE + _LOAD_AFTER, _MEMORY) is None
    assert _difference(_OUTSIDE + _LOAD_AFTER, _OUTSIDE + _LOAD_BEFORE, _MEMORY) is not None


def test_an_outside_call_sees_what_was_stored() -> None:
    store = _LOAD_AFTER.replace(
        "  func.call",
        "  %n = arith.constant 9 : i32\n  memref.store %n, %m[%c0] : memref<2xi32>\n  func.call",
    )
    assert _difference(_OUTSIDE + store, _OUTSIDE + _LOAD_AFTER, _MEMORY) is not None


def test_memory_of_the_function_is_its_own() -> None:
    own = """\
func.func @f(%x: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %new = memref.alloc() : memref<1xi32>
  memref.store %x, %new[%c0] : memref<1xi32>
  func.call @look() : () -> ()
  %y = memref.load %new[%c0] : memref<1xi32>
  return %y : i32
}
"""
    known = "func.func @f(%x: i32) -> i32 {\n  func.call @look() : () -> ()\n  return %x : i32\n}\n"
    assert _difference(_OUTSIDE + own, _OUTSIDE + known, Input((7,))) is None


def test_globals_may_change_outside() -> None:
    state = 'memref.global "private" @state : memref<1xi32> = dense<3>\n'
    module = ProgramReader().read(state + _OUTSIDE + _ONCE)
    with pytest.raises(NotInterpreted, match="state"):
        _run(module, Input((7,)))
    module = ProgramReader().read(
        state.replace('"private"', '"private" constant') + _OUTSIDE + _ONCE
    )
    assert len(_run(module, Input((7,))).outcome.events) == 1


def test_a_function_is_called_by_its_value() -> None:
    text = """\
func.func private @triple(%x: i32) -> i32 {
  %three = arith.constant 3 : i32
  %y = arith.muli %x, %three : i32
  return %y : i32
}
func.func @f(%x: i32) -> i32 {
  %function = func.constant @triple : (i32) -> i32
  %y = func.call_indirect %function(%x) : (i32) -> i32
  return %y : i32
}
"""
    assert _run(ProgramReader().read(text), Input((7,))).outcome.results == (21,)


def test_operations_of_unknown_dialects_are_events() -> None:
    before = """\
func.func @f(%x: i32) -> i32 {
  %y = "test.mystery"(%x) {level = 1 : i32} : (i32) -> i32
  return %y : i32
}
"""
    other = before.replace("level = 1", "level = 2")
    run = _run(ProgramReader().read(before), Input((7,)))
    assert run.outcome.unknown == {"test.mystery"}
    assert _difference(before, before, Input((7,))) is None
    assert _difference(before, other, Input((7,))) is not None


def test_owned_memory_is_freed_once_and_not_if_it_is_retained() -> None:
    text = """\
func.func @f(%owned: i1) -> (i1, i32) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %true = arith.constant true
  %kept = memref.alloc() : memref<1xi32>
  %gone = memref.alloc() : memref<1xi32>
  memref.store %one, %kept[%c0] : memref<1xi32>
  %owns = bufferization.dealloc (%kept, %gone, %gone : memref<1xi32>, memref<1xi32>, memref<1xi32>)
    if (%owned, %true, %true) retain (%kept : memref<1xi32>)
  %x = memref.load %kept[%c0] : memref<1xi32>
  return %owns, %x : i1, i32
}
"""
    module = ProgramReader().read(text)
    assert _run(module, Input((1,))).outcome.results == (1, 1)
    assert _run(module, Input((0,))).outcome.results == (0, 1)


def test_printed_memory_is_compared_by_its_elements() -> None:
    text = """\
func.func private @printMemrefI32(memref<*xi32>)
func.func @f(%m: memref<2xi32>) {
  %c1 = arith.constant 1 : index
  %six = arith.constant 6 : i32
  memref.store %six, %m[%c1] : memref<2xi32>
  %any = memref.cast %m : memref<2xi32> to memref<*xi32>
  func.call @printMemrefI32(%any) : (memref<*xi32>) -> ()
  return
}
"""
    printed = _run(ProgramReader().read(text), _MEMORY).outcome.events[0].operands[0]
    assert isinstance(printed, Elements)
    assert list(printed.items) == [5, 6]
    without = text.replace("  memref.store %six, %m[%c1] : memref<2xi32>\n", "")
    later = Input(_MEMORY.arguments, ((5, 0),))
    assert _difference(text, text, later) is None
    assert _difference(text, without, later) is not None


def test_printed_numbers_are_shown_as_they_are_printed() -> None:
    text = "func.func @f() {\n  %c = arith.constant -1 : i32\n  vector.print %c : i32\n  return\n}"
    found = _difference(text, text.replace("-1", "1"), Input(()))
    assert found == "event 0, call @printI64: -1 before, 1 after"


_GLOBAL = """\
memref.global {visibility} @g : memref<1xf32> = dense<7.0>
func.func @f(%x: f32) {{
  %c0 = arith.constant 0 : index
  %y = math.exp %x : f32
  {lines}
  return
}}
{reader}
"""
_READER = """\
func.func @reader() -> memref<1xf32> {
  %g = memref.get_global @g : memref<1xf32>
  return %g : memref<1xf32>
}
"""


@pytest.mark.parametrize(
    ("visibility", "reader", "is_seen"),
    [("", "", True), ('"private"', _READER, True), ('"private"', "", False)],
)
def test_a_store_to_a_global_is_missed(visibility: str, reader: str, is_seen: bool) -> None:
    """But not one to a private global that nobody reads."""
    store = """%g = memref.get_global @g : memref<1xf32>
  memref.store %y, %g[%c0] : memref<1xf32>"""
    before, after = (
        _GLOBAL.format(visibility=visibility, reader=reader, lines=each) for each in (store, "")
    )
    (found,) = ModuleJudge(JudgementLimits(seconds=5)).judge(Query(before, after))
    assert ("global @g" in found.detail) == is_seen
    assert found.verdict == ("unknown" if is_seen else "equivalent"), found.detail


def test_two_results_that_become_the_same_memory() -> None:
    text = """\
func.func @f() -> (memref<1xi32>, memref<1xi32>) {{
  %a = memref.alloc() : memref<1xi32>
  %b = memref.alloc() : memref<1xi32>
  return %a, %{second} : memref<1xi32>, memref<1xi32>
}}
"""
    same, apart = text.format(second="a"), text.format(second="b")
    for before, after in ((same, apart), (apart, same)):
        (found,) = ModuleJudge(JudgementLimits(seconds=5)).judge(Query(before, after))
        assert found.verdict == "unknown"  # no real run shows it here
        assert "result 1 shares" in found.detail


def test_a_function_outside_that_is_given_memory_may_change_it() -> None:
    text = """
func.func private @outside(memref<4xi32>)
func.func @f(%m: memref<4xi32>, %n: memref<4xi32>) -> i32 {{
  %c0 = arith.constant 0 : index
  func.call @outside(%m) : (memref<4xi32>) -> ()
  %r = memref.load {read}[%c0] : memref<4xi32>
  return %r : i32
}}
"""
    before, after = (text.format(read=each) for each in ("%m", "%n"))
    (found,) = ModuleJudge(JudgementLimits()).judge(Query(before, after))
    assert (found.verdict, found.detail) == (
        "unknown",
        "@outside is given memory, so that its effect is not known",
    )
