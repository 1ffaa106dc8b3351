"""Alternatives on forks of a stop, with real tools of both builds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg import protocol, whatif
from actiondbg.bisection import Crash, Diagnostic, Verify
from actiondbg.errors import NotStopped, UsageError
from actiondbg.whatif.alternative_runs import request_of
from tests.elements import some
from tests.fakes import command_line
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]
Bare = Callable[..., str]
MERGE = "pattern:AddIAddConstant"
PASSES = ("--canonicalize", "--cse", "--symbol-dce")

# Two patterns of canonicalize match the loop.
LOOP = """\
func.func @loop(%n: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %a = arith.addi %n, %c1 : i32
  %r:2 = scf.while (%x = %a, %y = %n) : (i32, i32) -> (i32, i32) {
    %c = arith.cmpi slt, %x, %n : i32
    scf.condition(%c) %x, %x : i32, i32
  } do {
  ^bb0(%p: i32, %q: i32):
    %t = arith.addi %p, %c1 : i32
    scf.yield %t, %q : i32, i32
  }
  return %r#0 : i32
}
"""
CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  memref.store %v, %m[%i] : memref<4xi1>
  return
}
"""
FIRST, SECOND = "RemoveDuplicateSuccessorInputUses", "RemoveDeadRegionBranchOpSuccessorInputs"


def operations(text: str) -> dict[str, int]:
    """Count the operations that are in FOLDS, in printed IR."""
    names = ("arith.addi", "arith.constant", "func.func")
    return {name: count for name in names if (count := text.count(name))}


def counted(row: whatif.Row) -> dict[str, int]:
    names = ("arith.addi", "arith.constant", "func.func")
    found = row.operations or {}
    return {name: found[name] for name in names if name in found}


def test_each_alternative_is_what_the_tool_does(launch: Launch, bare: Bare) -> None:
    session = launch(*PASSES)
    session.start()
    with whatif.compare(
        session, "drop canonicalize; append 'convert-func-to-llvm,convert-arith-to-llvm'"
    ) as found:
        assert [row.alternative for row in found.rows] == [
            "as it is",
            "drop canonicalize",
            "append convert-func-to-llvm,convert-arith-to-llvm",
        ]
        assert found.final_ir(0) == bare(*PASSES)
        assert found.final_ir(1) == bare("--cse", "--symbol-dce")
        lowered = bare(*PASSES, "--convert-func-to-llvm", "--convert-arith-to-llvm")
        assert found.final_ir(2) == lowered
        for number, row in enumerate(found.rows[:2]):
            assert row.status == 0 and row.end == "exit"
            assert counted(row) == operations(found.final_ir(number))
        assert found.rows[2].operations is not None
        assert found.rows[2].operations["llvm.func"] == 2
        assert "llvm.func" in found.differing() and "builtin.module" not in found.differing()
        assert found.diff(1).unified()
    session.run()
    assert found.rows[0].actions == session.stop.actions if session.stop else False
    succeeded = sum(row.succeeded for row in session.past.statistics("pattern"))
    assert found.rows[0].applied == succeeded


def test_the_session_is_unharmed(launch: Launch, bare: Bare) -> None:
    session = launch(*PASSES)
    session.breakpoints.add(MERGE)
    before = session.run()
    whatif.compare(session, f"{MERGE} off; drop cse", jobs=2).close()
    assert session.stop == before
    assert session.target.output() == ""
    session.breakpoints.delete([1])
    assert session.continue_().status == 0
    assert session.target.output() == bare(*PASSES)


def test_an_alternative_begins_at_the_stop(launch: Launch) -> None:
    session = launch(*PASSES)
    session.breakpoints.add("pass:cse")
    session.run()
    with pytest.raises(UsageError, match="No pattern 'AddIAddConstant' is tried from this stop"):
        whatif.compare(session, f"{MERGE} off")
    with whatif.compare(session, f"{MERGE} off; drop cse") as found:
        assert found.rows[1].unmatched == [f"{MERGE} off"]
        assert not found.rows[2].unmatched


def test_skips_of_the_timeline_hold_in_each_run(launch: Launch) -> None:
    session = launch(*PASSES)
    session.breakpoints.add(MERGE)
    session.run()
    session.skips.rules.add(MERGE, "line == 14")
    with whatif.compare(session, "drop cse") as found:
        assert all(row.operations and row.operations["arith.addi"] == 3 for row in some(found.rows))


