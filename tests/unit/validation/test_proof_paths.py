"""Proofs of functions with branches, loops, memory and calls."""

from __future__ import annotations

import pytest

from actiondbg.validation.inputs import View
from actiondbg.validation.program_reader import ProgramReader
from actiondbg.validation.proof.exploration import ProofLimits
from actiondbg.validation.proof.refinement import NotProved, ProofResult, Proved, Refuted, prove

pytest.importorskip("bitwuzla")
pytest.importorskip("mlir.ir")

_READER = ProgramReader()


def verdict(before: str, after: str, limits: ProofLimits | None = None) -> ProofResult:
    return prove(_READER.read(before), _READER.read(after), "f", limits)


def function(signature: str, body: str) -> str:
    return f"func.func @f{signature} {{\n{body}\n}}"


IF = function(
    "(%c: i1, %x: i32) -> i32",
    """
    %r = scf.if %c -> i32 {
      %d = arith.addi %x, %x : i32
      scf.yield %d : i32
    } else {
      scf.yield %x : i32
    }
    return %r : i32
    """,
)


def test_an_if_is_a_selection_on_both_paths() -> None:
    selection = function(
        "(%c: i1, %x: i32) -> i32",
        """
        %d = arith.addi %x, %x : i32
        %r = arith.select %c, %d, %x : i32
        return %r : i32
        """,
    )
    assert isinstance(verdict(IF, selection), Proved)
    exchanged = selection.replace("%c, %d, %x", "%c, %x, %d")
    assert isinstance(verdict(IF, exchanged), Refuted)


def test_an_if_is_a_conditional_branch() -> None:
    branch = function(
        "(%c: i1, %x: i32) -> i32",
        """
          cf.cond_br %c, ^yes, ^end(%x : i32)
        ^yes:
          %d = arith.addi %x, %x : i32
          cf.br ^end(%d : i32)
        ^end(%r: i32):
          return %r : i32
        """,
    )
    assert isinstance(verdict(IF, branch), Proved)
    exchanged = branch.replace("^yes, ^end(%x : i32)", "^end(%x : i32), ^yes")
    found = verdict(IF, exchanged)
    assert isinstance(found, Refuted)
    _, x = found.input.arguments
    assert isinstance(x, int)
    assert x % 2**32 != 2 * x % 2**32


def test_a_difference_on_one_of_many_paths_is_found() -> None:
    switch = function(
        "(%x: i32) -> i32",
        """
          cf.switch %x : i32, [
            default: ^end(%x : i32),
            7: ^seven,
            1000: ^thousand
          ]
        ^seven:
          %a = arith.constant 70 : i32
          cf.br ^end(%a : i32)
        ^thousand:
          %b = arith.constant 1 : i32
          cf.br ^end(%b : i32)
        ^end(%r: i32):
          return %r : i32
        """,
    )
    assert isinstance(verdict(switch, switch), Proved)
    found = verdict(switch, switch.replace("constant 1 :", "constant 2 :"))
    assert isinstance(found, Refuted)
    assert found.input.arguments == (1000,)


SUM = function(
    "(%x: i32) -> i32",
    """
    %from = arith.constant 0 : index
    %to = arith.constant 5 : index
    %by = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %r = scf.for %i = %from to %to step %by iter_args(%s = %zero) -> (i32) {
      %n = arith.addi %s, %x : i32
      scf.yield %n : i32
    }
    return %r : i32
    """,
)


def test_a_loop_with_known_bounds_is_a_product() -> None:
    product = function(
        "(%x: i32) -> i32",
        """
        %five = arith.constant 5 : i32
        %r = arith.muli %x, %five : i32
        return %r : i32
        """,
    )
    found = verdict(SUM, product)
    assert isinstance(found, Proved)
    assert found.bounds is None
    assert isinstance(verdict(SUM, product.replace("constant 5", "constant 6")), Refuted)


COUNTED = SUM.replace("(%x: i32)", "(%x: i32, %to: index)").replace(
    "%to = arith.constant 5 : index", ""
)


