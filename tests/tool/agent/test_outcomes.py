"""The outcome of every action, and breakpoints that look at it, with the real tools."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.process.stop import Stop
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]
Debian = Callable[[str], str]

PDL = """\
module @patterns {
  pdl.pattern @Liar : benefit(1) {
    %root = pdl.operation "test.lie"
    pdl.rewrite %root { %unused = pdl.type : i32 }
  }
  pdl.pattern @Honest : benefit(1) {
    %root = pdl.operation "test.c"
    pdl.rewrite %root {
      %n = pdl.operation "test.b"
      pdl.replace %root with %n
    }
  }
}
module @ir {
  "test.lie"() : () -> ()
  "test.c"() : () -> ()
}
"""
CHAIN = """\
func.func @chain(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %x = arith.addi %a, %c1 : i32
  %y = arith.muli %x, %a : i32
  return %y : i32
}
"""
UNDO = """\
func.func @f() {
  "test.signature_conversion_undo"() ({
  ^bb0(%arg0: f32):
    "test.type_consumer"(%arg0) : (f32) -> ()
    "test.return"(%arg0) : (f32) -> ()
  }) : () -> ()
  return
}
"""
ROLLBACK = """\
func.func @rolled_back() {
  "test.create_illegal_block"() : () -> ()
  return
}
func.func @legalized() -> i32 {
  %result = "test.illegal_op_a"() : () -> (i32)
  return %result : i32
}
"""
TENSOR = """\
func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "test.foo"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
NOT_CONVERGED = (
    "--pass-pipeline=builtin.module(canonicalize{test-convergence=true max-iterations=1})"
)


@pytest.fixture
def assertions(folds: str) -> Iterator[Launch]:
    """Launch the default tool, which has debug output, with canonicalize."""
    with contextlib.ExitStack() as sessions:

        def launch(source: str) -> actiondbg.Session:
            argv = ["mlir-opt", source, "--canonicalize"]
            return sessions.enter_context(actiondbg.launch(argv))

        yield launch


def after(session: actiondbg.Session, spec: str, outcome: str | None = None) -> list[Stop]:
    """Run to the end; return the stops after the actions that match."""
    session.breakpoints.add(spec, after=True, outcome=outcome)
    return stock.stops(session)


def result(stop: Stop) -> str:
    assert stop.outcome is not None
    return stop.outcome.result


def test_outcomes_of_patterns_equal_the_debug_output(assertions: Launch) -> None:
    session = assertions(stock.write("mixed.mlir", stock.MIXED))
    said = stock.greedy(session)
    ours = after(session, "tag:apply-pattern")
    assert len(said.tried) > 20
    assert [(s.name, s.op) for s in ours] == [(t.name, t.op) for t in said.tried]
    for stop, tried in zip(ours, said.tried, strict=True):
        assert stop.outcome is not None
        assert stop.outcome.result == ("succeeded" if tried.succeeded else "failed")
        assert stop.outcome.reasons == tried.reasons
        assert (stop.change_count > 0) == bool(tried.changes)


def test_outcomes_are_the_same_in_both_builds(launch: Launch) -> None:
    """A pattern of the release build says why it did not match, with no recompile."""
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    ours = after(session, "tag:apply-pattern")
    assert {result(stop) for stop in ours} == {"succeeded", "failed"}
    [constant] = [s for s in ours if s.name == "AddIAddConstant" and result(s) == "succeeded"]
    assert constant.location == "mixed.mlir:16:8"
    reasons = {r for s in ours if s.outcome for r in s.outcome.reasons}
    assert "There's no operation that defines operand 0 of castedOp0" in reasons
    assert all(s.outcome and not s.outcome.reasons for s in ours if result(s) == "succeeded")


FOLDS = """\
func.func @f(%a: i32, %b: i32) -> (i32, i32, i32, i1, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %m = arith.muli %a, %b : i32
  %x = arith.addi %m, %c0 : i32
  %k = arith.addi %c2, %c3 : i32
  %s, %o = arith.addui_extended %a, %c0 : i32, i1
  %w = arith.addi %c3, %b : i32
  %n = arith.divsi %a, %b : i32
  return %x, %k, %s, %o, %w, %n : i32, i32, i32, i1, i32, i32
}
"""