def test_a_change_is_found_where_an_earlier_rule_skips_the_same(launch: Launch) -> None:
    session = launch("--canonicalize")
    session.breakpoints.add(MERGE)
    session.run()
    twice = f"{MERGE} off and {MERGE} off"
    with whatif.compare(session, f"{MERGE} off; {twice}") as found:
        assert [row.unmatched for row in found.rows] == [[], [], []]
        assert found.rows[2].actions == found.rows[1].actions
    session.skips.rules.add(MERGE)
    with whatif.compare(session, f"{MERGE} off") as found:
        as_it_is, off = found.rows
        assert off.unmatched == []
        assert off.actions == as_it_is.actions


# --- patterns ------------------------------------------------------------------------


def test_a_pattern_that_is_off_is_as_skipped(launch: Launch) -> None:
    session = launch()
    session.start()
    with whatif.compare(session, f"{MERGE} off") as found:
        session.skips.rules.add(MERGE)
        session.run()
        assert found.final_ir(1) == session.target.output()


def test_the_final_ir_needs_no_output(launch: Launch, bare: Bare) -> None:
    session = launch("--canonicalize", "-o", os.devnull)
    session.start()
    with whatif.compare(session, f"{MERGE} off") as found:
        assert found.final_ir(0) == bare("--canonicalize")
        assert not found.diff(1).is_empty


def test_a_pattern_that_is_on_undoes_a_rule(launch: Launch, bare: Bare) -> None:
    session = launch()
    session.skips.rules.add("pattern:AddI*")
    session.start()
    with whatif.compare(session, f"{MERGE} on") as found:
        assert found.rows[0].applied == 0
        assert found.final_ir(1) == bare("--canonicalize")


def patterns_tried(session: actiondbg.Session, changes: str, op: str = "scf.while") -> list[str]:
    """Return the patterns tried on operations of a name from the stop on, in an alternative."""
    execution = session.execution
    assert execution is not None
    alternative = whatif.parse_alternatives(changes)[0]
    until = protocol.Until(
        terms=[
            protocol.Term(kind="tag", glob="apply-pattern"),
            protocol.Term(kind="op", glob=op),
        ],
        condition=None,
        within=False,
    )
    tried: list[str] = []
    with execution.fork(protocol.Fork(role="replica")) as fork:
        fork.request(protocol.SetBreakpoints(breakpoints=[]))
        fork.request(request_of(alternative.changes, Path(os.devnull), Path(os.devnull)))
        while fork.complete(until=until).when != "exit":
            assert fork.stop is not None
            tried.append(fork.stop.name)
    return tried


def test_a_forced_pattern_is_tried_first(mlir_opt: str, tmp_path: Path) -> None:
    source = tmp_path / "loop.mlir"
    source.write_text(LOOP)
    with actiondbg.launch([mlir_opt, str(source), "--canonicalize"]) as session:
        session.start()
        tried = patterns_tried(session, "append cse")
        assert tried.index(FIRST) < tried.index(SECOND)
        assert patterns_tried(session, f"pattern:{SECOND} on")[0] == SECOND
        assert patterns_tried(session, f"benefit {SECOND} 100")[0] == SECOND
        assert patterns_tried(session, f"benefit {FIRST} 0")[-1] == FIRST
        # The driver has ordered its patterns already.
        session.breakpoints.add("tag:apply-pattern and op:scf.while")
        session.continue_()
        rest = patterns_tried(session, f"pattern:{SECOND} on")
        assert rest[rest.index(FIRST) + 1] == SECOND  # at the next visit of the loop
        with whatif.compare(session, f"pattern:{SECOND} on; benefit {SECOND} 65534") as found:
            assert all(row.status == 0 for row in found.rows)
            assert found.rows[1].actions == found.rows[2].actions


