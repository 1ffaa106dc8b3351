"""The changes of every action, compared with the printed IR and with upstream's listeners."""

from __future__ import annotations

import contextlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

import pytest

import actiondbg
from tests.elements import some
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]
Debian = Callable[[str], str]

STRICT = """\
func.func @erased() {
  %0 = "test.arg0"() : () -> (i32)
  %erase = "test.erase_op"(%0) : (i32) -> (i32)
  return
}
func.func @inserted() {
  %0 = "test.insert_same_op"() : () -> (i32)
  return
}
func.func @replaced() {
  %0 = "test.replace_with_new_op"() : () -> (i32)
  %1 = "test.dummy_user"(%0) : (i32) -> (i32)
  return
}
func.func @nested() {
  "test.erase_op"() ({
    %x = "test.dummy_op"() : () -> (i1)
    cf.br ^bb1(%x: i1)
  ^bb1(%arg0: i1):
    "test.foo"() ({
      "test.nested_a"() : () -> ()
    }) : () -> ()
    cf.br ^bb1(%arg0: i1)
  }) : () -> ()
  return
}
func.func @moved() {
  "test.op_with_region"() ({
    "test.move_before_parent_op"() : () -> ()
    "test.dummy_terminator"() : () ->()
  }) : () -> ()
  return
}
func.func @inlined() {
  "test.inline_blocks_into_parent"() ({
    "test.op_1"() : () -> ()
    "test.op_2"() : () -> ()
  }) : () -> ()
  return
}
func.func @split() {
  "test.op_with_region"() ({
    "test.op_1"() : () -> ()
    "test.split_block_here"() : () -> ()
    "test.op_2"() : () -> ()
  }) : () -> ()
  return
}
func.func @cloned() {
  "test.clone_me"() ({
    "test.foo"() : () -> ()
  ^bb1:
    "test.bar"() : () -> ()
  }) : () -> ()
  return
}
func.func @cloned_region() {
  "test.clone_region_before"() ({
    "test.foo"() : () -> ()
  }) : () -> ()
  return
}
"""


@pytest.fixture
def assertions(folds: str) -> Iterator[Launch]:
    """Launch the default tool, which has debug output, with canonicalize."""
    with contextlib.ExitStack() as sessions:

        def launch(source: str) -> actiondbg.Session:
            argv = ["mlir-opt", source, "--canonicalize"]
            return sessions.enter_context(actiondbg.launch(argv))

        yield launch


FUNCTIONS = re.findall(r"@(\w+)\(\) \{", STRICT)


def function(source: str, name: str) -> str:
    """Take one function out of it."""
    return next(text for text in re.split(r"(?m)^(?=func)", source) if f"@{name}(" in text)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_changes_equal_those_of_upstreams_listener(debian: Debian, folds: str, name: str) -> None:
    argv = [debian("mlir-opt"), stock.write("in.mlir", function(STRICT, name))]
    argv += ["--allow-unregistered-dialect", "--test-strict-pattern-driver"]
    said = stock.notifications(stock.run(argv, check=True).stdout)
    assert said
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("tag:apply-pattern", after=True)
        ours = [
            c for _ in stock.each(session) for c in session.outcome.changes(nested=False).changes
        ]
    of_operations = Counter(one for one in said if not one[0].startswith("block"))
    assert Counter(one for one in stock.told(ours) if one[0][:5] != "block") == of_operations
    blocks = {
        "inlined": "block erased",
        "split": "block inserted",
        "cloned_region": "block inserted",
    }
    kinds = [kind for kind, _ in said if kind.startswith("block")]
    if name in blocks:
        assert kinds == [blocks[name]]
        [block] = [one for one in ours if one.what == "block"]
        assert f"block {block.kind}" == blocks[name]
        assert block.op in ("func.func", "test.op_with_region", "test.inline_blocks_into_parent")


def test_changes_of_patterns_equal_the_debug_output(assertions: Launch) -> None:
    session = assertions(stock.write("mixed.mlir", stock.MIXED))
    said = [tried for tried in stock.greedy(session).tried if tried.succeeded]
    assert len(said) > 1
    session.breakpoints.add("tag:apply-pattern", outcome="changed")
    for tried in said:
        stop = session.continue_() if session.stop else session.run()
        assert stop.name == tried.name
        # The debug output calls it an insertion, too, when an operation is moved.
        ours = [
            (one.kind.replace("moved", "inserted"), one.op)
            for one in session.outcome.changes().changes
            if one.what == "operation"
        ]
        assert ours == [key for key, _ in groupby(tried.changes)]
    assert session.continue_().when == "exit"