def test_a_loop_with_an_unknown_bound_is_proved_up_to_a_limit() -> None:
    product = function(
        "(%x: i32, %to: index) -> i32",
        """
        %zero = arith.constant 0 : index
        %times = arith.maxsi %to, %zero : index
        %n = arith.index_cast %times : index to i32
        %r = arith.muli %x, %n : i32
        return %r : i32
        """,
    )
    found = verdict(COUNTED, product, ProofLimits(choices=6))
    assert isinstance(found, Proved)
    assert found.bounds == "6 choices on a path"
    negative = product.replace("arith.maxsi %to, %zero", "arith.addi %to, %zero")
    refuted = verdict(COUNTED, negative, ProofLimits(choices=6))
    assert isinstance(refuted, Refuted)
    times = refuted.input.arguments[1]
    assert isinstance(times, int)
    assert times < 0


def test_a_loop_that_never_ends_within_the_limit_proves_nothing() -> None:
    endless = function(
        "(%x: i32) -> i32",
        """
          cf.br ^again
        ^again:
          cf.br ^again
        """,
    )
    found = verdict(endless, endless, ProofLimits(steps=50))
    assert isinstance(found, NotProved)
    assert "steps" in found.reason


COPY = function(
    "(%m: memref<?xf32>, %i: index, %j: index) -> f32",
    """
    %v = memref.load %m[%i] : memref<?xf32>
    memref.store %v, %m[%j] : memref<?xf32>
    %w = memref.load %m[%j] : memref<?xf32>
    return %w : f32
    """,
)
SIZES = "dynamic sizes of 0, 1, 2, 3, strides without gaps"


def test_a_stored_value_is_the_one_loaded() -> None:
    found = verdict(COPY, COPY.replace("return %w", "return %v"))
    assert isinstance(found, Proved)
    assert found.bounds == SIZES


def test_a_store_that_is_left_out_changes_memory() -> None:
    store = "memref.store %v, %m[%j] : memref<?xf32>"
    found = verdict(COPY, COPY.replace(store, "").replace("return %w", "return %v"))
    assert isinstance(found, Refuted)
    assert "memory" in found.where
    view, i, j = found.input.arguments
    assert isinstance(view, View)
    assert i != j
    (elements,) = found.input.buffers
    assert len(elements) == view.sizes[0]


def test_a_load_before_a_store_to_the_same_place_is_another() -> None:
    before = function(
        "(%m: memref<4xi32>, %i: index, %j: index, %v: i32) -> i32",
        """
        memref.store %v, %m[%i] : memref<4xi32>
        %r = memref.load %m[%j] : memref<4xi32>
        return %r : i32
        """,
    )
    after = function(
        "(%m: memref<4xi32>, %i: index, %j: index, %v: i32) -> i32",
        """
        %r = memref.load %m[%j] : memref<4xi32>
        memref.store %v, %m[%i] : memref<4xi32>
        return %r : i32
        """,
    )
    found = verdict(before, after)
    assert isinstance(found, Refuted)
    _, i, j, _ = found.input.arguments
    assert i == j


def test_memory_out_of_bounds_is_undefined_before_and_wrong_after() -> None:
    load = function(
        "(%m: memref<4xi32>, %i: index) -> i32",
        """
        %zero = arith.constant 0 : i32
        %r = memref.load %m[%i] : memref<4xi32>
        return %zero : i32
        """,
    )
    none = load.replace("%r = memref.load %m[%i] : memref<4xi32>", "")
    assert isinstance(verdict(load, none), Proved)
    found = verdict(none, load)
    assert isinstance(found, Refuted)
    _, i = found.input.arguments
    assert isinstance(i, int)
    assert not 0 <= i < 4


def test_two_memrefs_share_no_memory() -> None:
    signature = "(%a: memref<2xi32>, %b: memref<2xi32>, %v: i32) -> i32"
    stores = """
        %zero = arith.constant 0 : index
        %w = memref.load %a[%zero] : memref<2xi32>
        memref.store %v, %b[%zero] : memref<2xi32>
        """
    again = stores + "%r = memref.load %a[%zero] : memref<2xi32>\nreturn %r : i32"
    kept = stores + "return %w : i32"
    modules = [_READER.read(function(signature, body)) for body in (again, kept)]
    assert isinstance(prove(modules[0], modules[1], "f"), Proved)