def test_a_forced_pattern_is_tried_first_in_a_conversion(mlir_opt: str, tmp_path: Path) -> None:
    source = tmp_path / "broadcast.mlir"
    source.write_text(
        "func.func @f(%a: f32) -> vector<3xf32> {\n"
        "  %0 = vector.broadcast %a : f32 to vector<3xf32>\n"
        "  return %0 : vector<3xf32>\n}\n"
    )
    first, second = (f"VectorBroadcastScalarTo{rank}Lowering" for rank in ("Nd", "LowRank"))
    with actiondbg.launch([mlir_opt, str(source), "--convert-vector-to-llvm"]) as session:
        session.start()

        def order(changes: str) -> list[str]:
            return [
                name
                for name in patterns_tried(session, changes, "vector.broadcast")
                if name.startswith("VectorBroadcastScalar")
            ]

        assert order("append cse") == [first, second]
        assert order(f"pattern:{second} on") == [second]
        assert order(f"benefit {second} 9") == [second]
        assert order(f"benefit {first} 0") == [second]


# --- ends, oracles and limits ----------------------------------------------------------


def test_a_test_judges_each_run(launch: Launch) -> None:
    session = launch(*PASSES)
    session.start()
    test = "test $(grep -c addi {}) -lt 3"
    with whatif.compare(session, f"{MERGE} off; drop cse", oracle=test) as found:
        assert [row.verdict for row in found.rows] == ["good", "bad", "good"]
        assert found.rows[1].reason == "the test ended with status 1"
    with whatif.compare(session, f"{MERGE} off", until="canonicalize", oracle=test) as found:
        assert [row.verdict for row in found.rows] == ["good", "bad"]
        assert {row.end for row in found.rows} == {"until"}


def test_failures_and_events(launch: Launch) -> None:
    session = launch()
    session.start()
    with whatif.compare(
        session,
        "append convert-arith-to-llvm; append transform-interpreter",
        oracle=Diagnostic("*could not find*"),
    ) as found:
        as_it_is, lowered, failed = found.rows
        assert (as_it_is.verdict, lowered.verdict, failed.verdict) == ("good", "good", "bad")
        assert failed.status == 1 and failed.operations is None
    for oracle in (Verify(), Crash()):
        with whatif.compare(session, "append cse", oracle=oracle) as found:
            assert [row.verdict for row in found.rows] == ["good", "good"]


# transform-interpreter fails in the first and the last part, which have no schedule.
PARTS = """\
func.func @f() {
  return
}
// -----
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}
// -----
func.func @g() {
  return
}
"""


def test_the_final_ir_has_the_parts_of_the_input_in_which_no_pass_fails(
    launch: Launch, mlir_opt: str
) -> None:
    source = stock.write("parts.mlir", PARTS)
    session = launch("--split-input-file", "--cse", source=source)
    session.start()
    with whatif.compare(session, "append transform-interpreter; drop cse") as found:
        for number, passes in enumerate([["--cse"], ["--cse", "--transform-interpreter"], []]):
            argv = [mlir_opt, source, "--split-input-file", *passes]
            printed = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
            assert found.final_ir(number) == printed.replace("// -----\n", "")
        assert found.rows[1].operations is not None and found.rows[1].status == 1
        assert "func.func" not in found.rows[1].operations
        # The last part runs, too, after the pipeline failed in the first.
        assert found.rows[1].actions == 2 * len(PARTS.split("// -----"))


# The second pass manager fails, on another module with --fallback, on the same one without.
PASS_MANAGERS = """
import sys
from mlir.ir import Context, MLIRError, Module
from mlir.passmanager import PassManager
with Context():
    module = Module.parse("func.func @f() { return }")
    trial = Module.parse(str(module)) if "--fallback" in sys.argv else module
    for pipeline, on in ("cse", module), ("transform-interpreter", trial), ("symbol-dce", module):
        try:
            PassManager.parse(f"builtin.module({pipeline})").run(on.operation)
        except MLIRError:
            if "--fallback" not in sys.argv:
                sys.exit(int(sys.argv[1]))
    for each in module.body.operations if "--functions" in sys.argv else ():
        PassManager.parse("func.func(cse)").run(each.operation)
    print(module)
"""


def of_pass_managers(tmp_path: Path, *args: str) -> actiondbg.Session:
    pytest.importorskip("mlir.ir")
    program = tmp_path / "program.py"
    program.write_text(PASS_MANAGERS)
    return actiondbg.launch([sys.executable, str(program), *args])