def test_results_of_a_fold_are_inserted_right_after(assertions: Launch) -> None:
    """The greedy driver does it, so it is its iteration's change, guessed to be the fold's."""
    session = assertions(stock.write("mixed.mlir", stock.MIXED))
    said = stock.greedy(session)
    session.breakpoints.add("tag:fold", outcome="succeeded")
    session.breakpoints.add("tag:GreedyPatternRewriteIteration", after=True)
    folds: dict[int, str] = {}
    by_fold: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    erased: list[str] = []
    certain: list[str] = []
    for stop in stock.each(session):
        if stop.tag == "fold":
            folds[stop.ordinal] = str(stop.op)
            continue
        for one in session.outcome.changes().changes:
            if one.ordinal in folds:
                by_fold[one.ordinal].append((one.kind, one.op))
                certain += [] if one.guess else [one.kind]
            elif one.kind == "erased" and one.ordinal == stop.ordinal:
                erased.append(one.op)
    assert set(certain) <= {"modified"}
    assert list(folds.values()) == [folded.op for folded in said.folded]
    for (ordinal, op), folded in zip(folds.items(), said.folded, strict=True):
        expected = [key for key, _ in groupby(folded.changes)]
        if expected != [("modified", op)]:  # the driver does nothing more after a fold in place
            assert [key for key, _ in groupby(by_fold[ordinal])] == expected
    # The folder also merges constants that are equal; the debug output gives no reason for those.
    assert Counter(said.dead) <= Counter(erased)
    assert set(Counter(erased) - Counter(said.dead)) <= {"arith.constant"}


PIPELINES = {
    "all kinds": stock.PASSES,
    "to cf": "--convert-scf-to-cf",
    "to llvm": "--pass-pipeline=builtin.module(convert-scf-to-cf,convert-arith-to-llvm,"
    "convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)",
    "symbols": "--pass-pipeline=builtin.module(func.func(mem2reg,sroa,"
    "control-flow-sink,loop-invariant-code-motion,topological-sort),symbol-privatize{exclude=mixed},symbol-dce)",
}


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_inserted_minus_erased_is_the_difference_of_the_modules(
    launch: Launch, pipeline: str
) -> None:
    """After every pass, compared with the operations in the printed modules."""
    session = launch(PIPELINES[pipeline], source=stock.write("mixed.mlir", stock.MIXED))
    session.breakpoints.add("tag:pass-execution", "depth == 0")
    session.breakpoints.add("tag:pass-execution", "depth == 0", after=True)
    differences = 0
    before = Counter[str]()
    for stop in some(stock.each(session)):
        now = stock.operations(stock.module(session))
        assert now["func.func"] + now["llvm.func"] >= 1
        if stop.when == "after":
            changes = session.outcome.changes(limit=100_000)
            assert (changes.forgotten, len(changes.changes)) == (0, changes.total)
            assert stock.difference(changes.changes) == stock.subtract(now, before), stop.name
            assert sum(changes.counts.values()) == changes.total == stop.change_count
            differences += now != before
        before = now
    assert differences


def test_bufferization(launch: Launch) -> None:
    source = (
        "func.func @f(%t: tensor<4xf32>, %f: f32, %i: index) -> tensor<4xf32> {\n"
        "  %0 = tensor.insert %f into %t[%i] : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}\n"
    )
    session = launch(
        "--one-shot-bufferize=bufferize-function-boundaries", source=stock.write("t.mlir", source)
    )
    session.breakpoints.add("pass:one-shot-bufferize")
    session.breakpoints.add("pass:one-shot-bufferize", after=True)
    stop = session.run()
    before = stock.operations(stock.module(session))
    stop = session.continue_()
    changes = session.outcome.changes().changes
    assert stop.when == "after"
    after = stock.operations(stock.module(session))
    assert after["memref.store"] == 1 and after["tensor.insert"] == 0
    assert stock.difference(changes) == stock.subtract(after, before)
    # No pattern does this: it is the pass that did.
    assert {one.ordinal for one in changes if one.op == "tensor.insert"} == {stop.ordinal}