def test_folds_report_their_values(launch: Launch) -> None:
    session = launch(source=stock.write("f.mlir", FOLDS))
    first = {int(str(s.location).split(":")[1]): s for s in reversed(after(session, "tag:fold"))}
    how = {line: s.outcome and (s.outcome.result, s.outcome.how) for line, s in first.items()}
    assert how == {
        1: ("failed", None),
        5: ("failed", None),
        6: ("succeeded", "values"),
        7: ("succeeded", "constants"),
        8: ("succeeded", "constants and values"),
        9: ("succeeded", "in-place"),
        10: ("failed", None),
        11: ("failed", None),
    }
    values = {line: s.outcome.values for line, s in first.items() if s.outcome}
    assert values[7] == ["5 : i32"]
    assert values[8][1] == "false" and "block argument 0 of @" in values[8][0]
    [value] = values[6]
    assert f"of @{first[5].id}" in value
    assert values[5] == values[9] == []


def test_folds_of_the_debug_output(assertions: Launch) -> None:
    session = assertions(stock.write("mixed.mlir", stock.MIXED))
    said = stock.greedy(session)
    ours = after(session, "tag:fold", "succeeded")
    assert [s.op for s in ours] == [folded.op for folded in said.folded]


def test_changed_passes_equal_print_ir_after_change(launch: Launch) -> None:
    session = launch(stock.PASSES, source=stock.write("mixed.mlir", stock.MIXED))
    flags = ["--mlir-print-ir-after-all", "--mlir-print-ir-after-change"]
    printed = stock.run(
        [*session.target.argv, *flags, "--mlir-disable-threading"], check=True
    ).stderr
    changed = re.findall(r"IR Dump After \w+ \(([\w-]+)\)", printed)
    passes = set(re.findall(r"[\w-]+(?=[,)])", stock.PASSES))
    ours = [stop for stop in after(session, "tag:pass-execution") if stop.name in passes]
    assert {result(stop) for stop in ours} == {"succeeded", "unchanged"}
    assert [stop.name for stop in ours if result(stop) == "succeeded"] == changed
    for stop in ours:
        assert (stop.change_count > 0) == (result(stop) == "succeeded")


def test_a_pass_that_fails(launch: Launch) -> None:
    session = launch(NOT_CONVERGED)
    session.breakpoints.add("tag:pass-execution", after=True)
    stop = session.run()
    assert (stop.when, stop.name, result(stop)) == ("after", "canonicalize", "failed")
    assert stop.change_count > 0
    assert session.continue_().status == 1


def test_a_pass_that_fails_and_changes_nothing(debian: Debian, folds: str) -> None:
    with actiondbg.launch([debian("mlir-opt"), folds, "--test-pass-failure"]) as session:
        session.breakpoints.add("pass:test-pass-failure", after=True)
        stop = session.run()
        assert (result(stop), stop.change_count, stop.changes) == ("failed", 0, [])
        assert session.continue_().status == 1