@pytest.mark.parametrize("further", [(), ("--functions",)])
def test_the_final_ir_is_what_the_last_pass_manager_leaves(
    tmp_path: Path, further: tuple[str, ...]
) -> None:
    with of_pass_managers(tmp_path, "--fallback", *further) as session:
        session.start()
        with whatif.compare(session, "drop symbol-dce") as found:
            assert found.rows[0].status == 0
            assert found.rows[0].operations == {
                "builtin.module": 1,
                "func.func": 1,
                "func.return": 1,
            }
            ir = found.final_ir(0)
        session.continue_()
        assert ir.rstrip() == session.target.output().rstrip()


@pytest.mark.parametrize("status", [0, 1])
def test_ir_on_which_a_later_pass_manager_fails_is_no_final_ir(tmp_path: Path, status: int) -> None:
    with of_pass_managers(tmp_path, str(status)) as session:
        session.start()
        with whatif.compare(session, "drop cse") as found:
            assert found.rows[0].operations is None
            why = "" if status else ", though the last pass manager of no module succeeded"
            end = f"ended with status {status}{why}"
            assert found.without_ir(1) == (
                f"There is no final IR: the run as it is {end} and alternative 1, drop cse, {end}."
            )
            for number, whose in enumerate(("the run as it is", "alternative 1, drop cse,")):
                with pytest.raises(UsageError) as error:
                    found.final_ir(number)
                assert str(error.value) == f"There is no final IR: {whose} {end}."
            for number in (-1, 2):
                with pytest.raises(UsageError, match="their numbers are 0 to 1"):
                    found.final_ir(number)


def test_without_a_final_ir_there_is_no_diff(mlir_opt: str, folds: str) -> None:
    crashing = "replace cse with 'func.func(transform-interpreter)'"
    program = ("--", mlir_opt, folds, "--canonicalize", "--cse")
    done = run("whatif", "-a", f"{crashing}; drop cse", "--diff", *program)
    assert done.returncode == 0, done.stderr
    assert (
        f"There is no final IR: alternative 1, {crashing}, ended with status 1."
    ) in done.stdout.splitlines()
    # The run as it is and the alternative both fail.
    failing = ("--", mlir_opt, folds, "--transform-interpreter", "--cse")
    done = run("whatif", "-a", "append cse", "--diff", *failing)
    assert done.returncode == 0, done.stderr
    assert "the same final IR" not in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "There is no final IR: the run as it is ended with status 1 and alternative 1, "
        "append cse, ended with status 1."
    )


def test_a_crash_is_a_row(mlir_opt: str, tmp_path: Path) -> None:
    source = tmp_path / "crash.mlir"
    source.write_text(CRASHING)
    crashing = "finalize-memref-to-llvm"  # by an assertion
    if Path(mlir_opt).is_relative_to("/usr"):
        crashing = "test-pass-crash"
    with actiondbg.launch([mlir_opt, str(source), "--canonicalize"]) as session:
        session.start()
        text = f"append {crashing}; append cse"
        with whatif.compare(session, text, oracle=Crash()) as found:
            as_it_is, crashed, well = found.rows
        assert (as_it_is.status, well.status) == (0, 0)
        assert crashed.status is not None and crashed.status < 0
        assert (crashed.verdict, crashed.operations) == ("bad", None)
        assert crashed.message is not None and "died of SIG" in crashed.message
        assert session.continue_().status == 0


def test_an_endless_run_ends_at_the_limit(mlir_opt: str, tmp_path: Path) -> None:
    source = tmp_path / "cycle.mlir"
    source.write_text(stock.CYCLE)
    with actiondbg.launch([mlir_opt, str(source), "--canonicalize"]) as session:
        session.start()
        with whatif.compare(
            session, "append transform-interpreter; drop canonicalize", timeout=2, oracle="true"
        ) as found:
            assert [row.end for row in found.rows] == ["exit", "timeout", "exit"]
            assert [row.verdict for row in found.rows] == ["good", "untestable", "good"]
            assert found.rows[1].status is None and found.rows[1].actions is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "append nonsense",
            "The pipeline 'nonsense' cannot be appended: 'nonsense' does not refer",
        ),
        ("append 'func.func(cse'", "cannot be appended"),
        ("append affine-loop-tile", r"write it as func\.func\(\.\.\.\)"),
        ("drop canonicalise", r"No pass 'canonicalise' runs .*; did you mean pass:canonicalize\?"),
        ("pattern:Nonsense off", r"No pattern 'Nonsense' is tried from this stop on\."),
        ("benefit Nonsense 3", r"No pattern 'Nonsense' is tried from this stop on\."),
        ("nonsense", "'nonsense' is not an alternative"),
    ],
)
def test_bad_input(launch: Launch, text: str, message: str) -> None:
    session = launch()
    stop = session.start()
    with pytest.raises(UsageError, match=message):
        whatif.compare(session, text)
    assert session.stop == stop
    assert session.continue_().status == 0


