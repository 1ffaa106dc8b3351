"""What CSE erases, and into what it is merged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tool.lineage.tracking import from_line, lineage_of, ways


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("option", ["--cse", "--transform-interpreter"])
def test_equal_operations_without_uses_are_dead_and_not_merged(mlir_opt: str, option: str) -> None:
    source = """func.func @f(%x: i32) -> (i32, i32, i32) {
      %dead = arith.addi %x, %x : i32
      %a = arith.addi %x, %x : i32
      %b = arith.addi %x, %x : i32
      %last = arith.addi %x, %x : i32
      %zero = arith.constant 0 : i32
      %c = arith.constant 0 : i32
      return %a, %b, %c : i32, i32, i32
    }
    module attributes {transform.with_named_sequence} {
      transform.named_sequence @__transform_main(%m: !transform.any_op) {
        %f = transform.structured.match ops{["func.func"]} in %m
          : (!transform.any_op) -> !transform.any_op
        transform.apply_cse to %f : !transform.any_op
        transform.yield
      }
    }
"""
    lineage = lineage_of(mlir_opt, source, option)
    found = {line: from_line(lineage, line) for line in range(2, 8)}
    assert [line for line, answer in found.items() if answer.losses] == [2, 5, 6]
    assert {loss.why for answer in found.values() for loss in answer.losses} == {"dead"}
    assert ways(found[3]) == [("arith.addi", [])]
    assert ways(found[4]) == [("arith.addi", ["merged"])]
    assert found[4].traces[0].operation == found[3].traces[0].operation


def test_an_operation_is_merged_into_one_that_it_can_see(mlir_opt: str) -> None:
    """Equal operations after it, or in another branch, have uses, too."""
    source = """func.func @f(%m: memref<i32>, %v: i32) -> (i32, i32, i32) {
      %first = memref.load %m[] : memref<i32>
      %again = memref.load %m[] : memref<i32>
      memref.store %v, %m[] : memref<i32>
      %later = memref.load %m[] : memref<i32>
      return %first, %again, %later : i32, i32, i32
    }
    func.func @regions(%c: i1, %x: i32) {
      scf.if %c {
        %b1 = arith.addi %x, %x : i32
        %b2 = arith.addi %x, %x : i32
        "test.use"(%b1, %b2) : (i32, i32) -> ()
      } else {
        %e1 = arith.addi %x, %x : i32
        %e2 = arith.addi %x, %x : i32
        "test.use"(%e1, %e2) : (i32, i32) -> ()
      }
      return
    }
    func.func @blocks(%c: i1, %x: i32) -> (i32, i32) {
      cf.cond_br %c, ^a, ^b
    ^a:
      %b1 = arith.addi %x, %x : i32
      %b2 = arith.addi %x, %x : i32
      return %b1, %b2 : i32, i32
    ^b:
      %e1 = arith.addi %x, %x : i32
      cf.br ^end
    ^end:
      %e2 = arith.addi %x, %x : i32
      return %e1, %e2 : i32, i32
    }
"""
    lineage = lineage_of(mlir_opt, source, "--allow-unregistered-dialect", "--cse")
    for line, merged in ((2, 3), (10, 11), (14, 15), (23, 24), (27, 30)):
        [into] = from_line(lineage, line).traces
        [trace] = from_line(lineage, merged).traces
        assert ways(from_line(lineage, merged))[0][1] == ["merged"], merged
        assert trace.operation == into.operation


def test_a_constant_is_merged_into_one_of_a_block_that_dominates_its_own(mlir_opt: str) -> None:
    source = """func.func @f(%c: i1) -> (i32, i32) {
      %first = arith.constant 1 : i32
      "test.use"(%first) : (i32) -> ()
      cf.cond_br %c, ^a, ^b
    ^a:
      %a = arith.constant 1 : i32
      %a2 = arith.constant 2 : i32
      return %a, %a2 : i32, i32
    ^b:
      %b = scf.if %c -> i32 {
        %inner = arith.constant 1 : i32
        scf.yield %inner : i32
      } else {
        %inner = arith.constant 2 : i32
        scf.yield %inner : i32
      }
      %b2 = arith.constant 2 : i32
      return %b, %b2 : i32, i32
    }
"""
    lineage = lineage_of(mlir_opt, source, "--allow-unregistered-dialect", "--cse")
    [first] = from_line(lineage, 2).traces
    for line in (6, 11):
        [trace] = from_line(lineage, line).traces
        assert ways(from_line(lineage, line)) == [("arith.constant", ["merged"])]
        assert trace.operation == first.operation
    # Those in other branches remain.
    for line in (7, 14, 17):
        assert ways(from_line(lineage, line)) == [("arith.constant", [])]