def test_skipped_is_an_outcome(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("pattern:AddIAddConstant and func:twice", "line == 14")
    session.breakpoints.add("tag:apply-pattern", after=True, outcome="skipped")
    first = session.run()
    stop = session.skip()
    assert (stop.when, stop.ordinal, stop.skipped) == ("after", first.ordinal, True)
    assert (result(stop), stop.change_count, stop.changes) == ("skipped", 0, [])


def test_greedy_iterations(launch: Launch) -> None:
    """The driver is done when an iteration changes nothing."""
    session = launch()
    ours = after(session, "tag:GreedyPatternRewriteIteration")
    assert [result(stop) for stop in ours] == ["succeeded", "unchanged"]
    assert [stop.change_count > 0 for stop in ours] == [True, False]


def test_pattern_with_a_wrong_result(debian: Debian, folds: str) -> None:
    """It returns success and changes nothing; patterns of PDL have an empty debug name."""
    argv = [debian("mlir-opt"), stock.write("pdl.mlir", PDL), "--allow-unregistered-dialect"]
    with actiondbg.launch([*argv, "--test-pdl-bytecode-pass"]) as session:
        ours = after(session, "tag:apply-pattern")
        rows = {row.name: row for row in session.past.statistics("pattern")}
    lies = [stop for stop in ours if stop.op == "test.lie"]
    assert len(lies) == 10  # the driver's limit of iterations
    assert {result(stop) for stop in lies} == {"unchanged"}
    assert all(stop.change_count == 0 and not stop.changes for stop in lies)
    [honest] = [stop for stop in ours if stop.op == "test.c"]
    assert result(honest) == "succeeded"
    assert all("test.lie" in stop.name for stop in lies)
    assert rows[lies[0].name].unchanged == rows[lies[0].name].succeeded == 10
    assert rows[honest.name].unchanged == 0


def test_changed_and_failed(debian: Debian, folds: str) -> None:
    """The pattern converts a signature and then returns failure; its other one gives no reason."""
    argv = [debian("mlir-opt"), stock.write("undo.mlir", UNDO), "--allow-unregistered-dialect"]
    with actiondbg.launch([*argv, "--test-legalize-type-conversion"]) as session:
        ours = after(session, "pattern:TestSignatureConversionUndo")
        assert (
            session.target.output() == stock.run([*argv, "--test-legalize-type-conversion"]).stdout
        )
    [stop] = ours
    assert result(stop) == "failed"
    assert stop.change_count > 0


def test_conversion_reports_legalizations_and_rollbacks(debian: Debian, folds: str) -> None:
    argv = [debian("mlir-opt"), stock.write("r.mlir", ROLLBACK), "--test-legalize-patterns"]
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("tag:apply-pattern", after=True)
        ours = after(session, "tag:apply-conversion")
    results = {stop.name: result(stop) for stop in ours if stop.tag == "apply-pattern"}
    assert results.pop("TestCreateIllegalBlock") == "failed"
    assert list(results.values()) == ["succeeded"]
    conversion = ours[-1]
    assert conversion.tag == "apply-conversion"
    assert conversion.outcome is not None and conversion.outcome.how is not None
    assert re.search(r"legalized 1 op\w*", conversion.outcome.how)
    assert re.search(r"rolled back 1 pattern\b", conversion.outcome.how)
    assert stock.difference(conversion.changes)["test.illegal_op_f"] == 0


def test_conversion_without_rollback(launch: Launch) -> None:
    source = stock.write("chain.mlir", CHAIN)
    session = launch("--convert-arith-to-llvm", source=source)
    ours = after(session, "tag:apply-*")
    succeeded = [s for s in ours if s.tag == "apply-pattern" and result(s) == "succeeded"]
    [conversion] = [s for s in ours if s.tag == "apply-conversion"]
    assert result(conversion) == "succeeded"
    assert conversion.outcome is not None and conversion.outcome.how is not None
    assert len(succeeded) == CHAIN.count("arith.")
    assert f"legalized {len(succeeded)} operations" in conversion.outcome.how
    assert not re.search(r"rolled back [1-9]", conversion.outcome.how)


def test_conversion_that_fails(debian: Debian, folds: str) -> None:
    """The pass goes on as if nothing had happened: only the conversion has failed."""
    illegal = ROLLBACK.replace("test.illegal_op_a", "test.illegal_op_f")
    argv = [debian("mlir-opt"), stock.write("r.mlir", illegal), "--test-legalize-patterns"]
    assert "failed to legalize" in stock.run(argv).stderr
    with actiondbg.launch(argv) as session:
        session.breakpoints.add("pass:*", after=True)
        conversion, around = after(session, "tag:apply-conversion")
    assert (conversion.tag, result(conversion)) == ("apply-conversion", "failed")
    assert stock.difference(conversion.changes) == {}
    assert (around.tag, result(around)) == ("pass-execution", "unchanged")


def test_a_pass_that_fails_with_a_diagnostic(launch: Launch) -> None:
    session = launch(
        "--allow-unregistered-dialect", "--one-shot-bufferize", source=stock.write("t.mlir", TENSOR)
    )
    session.breakpoints.add("tag:pass-execution", after=True, outcome="failed")
    stop = session.run()
    assert (stop.name, result(stop)) == ("one-shot-bufferize", "failed")
    assert session.continue_().status == 1


def reasons(stop: Stop) -> str:
    assert stop.outcome is not None
    return "\n".join(stop.outcome.reasons)


OUTCOMES: dict[str, Callable[[Stop], bool]] = {
    "succeeded": lambda s: result(s) in ("succeeded", "unchanged"),
    "failed": lambda s: result(s) == "failed",
    "unchanged": lambda s: result(s) == "unchanged",
    "skipped": lambda s: False,
    "changed": lambda s: s.change_count > 0,
    "failed,unchanged": lambda s: result(s) in ("failed", "unchanged"),
    "reason:*no operation that defines*": lambda s: "no operation that defines" in reasons(s),
    "succeeded,reason:*MulIOp*": lambda s: result(s) == "succeeded" or "MulIOp" in reasons(s),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_outcome_breakpoints_stop_after_their_outcomes(launch: Launch, outcome: str) -> None:
    """Compared with all outcomes, which other tests compare with the debug output."""
    source = stock.write("mixed.mlir", stock.MIXED)
    session = launch("--canonicalize", source=source)
    everything = after(session, "tag:apply-pattern")
    expected = [stop.ordinal for stop in everything if OUTCOMES[outcome](stop)]
    assert len(expected) < len(everything)
    assert bool(expected) == (outcome not in ("skipped", "unchanged"))
    filtered = launch("--canonicalize", source=source)
    one = filtered.breakpoints.add("tag:apply-pattern", outcome=outcome)
    ours = stock.stops(filtered)
    assert [stop.ordinal for stop in ours] == expected
    assert {stop.when for stop in ours} <= {"after"}
    assert filtered.breakpoints.get(one.id).hits == len(expected)
    assert one.outcome == outcome


def test_outcomes_count_hits_and_conditions(launch: Launch) -> None:
    source = stock.write("mixed.mlir", stock.MIXED)
    session = launch("--canonicalize", source=source)
    failed = after(session, "tag:apply-pattern", "failed")
    session.breakpoints.set_ignore(1, 3)
    session.breakpoints.set_condition(1, "op == 'arith.addi'")
    expected = [stop.ordinal for stop in failed if stop.op == "arith.addi"]
    assert [stop.ordinal for stop in stock.stops(session)] == expected[3:]


def test_invalid_outcome(launch: Launch) -> None:
    session = launch()
    with pytest.raises(errors.UsageError, match="There is no outcome 'faild'"):
        session.breakpoints.add("tag:fold", after=True, outcome="faild")
    assert session.breakpoints.all() == []


def test_next_change_stops_after_each_change(launch: Launch) -> None:
    """In between nothing changes, and every stop has changed the IR or folded something."""
    session = launch(source=stock.write("mixed.mlir", stock.MIXED))
    session.start()
    before, ours = stock.module(session), [session.next_change()]
    while ours[-1].when != "exit":
        now = stock.module(session)
        if ours[-1].tag == "apply-pattern":
            assert now != before, ours[-1]
        before = now
        ours.append(session.next_change())
    patterns = [s.ordinal for s in ours[:-1] if s.tag == "apply-pattern"]
    everything = launch(source="mixed.mlir")
    changed = [s.ordinal for s in after(everything, "tag:apply-pattern", "changed")]
    assert patterns == changed
    # The pass itself changes nothing but through its iterations.
    assert {s.tag for s in ours[:-1]} == {"apply-pattern", "fold", "GreedyPatternRewriteIteration"}


def test_next_change_takes_a_count(launch: Launch) -> None:
    session = launch()
    session.start()
    ordinals = [session.next_change().ordinal for _ in range(3)]
    session.start()
    assert session.next_change(3).ordinal == ordinals[2]


def test_outcome_in_json(launch: Launch) -> None:
    session = launch()
    session.breakpoints.add("pattern:AddIAddConstant", outcome="changed")
    stop = session.run().as_json()
    assert stop["outcome"] == {
        "result": "succeeded",
        "reasons": [],
        "how": None,
        "values": [],
        "unheard": False,
    }
    keys = {"kind", "op", "id", "by", "what", "ordinal", "guess", "location"}
    assert all(set(change) == keys for change in stop["changes"])
    assert [change["kind"] for change in stop["changes"]].count("replaced") == 1
    assert stop["id"] > 0 and stop["message"] is None and stop["culprit"] is None
    session.start()
    before = session.restart().as_json()
    assert (before["outcome"], before["changes"]) == (None, [])