def test_an_unknown_pass_to_stop_at(launch: Launch) -> None:
    session = launch()
    session.start()
    with pytest.raises(UsageError, match="does not reach the end of a pass 'cse'"):
        whatif.compare(session, "drop canonicalize", until="cse")


def test_without_a_stop(launch: Launch) -> None:
    session = launch()
    with pytest.raises(NotStopped, match="begin at a stop"):
        whatif.compare(session, "drop canonicalize")
    session.run()
    with pytest.raises(NotStopped, match="begin at a stop"):
        whatif.compare(session, "drop canonicalize")


# --- files -----------------------------------------------------------------------------


def test_the_users_output_file_is_not_touched(mlir_opt: str, folds: str, bare: Bare) -> None:
    argv = [mlir_opt, folds, "--canonicalize", "--cse", "-o", "out.mlir"]
    with actiondbg.launch(argv) as session:
        session.start()
        with whatif.compare(session, "append convert-arith-to-llvm; drop canonicalize") as found:
            assert Path("out.mlir").read_text() == ""
            assert found.final_ir(2) == bare("--cse")
        session.continue_()
    assert Path("out.mlir").read_text() == bare("--canonicalize", "--cse")


def test_no_process_and_no_file_remains(launch: Launch, tmp_path: Path) -> None:
    session = launch()
    session.start()
    forks = session.target.forks()
    found = whatif.compare(session, f"{MERGE} off", jobs=2)
    assert session.target.forks() == forks
    found.close()
    for ask in (found.final_ir, found.diff):
        with pytest.raises(UsageError, match="The comparison is closed"):
            ask(1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folds.mlir"]


# --- commands --------------------------------------------------------------------------


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return command_line.run(*words)


def test_the_commands_of_the_shell(mlir_opt: str, folds: str) -> None:
    commands = ("start", f"whatif {MERGE} off --diff", "whatif diff 1", "whatif diff 2")
    typed = [word for command in commands for word in ("-ex", command)]
    done = run(
        "-nx", "--batch", "--json", "--keep-going", *typed, mlir_opt, folds, "--canonicalize"
    )
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]
    compared, diff, missing = (one for one in said[1:])
    assert compared["ok"], compared
    result = compared["result"]
    assert [row["applied"] for row in result["rows"]][1] == 0
    assert result["differing"] == ["arith.addi", "arith.constant"]
    assert len(result["diffs"]) == 1
    assert diff["ok"]
    assert "their numbers are 1 to 1" in missing["error"]


def test_the_subcommand(mlir_opt: str, folds: str) -> None:
    program = ("--", mlir_opt, folds, "--canonicalize", "--cse")
    done = run("whatif", "-a", f"{MERGE} off; drop cse", "-j", "2", "--diff", *program)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split()[:4] == ["actions", "applied", "time", "end"]
    assert lines[2].endswith(f"{MERGE} off")
    assert "+++ alternative 1, pattern:AddIAddConstant off" in lines
    assert lines[-1] == "Alternative 2, drop cse, has the same final IR."
    done = run("whatif", "--json", "--at", "pass:cse", "-a", "drop cse", "--crash", *program)
    rows = json.loads(done.stdout)["rows"]
    assert [row["verdict"] for row in rows] == ["good", "good"]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ((), 2, "an alternative is missing"),
        (("-a", "nonsense"), 2, "'nonsense' is not an alternative"),
        (("-a", "drop cse", "--at", "pass:nonsense"), 2, "no action matches 'pass:nonsense'"),
        (("-a", "drop cse", "--crash", "--verify"), 2, "--crash and --verify exclude each other"),
        (("-a", "drop cse", "--entry", "f"), 2, "--entry is an option of --execute"),
    ],
)
def test_errors_of_the_subcommand(
    mlir_opt: str, folds: str, words: tuple[str, ...], status: int, message: str
) -> None:
    done = run("whatif", *words, "--", mlir_opt, folds, "--canonicalize", "--cse")
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