def test_printed_values_count() -> None:
    both = function(
        "(%x: i32, %y: i32)",
        """
        vector.print %x : i32
        vector.print %y : i32
        return
        """,
    )
    exchanged = both.replace("%x : i32\n", "%z : i32\n").replace("%y : i32", "%x : i32")
    exchanged = exchanged.replace("%z : i32\n", "%y : i32\n")
    assert isinstance(verdict(both, both), Proved)
    assert isinstance(verdict(both, exchanged), Refuted)
    once = both.replace("vector.print %y : i32", "")
    assert isinstance(verdict(both, once), Refuted)


GLOBAL = """
memref.global @g : memref<2xi32> = dense<0>
func.func @f(%v: i32) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %g = memref.get_global @g : memref<2xi32>
  memref.store %v, %g[%zero] : memref<2xi32>
  %r = memref.load %g[%one] : memref<2xi32>
  return %r : i32
}
"""


def test_a_global_may_have_changed_before_the_call() -> None:
    constant = "%r = arith.constant 0 : i32"
    found = verdict(GLOBAL, GLOBAL.replace("%r = memref.load %g[%one] : memref<2xi32>", constant))
    assert isinstance(found, Refuted)
    assert isinstance(verdict(GLOBAL, GLOBAL), Proved)


def test_a_store_to_a_global_counts() -> None:
    found = verdict(GLOBAL, GLOBAL.replace("store %v, %g[%zero]", "store %v, %g[%one]"))
    assert isinstance(found, Refuted)


CALLS = """
func.func private @outside(i32) -> i32
func.func @f(%x: i32) -> i32 {
  %a = func.call @outside(%x) : (i32) -> i32
  %r = arith.addi %a, %x : i32
  return %r : i32
}
"""


def test_what_an_outside_function_returns_is_unknown_but_the_same() -> None:
    assert isinstance(verdict(CALLS, CALLS.replace("%a, %x", "%x, %a")), Proved)
    found = verdict(CALLS, CALLS.replace("addi %a", "subi %a"))
    assert isinstance(found, NotProved)


def test_the_argument_of_an_outside_call_counts() -> None:
    changed = CALLS.replace("call @outside(%x)", "call @outside(%b)").replace(
        "  %a =", "  %c = arith.constant 1 : i32\n  %b = arith.addi %x, %c : i32\n  %a ="
    )
    assert not isinstance(verdict(CALLS, changed), Proved)


def test_tensors_of_dynamic_size() -> None:
    twice = function(
        "(%t: tensor<?xi32>) -> tensor<?xi32>",
        """
        %r = arith.addi %t, %t : tensor<?xi32>
        return %r : tensor<?xi32>
        """,
    )
    other = twice.replace("arith.addi", "arith.muli")
    found = verdict(twice, twice)
    assert isinstance(found, Proved)
    assert found.bounds == SIZES
    assert isinstance(verdict(twice, other), Refuted)


def test_too_many_elements_are_not_tried() -> None:
    large = function(
        "(%t: tensor<100000xi32>) -> tensor<100000xi32>", "return %t : tensor<100000xi32>"
    )
    found = verdict(large, large)
    assert isinstance(found, NotProved)
    assert "100,000" in found.reason


def test_the_time_is_limited() -> None:
    factors = function(
        "(%x: i32, %y: i32) -> i1",
        """
        %one = arith.constant 1 : i32
        %product_of_primes = arith.constant 4611685975477714963 : i64
        %a = arith.extui %x : i32 to i64
        %b = arith.extui %y : i32 to i64
        %p = arith.muli %a, %b : i64
        %is_product = arith.cmpi eq, %p, %product_of_primes : i64
        %is_proper = arith.cmpi ne, %x, %one : i32
        %is_other = arith.cmpi ne, %y, %one : i32
        %both = arith.andi %is_proper, %is_other : i1
        %r = arith.andi %is_product, %both : i1
        return %r : i1
        """,
    )
    never = function("(%x: i32, %y: i32) -> i1", "%r = arith.constant false\nreturn %r : i1")
    found = verdict(factors, never, ProofLimits(seconds=1, query_seconds=0.2))
    assert isinstance(found, NotProved)
    assert "too long" in found.reason
