"""Control and memory: where the documentation says that a program has no defined behaviour."""

from __future__ import annotations

import pytest

from actiondbg.validation.concrete import Concrete
from actiondbg.validation.domain import POISON, NotInterpreted, OutOfBudget, UndefinedBehaviour
from actiondbg.validation.interpreter import run_function
from actiondbg.validation.machine import FunctionOutcome
from actiondbg.validation.program_reader import ProgramReader

_CONSTANTS = """\
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %minus = arith.constant -1 : index
  %one = arith.constant 1 : i32
  %true = arith.constant true
  %false = arith.constant false
  %poison = ub.poison : i1
  %nowhere = ub.poison : index
  %memory = memref.alloc() : memref<4xi32>
  affine.for %i = 0 to 4 {
    affine.store %one, %memory[%i] : memref<4xi32>
  }
"""


def _run(body: str, *, results: str = "", rest: str = "", steps: int = 20_000) -> FunctionOutcome:
    arrow = f" -> {results}" if results else ""
    ending = "" if "return" in body else "  return\n"
    text = f"{rest}\nfunc.func @f(){arrow} {{\n{_CONSTANTS}{body}\n{ending}}}\n"
    domain = Concrete(is_source=False)
    return run_function(ProgramReader().read(text), "f", [], domain, steps=steps)


_UNDEFINED = {
    "a branch on poison": "cf.cond_br %poison, ^a, ^a\n^a:",
    "an if on poison": "scf.if %poison { }",
    "a bound that is poison": "scf.for %i = %c0 to %nowhere step %c1 { }",
    "a switch on poison without cases": "cf.switch %n : i32, [default: ^a]\n^a:",
    "a step of zero": "scf.for %i = %c0 to %c4 step %c0 { }",
    "a negative step": "scf.for %i = %c0 to %c4 step %minus { }",
    "a parallel step of zero": (
        "%zero = arith.subi %c1, %c1 : index\nscf.parallel (%i) = (%c0) to (%c4) step (%zero) { }"
    ),
    "unreachable": "func.call @g() : () -> ()",
    "a quotient of poison by -1": "%x = arith.divsi %nowhere, %minus : index",
    "a rounded quotient of poison by -1": "%x = arith.ceildivsi %nowhere, %minus : index",
    "a power of 0 to poison": "%z = arith.constant 0 : i32\n%x = math.ipowi %z, %n : i32",
    "a negative power of poison": "%z = arith.constant -1 : i32\n%x = math.ipowi %n, %z : i32",
    "a load beyond the end": "%x = memref.load %memory[%c4] : memref<4xi32>",
    "a load before the start": "%x = memref.load %memory[%minus] : memref<4xi32>",
    "a load at poison": "%x = memref.load %memory[%nowhere] : memref<4xi32>",
    "a store beyond the end": "memref.store %one, %memory[%c4] : memref<4xi32>",
    "an affine load beyond the end": "%x = affine.load %memory[%c2 + 2] : memref<4xi32>",
    "an affine vector load beyond the end": (
        "%x = affine.vector_load %memory[%c2 + 1] : memref<4xi32>, vector<2xi32>"
    ),
    "a load after dealloc": (
        "memref.dealloc %memory : memref<4xi32>\n%x = memref.load %memory[%c0] : memref<4xi32>"
    ),
    "a second dealloc": (
        "memref.dealloc %memory : memref<4xi32>\nmemref.dealloc %memory : memref<4xi32>"
    ),
    "a load after realloc": (
        "%new = memref.realloc %memory : memref<4xi32> to memref<6xi32>\n"
        "%x = memref.load %memory[%c0] : memref<4xi32>"
    ),
    "a cast to another size": (
        "%any = memref.cast %memory : memref<4xi32> to memref<?xi32>\n"
        "%five = memref.cast %any : memref<?xi32> to memref<5xi32>\n"
        "%x = memref.load %five[%c0] : memref<5xi32>"
    ),
    "a window beyond the end": (
        "%window = memref.subview %memory[%c2] [3] [1] "
        ": memref<4xi32> to memref<3xi32, strided<[1], offset: ?>>\n"
        "%x = memref.load %window[%c0] : memref<3xi32, strided<[1], offset: ?>>"
    ),
    "a copy to another size": (
        "%any = memref.cast %memory : memref<4xi32> to memref<?xi32>\n"
        "%less = memref.alloc(%c2) : memref<?xi32>\n"
        "memref.copy %any, %less : memref<?xi32> to memref<?xi32>"
    ),
    "a negative size": "%new = memref.alloc(%minus) : memref<?xi32>",
    "a dimension that is not there": "%x = memref.dim %memory, %c1 : memref<4xi32>",
    "an affine division by zero": (
        "%x = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%c4)[%c0]\n"
        "%y = memref.load %memory[%x] : memref<4xi32>"
    ),
    "a basis of zero": (
        "%x:2 = affine.delinearize_index %c4 into (%c1, %c0) : index, index\n"
        "%y = memref.load %memory[%x#1] : memref<4xi32>"
    ),
    "indices that are not disjoint": (
        "%x = affine.linearize_index disjoint [%c0, %c4] by (2, 3) : index\n"
        "%y = memref.dim %memory, %x : memref<4xi32>"
    ),
    "iterations that race": (
        "scf.parallel (%i) = (%c0) to (%c4) step (%c1) {\n"
        "memref.store %one, %memory[%c0] : memref<4xi32>\n}"
    ),
    "an iteration that reads what another one writes": (
        "scf.parallel (%i) = (%c0) to (%c2) step (%c1) {\n"
        "%x = memref.load %memory[%c0] : memref<4xi32>\n"
        "memref.store %x, %memory[%i] : memref<4xi32>\n}"
    ),
}