def test_changes_of_single_actions_too(launch: Launch) -> None:
    """Step by step outside of conversions: each pattern and each iteration by itself."""
    session = launch("--canonicalize", source=stock.write("mixed.mlir", stock.MIXED))
    open_actions: list[Counter[str]] = []
    checked = 0
    stop = session.start()
    while stop.when != "exit":
        now = stock.operations(stock.module(session))
        if stop.when == "before":
            open_actions.append(now)
        else:
            changes = session.outcome.changes(limit=10_000).changes
            assert stock.difference(changes) == stock.subtract(now, open_actions.pop()), stop
            checked += bool(changes)
        stop = session.step()
    assert checked > 4


def test_erased_operations_equal_the_pass_statistics(launch: Launch) -> None:
    source = stock.write("mixed.mlir", stock.MIXED + "func.func private @id2(%a: i32) { return }\n")
    session = launch("--symbol-dce", source=source)
    said = stock.run([*session.target.argv, "--mlir-pass-statistics"], check=True).stderr
    session.breakpoints.add("tag:pass-execution", "depth == 0", after=True)
    session.run()
    erased = [one for one in session.outcome.changes().changes if one.kind == "erased"]
    functions = [one for one in erased if one.op == "func.func"]
    assert len(functions) == 2  # @unused and @id2
    assert len(erased) == 4  # and their terminators
    if "site-packages" in session.target.argv[0]:  # a release build counts nothing
        assert f"(S) {len(functions)} num-dce'd" in said
    assert {one.ordinal for one in erased} == {1}


