"""Questions about the past: why not, history, diff, cycles, replay, reproducer."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from tests.fakes import command_line
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]
Debian = Callable[[str], str]

CHAIN = """\
func.func @chain(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %x = arith.addi %a, %c1 : i32
  %y = arith.addi %x, %c2 : i32
  %z = arith.addi %y, %c3 : i32
  return %z : i32
}
"""
# Two patterns of upstream that undo each other, for ever.
PDL = """\
module @patterns {
  pdl.pattern : benefit(1) {
    %root = pdl.operation "test.a"
    pdl.rewrite %root {
      %n = pdl.operation "test.b"
      pdl.replace %root with %n
    }
  }
  pdl.pattern : benefit(1) {
    %root = pdl.operation "test.b"
    pdl.rewrite %root {
      %n = pdl.operation "test.a"
      pdl.replace %root with %n
    }
  }
}
module @ir { "test.a"() : () -> () }
"""


@pytest.fixture
def over(launch: Launch) -> actiondbg.Session:
    """After canonicalize of the mixed input."""
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    session.next()
    return session


def mixed(launch: Launch, *flags: str) -> actiondbg.Session:
    return launch(*flags, source=stock.write("mixed.mlir", stock.MIXED))


# --- why not -----------------------------------------------------------------------------


def test_why_not_equals_the_debug_output(folds: str) -> None:
    argv = ["mlir-opt", stock.write("mixed.mlir", stock.MIXED), "--canonicalize"]
    with actiondbg.launch(argv) as session:
        said = [one for one in stock.greedy(session).tried if one.name == "AddIAddConstant"]
        session.start()
        session.next()
        attempts = session.past.why_not("AddIAddConstant").attempts
    assert len(said) == len(attempts) > 2
    for ours, tried in zip(attempts, said, strict=True):
        assert (ours.op, ours.outcome.reasons) == (tried.op, tried.reasons)
        assert (ours.outcome.result == "succeeded") == tried.succeeded
        assert (ours.change_count > 0) == bool(tried.changes)
        assert ours.function == "mixed"


def test_why_not_groups_and_counts(over: actiondbg.Session) -> None:
    found = over.past.why_not("AddIAddConstant")
    groups = found.grouped()
    assert [group.count for group in groups] == sorted((g.count for g in groups), reverse=True)
    assert sum(group.count for group in groups) == len(found.attempts)
    by_result = {group.result: group for group in groups}
    assert by_result["succeeded"].count == 1 and by_result["succeeded"].reason == ""
    failed = by_result["failed"]
    assert failed.reason == "There's no operation that defines operand 0 of castedOp0"
    assert failed.first == next(a for a in found.attempts if a.outcome.result == "failed")


def test_why_not_of_a_location_and_of_an_operation(over: actiondbg.Session) -> None:
    every = over.past.why_not("AddIAddConstant").attempts
    there = over.past.why_not("AddIAddConstant", "mixed.mlir:16").attempts
    assert there == [one for one in every if one.location == "mixed.mlir:16:8"]
    assert 0 < len(there) < len(every)
    id = every[0].id
    assert id is not None
    mine = over.past.why_not("AddIAddConstant", op_id=id).attempts
    assert mine == [one for one in every if one.id == id] != every


def test_why_not_takes_a_glob(over: actiondbg.Session) -> None:
    names = over.past.why_not("AddI*").attempts
    single = ["AddIAddConstant", "AddIMulNegativeOneLhs", "AddIMulNegativeOneRhs"]
    single += ["AddISubConstantLHS", "AddISubConstantRHS"]
    ordinals = sorted(one.ordinal for name in single for one in over.past.why_not(name).attempts)
    assert [one.ordinal for one in names] == ordinals


def test_why_not_lists_no_later_attempts(launch: Launch) -> None:
    session = mixed(launch)
    session.breakpoints.add("pattern:AddIAddConstant")
    first = session.run()
    assert session.past.why_not("AddIAddConstant").attempts == []
    session.continue_()
    assert [one.ordinal for one in session.past.why_not("AddIAddConstant").attempts] == [
        first.ordinal
    ]
    assert session.past.why_not("NoSuchPattern").attempts == []


def test_why_not_after_the_end(launch: Launch) -> None:
    session = mixed(launch)
    assert session.run().when == "exit"
    assert len(session.past.why_not("AddIAddConstant").attempts) > 2
    assert session.target.output() == stock.run(session.target.argv).stdout


# --- history -------------------------------------------------------------------------------


@pytest.fixture
def chained(launch: Launch) -> actiondbg.Session:
    """Before the first action, with the cursor on %y."""
    session = launch(source=stock.write("chain.mlir", CHAIN))
    session.start()
    session.cursor.move("location", path="chain.mlir", line=6)
    return session


def test_history_of_an_operation(chained: actiondbg.Session) -> None:
    """%y is a + 3 after the first pattern, and that is dead after the second."""
    id = chained.cursor.get().unit.id
    assert id is not None
    assert [event.kind for event in chained.past.history("cursor").events] == ["created"]
    chained.next()
    old = chained.past.history(f"@{id}")
    assert (old.id, old.op) == (id, "arith.addi")
    assert (old.events[0].ordinal, old.events[0].kind) == (0, "created")
    assert old.events[0].name == "the parser"
    ends = [event for event in old.events if event.kind in ("replaced", "erased")]
    assert {(event.tag, event.name) for event in ends} == {("apply-pattern", "AddIAddConstant")}
    assert ends[0].kind == "replaced"
    assert ends[0].pass_name == "canonicalize"
    [heir] = old.became
    new = chained.past.history(f"@{heir}")
    assert new.made_from == [id]
    assert (new.events[0].kind, new.events[0].name) == ("created", "AddIAddConstant")
    assert new.events[0].ordinal == ends[0].ordinal
    last = new.events[-1]
    assert (last.kind, last.tag) == ("erased", "GreedyPatternRewriteIteration")


def test_history_up_to_now(chained: actiondbg.Session) -> None:
    id = chained.cursor.get().unit.id
    chained.breakpoints.add("pattern:AddIAddConstant and chain.mlir:6")
    chained.continue_()
    assert len(chained.past.history(f"@{id}").events) == 1
    chained.step()
    assert len(chained.past.history(f"@{id}").events) > 1
    assert len(chained.past.history(f"@{id}").became) == 1


def test_history_of_an_operand_and_a_move(over: actiondbg.Session) -> None:
    over.cursor.move("symbol", name="mixed")
    with over.ir.print("function") as printed:
        [name] = re.findall(r"(%\S+) = arith\.remsi", printed.text)
    kinds = [(event.kind, event.name) for event in over.past.history(name).events]
    assert ("moved", "RemoveStaticCondition") in kinds


def test_history_of_an_unknown_operation(chained: actiondbg.Session) -> None:
    with pytest.raises(errors.NoSuchUnit):
        chained.past.history("@99999")
    with pytest.raises(errors.UsageError):
        chained.past.history("12")


# --- diff ----------------------------------------------------------------------------------


MAPS = """\
#straight = affine_map<(d0, d1) -> (d0, d1)>
#swapped = affine_map<(d0, d1) -> (d1, d0)>
func.func @f(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<16x8xf32>) {
  %dead = linalg.generic {indexing_maps = [#straight, #straight],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x8xf32>) outs(%b : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %k = math.exp %x : f32
    linalg.yield %k : f32
  } -> tensor<8x8xf32>
  %0 = linalg.generic {indexing_maps = [#swapped, #straight],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x8xf32>) outs(%b : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %k = math.exp %x : f32
    linalg.yield %k : f32
  } -> tensor<8x8xf32>
  %c = arith.constant dense<"0xCONSTANT"> : tensor<16x8xf32>
  return %0, %c : tensor<8x8xf32>, tensor<16x8xf32>
}
""".replace("CONSTANT", "0000803F" * 64 + "00000040" * 64)


def test_diff_keeps_the_aliases_of_maps(launch: Launch) -> None:
    session = launch("--canonicalize", source=stock.write("maps.mlir", MAPS))
    session.run()
    diff = session.past.diff(1, module=True)
    # The aliases are numbered by their first uses: #map and #map1 have changed their meaning.
    assert "[#map, #map]" in diff.before and "[#map1, #map]" in diff.before
    assert diff.after.count("#map = affine_map<(d0, d1) -> (d0, d1)>") == 1
    changed = [line for line in diff.unified() if line[0] in "+-"]
    assert any("[#map, #map]" in line for line in changed)  # of the dead operation
    assert not any("affine_map" in line or "[#map1, #map]" in line for line in changed)
    assert "0x0000803F" in diff.after
    short = diff.elided(16)
    assert "0x0000803F" not in short.after and "dense_resource<__elided__>" in short.after


def changed(lines: list[str]) -> list[str]:
    return [f"{line[0]} {line[1:].strip()}" for line in lines if line[0] in "+-"]


def test_diff_of_a_pattern(launch: Launch) -> None:
    session = launch(source=stock.write("chain.mlir", CHAIN))
    session.breakpoints.add("pattern:AddIAddConstant and chain.mlir:6")
    session.run()
    before = session.ir.print("function").text
    stop = session.next()
    assert session.ir.print("function").text != before
    diff = session.past.diff()
    assert diff.ordinal == stop.ordinal and "AddIAddConstant" in diff.title
    assert diff.before == before
    # The result of the new operation is another value: it has another name, in its use too.
    assert changed(diff.unified()) == [
        "- %y = arith.addi %x, %c2 : i32",
        "- %z = arith.addi %y, %c3 : i32",
        "+ %c3_i32 = arith.constant 3 : i32",
        "+ %0 = arith.addi %a, %c3_i32 : i32",
        "+ %z = arith.addi %0, %c3 : i32",
    ]
    assert session.past.diff(stop.ordinal) == diff
    rows = diff.side_by_side(120)
    assert {row.kind for row in rows} <= {" ", "-", "+", "!"} and any(r.kind != " " for r in rows)


def test_diff_does_not_show_renumbering(launch: Launch) -> None:
    """CSE removes a value: all after it have another number, and only two lines differ."""
    session = mixed(launch, "--cse")
    session.start()
    session.next()
    diff = session.past.diff(module=True)
    lines = changed(diff.unified())
    assert len([line for line in lines if line.startswith("-")]) == 2
    [new] = [line for line in lines if line.startswith("+")]
    match = re.fullmatch(r"\+ (%\w+) = arith\.xori (%\w+), \2 : i32", new)
    assert match is not None
    assert any(line.startswith(f"- {match[1]} = arith.xori {match[2]}, ") for line in lines)
    assert not any("return" in line for line in lines)


def test_diff_of_a_fold_includes_its_inserted_results(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("fold:arith.addi", after=True, outcome="changed")
    stop = session.run()
    assert stop.tag == "fold" and stop.outcome and stop.outcome.values
    diff = session.past.diff()
    assert "arith.addi %a, %c0" in diff.before
    assert "%c0" not in diff.after
    assert session.stop == stop


def test_diff_of_the_past(over: actiondbg.Session) -> None:
    """Of an action that is long over; without the module, its function is enough."""
    [applied] = [
        one
        for one in over.past.why_not("RemoveStaticCondition").attempts
        if one.outcome.result == "succeeded"
    ]
    diff = over.past.diff(applied.ordinal)
    assert diff.before.lstrip().startswith("func.func @mixed(")
    lines = changed(diff.unified())
    assert sum("scf." in line for line in lines) == 3 and not any("+ scf" in line for line in lines)
    whole = over.past.diff(applied.ordinal, module=True)
    assert "func.func private @unused" in whole.before
    assert len(whole.before) > len(diff.before)
    assert changed(whole.unified()) == lines
    failed = next(
        one for one in over.past.why_not("AddI*").attempts if one.outcome.result == "failed"
    )
    assert over.past.diff(failed.ordinal).is_empty


def test_diff_of_a_skipped_action_is_empty(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("pattern:AddIAddConstant and func:twice", temporary=True)
    session.breakpoints.add("pattern:AddIAddConstant and func:twice", after=True)
    skipped = session.run()
    assert session.skip().ordinal == skipped.ordinal
    assert session.past.diff().is_empty


def test_diff_of_an_unfinished_action(launch: Launch) -> None:
    session = mixed(launch)
    stop = session.start()
    with pytest.raises(errors.UsageError):
        session.past.diff()
    with pytest.raises(errors.UsageError, match=f"#{stop.ordinal}"):
        session.past.diff(stop.ordinal)
    with pytest.raises(errors.UsageError, match="#7777"):
        session.past.diff(7777)
    with pytest.raises(errors.UsageError):
        session.past.diff(0)


# --- cycles ----------------------------------------------------------------------------------


def test_patterns_of_upstream_that_undo_each_other(launch: Launch) -> None:
    session = launch("--transform-interpreter", source=stock.write("cycle.mlir", stock.CYCLE))
    session.start()
    session.advance("#200")
    cycle = session.past.cycles()
    assert cycle is not None
    names = Counter((one.name, one.op) for one in cycle.round)
    assert names == {
        ("InterleaveToShuffle", "vector.interleave"): 1,
        ("ShuffleInterleave", "vector.shuffle"): 1,
    }
    assert cycle.times >= 10
    assert len(cycle.diffs) == len(cycle.round) == 2
    texts = [" ".join(changed(diff.unified())) for diff in cycle.diffs]
    for text, one in zip(texts, cycle.round, strict=True):
        gone, new = "vector.interleave", "vector.shuffle"
        if one.op == "vector.shuffle":
            gone, new = new, gone
        assert re.search(rf"- \S+ = {gone}", text) and re.search(rf"\+ \S+ = {new}", text)
    ordinals = [one.ordinal for one in cycle.round]
    assert ordinals == sorted(ordinals) and ordinals[-1] <= 200


def test_a_cycle_of_more_rounds_than_are_searched(launch: Launch) -> None:
    source = stock.write("cycle.mlir", stock.CYCLE)
    lines = ["start", "advance #80000", "info cycles"]
    typed = [word for line in lines for word in ("-ex", line)]
    argv = ["-nx", "--batch", *typed, "mlir-opt", source, "--transform-interpreter"]
    shown = command_line.run(*argv).stdout
    assert re.search(r"repeated more than (9,999|10,000) times so far", shown)


def test_cycles_of_patterns_without_a_name(debian: Debian, folds: str) -> None:
    argv = [debian("mlir-opt"), stock.write("pdl.mlir", PDL), "--allow-unregistered-dialect"]
    with actiondbg.launch([*argv, "--test-pdl-bytecode-pass"]) as session:
        session.start()
        session.advance("#100")
        cycle = session.past.cycles()
        assert cycle is not None
        assert {one.op for one in cycle.round} == {"test.a", "test.b"}
        assert all(one.op and one.op in one.name for one in cycle.round)


def test_converging_run_has_no_cycle(over: actiondbg.Session) -> None:
    assert over.past.cycles() is None


# --- reproducers -----------------------------------------------------------------------------


def test_the_pipeline_of_a_reproducer_has_no_empty_options(launch: Launch) -> None:
    session = launch()
    session.start()
    made = session.past.reproducer("again.mlir")
    assert made.pipeline.startswith("builtin.module(canonicalize{max-iterations=10 ")
    again = subprocess.run(made.command, capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "")


@pytest.fixture
def exiting(launch: Launch, pattern_plugin: Path) -> actiondbg.Session:
    """A tool that exits inside its second pass."""
    return launch(
        f"--load-pass-plugin={pattern_plugin}",
        "--pass-pipeline=builtin.module(canonicalize,exits,cse)",
        source=stock.write("chain.mlir", CHAIN),
    )


def test_questions_about_a_tool_that_exits_inside_a_pass(exiting: actiondbg.Session) -> None:
    session = exiting
    stop = session.run()
    assert (stop.when, stop.status) == ("exit", 3)
    attempts = session.past.why_not("AddIAddConstant").attempts
    assert [one.outcome.result for one in attempts].count("succeeded") == 2
    explained = session.past.explain()
    assert (explained.failed, explained.other, explained.status) == (None, None, 3)
    with pytest.raises(errors.UsageError, match="has not ended"):
        session.past.diff(stop.actions)


def test_the_place_of_an_exit_inside_a_pass_is_looked_for_once(
    exiting: actiondbg.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = exiting.run()
    searched: list[int] = []
    go = ForkedTool.go

    def counted_go(fork: ForkedTool, event: int, keep: int = 0) -> Stop:
        if event == stop.event:
            searched.append(event)
        return go(fork, event, keep)

    monkeypatch.setattr(ForkedTool, "go", counted_go)
    exiting.past.why_not("AddIAddConstant")
    exiting.past.explain()
    assert searched == [stop.event]
    again = exiting.run()
    exiting.past.why_not("AddIAddConstant")
    assert searched == [stop.event, again.event]


def test_a_replay_that_ends_before_an_exit_inside_a_pass_gives_no_answer(
    exiting: actiondbg.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    exiting.run()

    def ended(fork: ForkedTool, event: int, keep: int = 0) -> Stop:
        raise errors.ToolGone(f"The fork ended before {event}, kept {keep}, {fork.role}.")

    monkeypatch.setattr(ForkedTool, "go", ended)
    with pytest.raises(errors.NoAnswer, match="The fork ended before"):
        exiting.past.why_not("AddIAddConstant")