@pytest.mark.parametrize("name", _UNDEFINED)
def test_behaviour_is_undefined(name: str) -> None:
    body = "%n = ub.poison : i32\n" + _UNDEFINED[name]
    with pytest.raises(UndefinedBehaviour):
        _run(body, rest=_UNREACHABLE)


_UNREACHABLE = "func.func private @g() {\n  ub.unreachable\n}"


def test_an_affine_division_by_zero_is_poison_if_nobody_needs_it() -> None:
    body = """\
  %x = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%c4)[%c0]
  %y = affine.apply affine_map<(d0)[s0] -> (d0 ceildiv s0)>(%c4)[%c4]
  return %x, %y : index, index
"""
    assert _run(body, results="(index, index)").results == (POISON, 1)


def test_a_window_beyond_the_end_is_harmless_if_nobody_looks_through_it() -> None:
    body = """\
  %window = memref.subview %memory[%c2] [%c4] [1]
    : memref<4xi32> to memref<?xi32, strided<[1], offset: ?>>
  %size = memref.dim %window, %c0 : memref<?xi32, strided<[1], offset: ?>>
  return %size : index
"""
    assert _run(body, results="index").results == (4,)


def test_a_loop_that_wraps_around_is_undefined() -> None:
    body = """\
  %low = arith.constant 100 : i8
  %high = arith.constant 127 : i8
  %step = arith.constant 20 : i8
  scf.for %i = %low to %high step %step : i8 { }
"""
    with pytest.raises(UndefinedBehaviour):
        _run(body)


def test_memory_of_the_stack_dies_with_its_function() -> None:
    callee = """\
func.func private @g() -> memref<1xi32> {
  %new = memref.alloca() : memref<1xi32>
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  memref.store %one, %new[%c0] : memref<1xi32>
  return %new : memref<1xi32>
}
"""
    call = "%old = func.call @g() : () -> memref<1xi32>\n"
    assert _run(call, rest=callee).results == ()
    with pytest.raises(UndefinedBehaviour):
        _run(call + "%x = memref.load %old[%c0] : memref<1xi32>", rest=callee)


def test_constant_memory_is_not_written() -> None:
    table = 'memref.global "private" constant @table : memref<2xi32> = dense<[5, 6]>'
    get = "%table = memref.get_global @table : memref<2xi32>\n"
    read = "%x = memref.load %table[%c1] : memref<2xi32>\nreturn %x : i32"
    assert _run(get + read, rest=table, results="i32").results == (6,)
    with pytest.raises(UndefinedBehaviour):
        _run(get + "memref.store %one, %table[%c0] : memref<2xi32>", rest=table)


def test_memory_that_was_never_written_is_poison() -> None:
    new = "%new = memref.alloc() : memref<2xi32>\n"
    read = "%x = memref.load %new[%c1] : memref<2xi32>\nreturn %x : i32"
    assert _run(new + read, results="i32").results == (POISON,)
    written = new + "memref.store %one, %new[%c1] : memref<2xi32>\n"
    assert _run(written + read, results="i32").results == (1,)