def test_cse_replaces_by_existing_operations(launch: Launch) -> None:
    session = launch("--cse", source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    session.cursor.move("location", path="mixed.mlir", line=26)
    first = session.cursor.get().unit.id
    session.cursor.move("location", path="mixed.mlir", line=27)
    second = session.cursor.get().unit.id
    session.next()
    replaced = {one.id: one for one in session.outcome.changes().changes if one.kind == "replaced"}
    [by] = replaced[second].by or []
    assert (by.id, by.op, by.result) == (first, "arith.muli", 0)
    assert replaced[second].location == "mixed.mlir:27:9"


def test_loop_invariant_code_is_moved_by_the_pass(launch: Launch) -> None:
    source = (
        "func.func @f(%a: i32, %n: index, %m: memref<?xi32>) {\n"
        "  %c0 = arith.constant 0 : index\n"
        "  %c1 = arith.constant 1 : index\n"
        "  scf.for %i = %c0 to %n step %c1 {\n"
        "    %x = arith.muli %a, %a : i32\n"
        "    memref.store %x, %m[%i] : memref<?xi32>\n"
        "  }\n"
        "  return\n}\n"
    )
    flags = "--loop-invariant-code-motion"
    session = launch(flags, source=stock.write("loop.mlir", source))
    before = session.start()
    while before.name != "loop-invariant-code-motion":
        before = session.step()
    stop = session.next()
    [moved] = [
        one for one in session.outcome.changes(nested=False).changes if one.what == "operation"
    ]
    assert (moved.kind, moved.op, moved.ordinal) == ("moved", "arith.muli", stop.ordinal)
    assert moved.location == "loop.mlir:5:10"


def test_region_moves_belong_to_the_pattern(launch: Launch) -> None:
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.breakpoints.add("pattern:RemoveStaticCondition", outcome="succeeded")
    stop = session.run()
    changes = session.outcome.changes(nested=False).changes
    assert {one.ordinal for one in changes} == {stop.ordinal}
    moved = [one.op for one in changes if one.kind == "moved" and one.op != "scf.yield"]
    assert moved == ["arith.divsi", "arith.remsi"]
    [replaced] = [one for one in changes if one.kind == "replaced"]
    ids = {one.op: one.id for one in changes if one.kind == "moved"}
    assert replaced.op == "scf.if" and replaced.id == stop.id
    assert [(by.id, by.op) for by in replaced.by or []] == [(ids["arith.remsi"], "arith.remsi")]
    assert Counter(
        one.op for one in changes if one.kind == "erased" and one.what == "operation"
    ) == {
        "scf.if": 1,
        "scf.yield": 2,
    }


def test_replaced_by_a_block_argument(launch: Launch) -> None:
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.breakpoints.add("fold:arith.addi and mixed.mlir:12", after=True)
    fold = session.run()
    session.breakpoints.delete([1])
    session.finish()
    [replaced] = [
        one
        for one in session.outcome.changes().changes
        if one.kind == "replaced" and one.id == fold.id
    ]
    [by] = replaced.by or []
    assert (by.op, by.result) == ("block argument", 0)
    assert (replaced.ordinal, replaced.guess) == (fold.ordinal, True)
    assert session.cursor.move("symbol", name="mixed").unit.id == by.id


def test_own_and_nested_changes(launch: Launch) -> None:
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    stop = session.next()
    nested, own = session.outcome.changes(), session.outcome.changes(nested=False)
    assert stop.change_count == nested.total > len(nested.counts) > 2
    assert own.changes == [one for one in nested.changes if one.ordinal == stop.ordinal]
    # Between two iterations the driver merges equal constants: that is the pass's own.
    assert [(one.kind, one.op) for one in own.changes if one.kind == "erased"] == [
        ("erased", "arith.constant")
    ]
    tags = {tag_of(session, ordinal) for ordinal in {one.ordinal for one in nested.changes}}
    assert tags == {"pass-execution", "GreedyPatternRewriteIteration", "apply-pattern", "fold"}
    few = session.outcome.changes(limit=3)
    assert few.changes == nested.changes[:3] and few.total == nested.total


def tag_of(session: actiondbg.Session, ordinal: int) -> str:
    with session.past.replay(ordinal) as replica:
        assert replica.stop is not None
        return replica.stop.tag


def test_a_stop_holds_the_first_hundred(launch: Launch) -> None:
    body = "".join(f"  %v{i} = arith.constant {i} : i32\n" for i in range(150))
    session = launch(
        "--canonicalize", source=stock.write("c.mlir", f"func.func @f() {{\n{body}  return\n}}\n")
    )
    session.start()
    stop = session.next()
    assert (stop.change_count, len(stop.changes)) == (150, 100)
    assert session.outcome.changes(limit=1000).changes[:100] == stop.changes
    assert {(one.kind, one.op) for one in stop.changes} == {("erased", "arith.constant")}


def test_modified_attributes_of_a_pass(launch: Launch) -> None:
    """Nobody tells of an attribute that a pass sets: it is found by comparing, and only guessed."""
    session = launch("--symbol-privatize=exclude=sum")
    session.start()
    before = stock.module(session)
    stop = session.next()
    assert stop.outcome is not None and stop.outcome.result == "succeeded"
    assert stock.module(session) != before
    assert {(one.kind, one.ordinal) for one in stop.changes} == {("modified", stop.ordinal)}


@pytest.mark.parametrize("count", [10, 2000])
def test_a_stepped_pattern_is_compared_without_notifications(
    launch: Launch, pattern_plugin: Path, count: int
) -> None:
    """It sets attributes of its neighbours itself; the function may be large."""
    others = ['  "t.other"() : () -> ()'] * count
    lines = [
        "func.func @f(%x: i32) {",
        '  %d = "t.operand"() : () -> i32',
        *others,
        '  "t.previous"() : () -> ()',
        "  %c = builtin.unrealized_conversion_cast %d : i32 to i64 {start}",
        '  "t.next"() : () -> ()',
        *others,
        '  "t.user"(%c) : (i64) -> ()',
        "  return",
        "}",
    ]
    session = launch(
        "--allow-unregistered-dialect",
        f"--load-pass-plugin={pattern_plugin}",
        "--pass-pipeline=builtin.module(touch)",
        source=stock.write("large.mlir", "\n".join(lines)),
    )
    session.breakpoints.add("pattern:touch")
    assert session.run().when == "before"
    stop = session.step()
    assert stop.outcome is not None and stop.outcome.result == "succeeded"
    assert sorted((one.kind, one.op) for one in stop.changes) == [
        ("modified", "builtin.unrealized_conversion_cast"),
        ("modified", "func.func"),
        ("modified", "t.next"),
        ("modified", "t.operand"),
        ("modified", "t.previous"),
        ("modified", "t.user"),
    ]
    assert not any(one.guess for one in stop.changes)