def test_a_realloc_keeps_what_fits() -> None:
    body = """\
  %new = memref.realloc %memory : memref<4xi32> to memref<6xi32>
  %c5 = arith.constant 5 : index
  %kept = memref.load %new[%c1] : memref<6xi32>
  %fresh = memref.load %new[%c5] : memref<6xi32>
  return %kept, %fresh : i32, i32
"""
    assert _run(body, results="(i32, i32)").results == (1, POISON)


def test_iterations_may_share_what_they_only_read() -> None:
    body = """\
  scf.parallel (%i) = (%c1) to (%c4) step (%c1) {
    %x = memref.load %memory[%c0] : memref<4xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %memory[%i] : memref<4xi32>
  }
  %first = memref.load %memory[%c0] : memref<4xi32>
  %last = memref.load %memory[%c2] : memref<4xi32>
  return %first, %last : i32, i32
"""
    assert _run(body, results="(i32, i32)").results == (1, 2)


def test_atomic_changes_do_not_race() -> None:
    body = """\
  affine.parallel (%i) = (0) to (5) {
    %new = memref.atomic_rmw addi %one, %memory[%c0] : (i32, memref<4xi32>) -> i32
  }
  %x = memref.load %memory[%c0] : memref<4xi32>
  return %x : i32
"""
    assert _run(body, results="i32").results == (6,)


def test_a_failed_assertion_ends_the_program() -> None:
    body = 'vector.print %c1 : index\ncf.assert %false, "no"\nvector.print %c2 : index'
    outcome = _run(body)
    assert outcome.is_aborted
    kinds = [event.kind for event in outcome.events]
    assert kinds == ["call @printU64", "call @printNewline", "abort"]
    assert not _run('cf.assert %true, "yes"').is_aborted


_OPEN = {
    "events in a parallel loop": (
        "scf.parallel (%i) = (%c0) to (%c4) step (%c1) {\nvector.print %i : index\n}"
    ),
    "threads that write to the same memory": (
        "scf.forall (%i) in (3) {\nmemref.store %one, %memory[%c0] : memref<4xi32>\n}"
    ),
    "slices of threads that overlap": """\
  %start = arith.constant dense<0> : tensor<4xi32>
  %two = arith.constant dense<[1, 2]> : tensor<2xi32>
  %r = scf.forall (%i) in (2) shared_outs(%out = %start) -> (tensor<4xi32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %two into %out[%i] [2] [1] : tensor<2xi32> into tensor<4xi32>
    }
  }
""",
    "the result of an atomic change": (
        "%old = memref.atomic_rmw addi %one, %memory[%c0] : (i32, memref<4xi32>) -> i32\n"
        "vector.print %old : i32"
    ),
    "memory that is given away": "func.call @outside(%memory) : (memref<4xi32>) -> ()",
    "a copy onto itself": (
        "%low = memref.subview %memory[0] [3] [1] : memref<4xi32> to memref<3xi32, strided<[1]>>\n"
        "%high = memref.subview %memory[1] [3] [1]"
        " : memref<4xi32> to memref<3xi32, strided<[1], offset: 1>>\n"
        "memref.copy %low, %high"
        " : memref<3xi32, strided<[1]>> to memref<3xi32, strided<[1], offset: 1>>"
    ),
}


@pytest.mark.parametrize("name", _OPEN)
def test_no_meaning_is_made_up(name: str) -> None:
    with pytest.raises(NotInterpreted):
        _run(_OPEN[name], rest="func.func private @outside(memref<4xi32>)")


def test_endless_programs_are_stopped() -> None:
    endless = {
        "loop": "cf.br ^a\n^a:\ncf.cond_br %true, ^a, ^b\n^b:",
        "while": "scf.while : () -> () {\nscf.condition(%true)\n} do {\nscf.yield\n}",
        "recursion": "func.call @f() : () -> ()",
        "memory": "%n = arith.constant 4000000000000 : index\n%x = memref.alloc(%n) : memref<?xi8>",
    }
    stopped: list[str] = []
    for name, body in endless.items():
        with pytest.raises(OutOfBudget):
            _run(body)
        stopped.append(name)
    assert stopped == list(endless)


@pytest.mark.parametrize("unit", ["vector<f32>", "vector<1xf32>"])
def test_linalg_over_memory_of_vectors_is_not_interpreted(unit: str) -> None:
    """A vector without dimensions is an element that is a vector, too."""
    body = f"""\
  %a = memref.alloc() : memref<2x{unit}>
  %b = memref.alloc() : memref<2x{unit}>
  linalg.copy ins(%a : memref<2x{unit}>) outs(%b : memref<2x{unit}>)
"""
    with pytest.raises(NotInterpreted, match="elements that are vectors"):
        _run(body)
