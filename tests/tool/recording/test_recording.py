"""Recordings of real runs, of both builds."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import actiondbg
from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.errors import ActiondbgError, LaunchError, UsageError
from actiondbg.recording import is_recording, open_recording
from actiondbg.recording.capture.recorder import record, start_recording
from actiondbg.recording.recording import Recording
from tests.elements import some
from tests.fakes.stock_tool import ANONYMOUS
from tests.fakes.stops import all_stops
from tests.paths import COMMAND
from tests.processes import children, wait_for_end, wait_until

FUNCTION = """\
func.func @f{n}(%x: i32, %y: i32) -> i32 {{
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %a = arith.addi %x, %c1 : i32
  %b = arith.addi %a, %c2 : i32
  %c = arith.muli %b, %y : i32
  %d = arith.subi %c, %c : i32
  %e = arith.addi %c, %d : i32
  return %e : i32
}}
"""
CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  %c0 = arith.constant false
  %x = arith.ori %v, %c0 : i1
  memref.store %x, %m[%i] : memref<4xi1>
  return
}
"""
PASSES = ["--pass-pipeline=builtin.module(func.func(canonicalize,cse),convert-arith-to-llvm)"]


def many(count: int) -> str:
    Path("many.mlir").write_text("".join(FUNCTION.format(n=n) for n in range(count)))
    return "many.mlir"


def recorded(tool: list[str], **how: Any) -> Recording:
    options: dict[str, Any] = {"stdout": os.devnull, **how}
    done = record(tool, "run.adbrec", **options)
    assert done.status == 0 and done.path is not None
    return open_recording(done.path)


def rows(recording: Recording, *names: str, table: str = "actions") -> list[tuple[Any, ...]]:
    columns = recording.table(table, names).columns
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


# --- the same as the debugger shows ---------------------------------------------------------

SHOWN = ("ordinal", "nth", "tag", "name", "op", "function", "depth")
KINDS = ("inserted", "erased", "replaced", "modified", "moved")


def with_nested(actions: list[dict[str, Any]]) -> list[int]:
    """Return how many changes each action made, nested ones included."""
    counts = {action["ordinal"]: sum(action[kind] for kind in KINDS) for action in actions}
    for action in reversed(actions):
        if action["parent"] is not None:
            counts[action["parent"]] += counts[action["ordinal"]]
    return [counts[action["ordinal"]] for action in actions]


def test_recorded_actions_equal_the_live_ones(mlir_opt: str, folds: str) -> None:
    tool = [mlir_opt, folds, "--canonicalize", "--cse", "--mlir-disable-threading"]
    with actiondbg.launch(tool) as session:
        stops = [stop for stop in all_stops(session).values() if stop.when == "after"]
    shown: list[Any] = []
    for stop in some(sorted(stops, key=lambda stop: stop.ordinal)):
        assert stop.outcome is not None
        fields = [getattr(stop, name) for name in SHOWN]
        reason = next(iter(stop.outcome.reasons), None)
        # What a fold has found is put in place after the stop.
        changes = None if stop.tag == "fold" else stop.change_count
        shown.append([*fields, stop.location, stop.outcome.result, reason, changes])
    actions = recorded(tool).table("actions").to_pylist()
    told: list[Any] = []
    for action, changes in zip(actions, with_nested(actions), strict=True):
        location = f"{action['file']}:{action['line']}:{action['col']}"
        fields = [action[name] for name in SHOWN]
        told.append([*fields, location, action["outcome"], action["reason"]])
        told[-1].append(None if action["tag"] == "fold" else changes)
    assert len(told) > 40
    assert told == shown


def test_names_where_each_function_has_patterns_of_its_own(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names that are known have to be told again: the stock tool says which they are."""
    monkeypatch.chdir(tmp_path)
    passes = "canonicalize,int-range-optimizations,arith-expand,canonicalize"
    tool = [mlir_opt, many(40), "--mlir-disable-threading"]
    tool.append(f"--pass-pipeline=builtin.module(func.func({passes}),convert-arith-to-llvm)")
    subprocess.run([*tool, "-o", os.devnull, "--log-actions-to=stock.log"], check=True)
    log = re.sub(ANONYMOUS, "", Path("stock.log").read_text())
    told = re.findall(r"begins .* Action `apply-pattern pattern: (.*?) \(", log)
    tried = rows(recorded(tool), "tag", "name")
    assert [name for tag, name in tried if tag == "apply-pattern"] == told
    assert len(set(told)) > 10 and len(told) > 1000


# --- the tool does not notice ------------------------------------------------------------------


@pytest.mark.parametrize("ir", ["none", "changed", "function"])
def test_output_equals_that_of_the_plain_tool(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ir: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    tool = [mlir_opt, many(50), "--verify-each", *PASSES]
    alone = subprocess.run(tool, capture_output=True)
    done = record(tool, "run.adbrec", ir=ir, stdout="out", stderr="err", env=os.environ)
    assert done.status == alone.returncode == 0
    assert (Path("out").read_bytes(), Path("err").read_bytes()) == (alone.stdout, alone.stderr)
    assert len(alone.stdout) > 5000


def test_the_tool_gets_its_input_and_status(mlir_opt: str, folds: str) -> None:
    Path("bad.mlir").write_text("func.func @f( {")
    bad = record([mlir_opt, "--canonicalize"], "bad.adbrec", stdin="bad.mlir", stderr=os.devnull)
    assert bad.status == 1
    assert bad.path is not None and open_recording(bad.path).count == 0
    good = record([mlir_opt, "--canonicalize"], "good.adbrec", stdin=folds, stdout="out")
    assert good.status == 0 and good.path is not None
    assert open_recording(good.path).count > 40
    assert "arith.constant 7" in Path("out").read_text()


def test_a_tool_without_a_context_leaves_no_recording(mlir_opt: str, folds: str) -> None:
    done = record([mlir_opt, "--version"], "run.adbrec", stdout=os.devnull)
    assert (done.status, done.path) == (0, None)
    assert not Path("run.adbrec").exists()


# --- threads -----------------------------------------------------------------------------------


def test_threads_dispatch_the_same_actions(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tool = [mlir_opt, many(300), *PASSES]
    names = ("function", "tag", "name", "op", "outcome", "line", "col", "fold", "reason", "depth")
    alone = recorded([*tool, "--mlir-disable-threading"])
    threads = recorded(tool)
    assert (alone.header.threads, threads.header.threads) == (False, True)
    assert set(rows(alone, "thread")) == {(0,)}
    assert len(set(rows(threads, "thread"))) > 1
    assert Counter(rows(alone, *names)) == Counter(rows(threads, *names))
    assert alone.count > 10_000

    def of_functions(recording: Recording) -> dict[str, list[Any]]:
        """What was done in each function, in its order, with what it did."""
        found: dict[str, list[Any]] = {}
        for function, *rest in rows(recording, *names, *KINDS):
            found.setdefault(function, []).append(rest)
        return found

    ours, theirs = of_functions(alone), of_functions(threads)
    ours.pop(None, None), theirs.pop(None, None)  # pyright: ignore
    assert ours == theirs


def test_actions_of_threads_are_nested_in_their_pass(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    actions = recorded([mlir_opt, many(100), *PASSES]).table("actions").to_pylist()
    by_ordinal = {action["ordinal"]: action for action in actions}
    starts = [action["start_ns"] for action in actions]
    assert starts == sorted(starts)
    guests = [a for a in actions if a["name"] == "canonicalize"]
    assert len(guests) == 100
    for guest in guests:
        host = by_ordinal[guest["parent"]]
        assert (host["thread"], host["depth"], host["op"]) == (0, 0, "builtin.module")
        assert guest["depth"] == 1 and host["start_ns"] <= guest["start_ns"]
    for action in some(actions):
        assert 0 <= action["self_ns"] <= action["duration_ns"]


def test_the_column_of_passes_follows_the_parents_across_threads(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    actions = recorded([mlir_opt, many(20), *PASSES]).table("actions").to_pylist()
    found: dict[int | None, str | None] = {None: None}
    for action in actions:
        is_own = action["tag"] == "pass-execution" and "Adaptor" not in action["name"]
        found[action["ordinal"]] = action["name"] if is_own else found[action["parent"]]
    assert [action["pass"] for action in actions] == [*found.values()][1:]
    assert set(found.values()) == {None, "canonicalize", "cse", "convert-arith-to-llvm"}


def test_a_tool_that_recovers_from_a_crash_is_recorded_to_its_end(
    mlir_opt: str, folds: str, pattern_plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As language runtimes do, which use such signals."""
    monkeypatch.setenv("RECOVERS", "1")
    pipeline = "builtin.module(recovers,canonicalize,recovers,cse)"
    tool = [mlir_opt, folds, f"--load-pass-plugin={pattern_plugin}"]
    recording = recorded([*tool, "--mlir-disable-threading", f"--pass-pipeline={pipeline}"])
    assert (recording.ending.ended, recording.ending.status) == ("exit", 0)
    passes = recording.table("actions").to_pylist()
    names = [each["name"] for each in passes if each["tag"] == "pass-execution"]
    assert names == ["recovers", "canonicalize", "recovers", "cse"]
    monkeypatch.delenv("RECOVERS")
    monkeypatch.setenv("ENDS", "1")
    done = record([*tool, f"--pass-pipeline={pipeline}"], "ended.adbrec")
    ended = open_recording("ended.adbrec").ending
    assert (done.status, ended.ended, ended.ordinal) == (3, "crash", 1)


def test_a_handler_of_a_crash_that_returns(
    mlir_opt: str, folds: str, pattern_plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal that was raised is over then; ``abort`` kills the tool, as after LLVM 19's."""
    monkeypatch.setenv("RETURNS", "1")
    tool = [mlir_opt, folds, f"--load-pass-plugin={pattern_plugin}"]
    tool += ["--mlir-disable-threading", "--pass-pipeline=builtin.module(cse,recovers,recovers)"]
    end = recorded(tool).ending
    assert (end.ended, end.status) == ("exit", 0)
    monkeypatch.setenv("ABORTS", "1")
    done = record(tool, "aborted.adbrec")
    recording = open_recording("aborted.adbrec")
    end = recording.ending
    assert (done.status, end.ended, end.signal) == (-signal.SIGABRT, "crash", signal.SIGABRT)
    assert end.ordinal == recording.count


def test_rules_skip_the_same_actions_as_in_a_session(mlir_opt: str, folds: str) -> None:
    tool = [mlir_opt, folds, "--canonicalize", "--cse", "--mlir-disable-threading"]
    rules = ("pattern:AddIAddConstant if line > 3", "fold:arith.addi and func:sum", "pass:cse")
    with actiondbg.launch(tool) as session:
        for rule in rules:
            session.skips.rules.add(*split_spec_and_condition(rule))
        assert session.run().status == 0
        output = session.target.output()
        live = session.past.actions(count=10**6).actions
    found = recorded(tool, skip=rules, stdout="out.mlir")
    assert Path("out.mlir").read_text() == output
    results = [(one.ordinal, one.tag, one.outcome and one.outcome.result) for one in live]
    assert rows(found, "ordinal", "tag", "outcome") == results
    skipped = [tag for _, tag, result in results if result == "skipped"]
    assert set(skipped) == {"apply-pattern", "fold", "pass-execution"}
    with pytest.raises(UsageError, match="Nothing follows pattern"):
        start_recording(tool, "no.adbrec", skip=["pattern:"])
    assert not Path("no.adbrec").exists()


def test_rules_skip_in_threads(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tool = [mlir_opt, many(100), *PASSES]
    found = recorded(tool, skip=["pattern:AddIAddConstant"])
    tried = [how for name, how in rows(found, "name", "outcome") if name == "AddIAddConstant"]
    assert len(tried) >= 100 and set(tried) == {"skipped"}


# --- IR ------------------------------------------------------------------------------------------


def test_ir_of_changed_functions(mlir_opt: str, folds: str) -> None:
    tool = [mlir_opt, folds, "--mlir-disable-threading", "--pass-pipeline="]
    tool[-1] += "builtin.module(func.func(canonicalize))"
    recording = recorded(tool, ir="function")
    assert recording.header.ir == "function"
    changed = {ordinal for ordinal, yes in rows(recording, "ordinal", "changed") if yes}
    kept = rows(recording, "ordinal", "operation", "when", "text", table="ir")
    assert {row[0] for row in kept} <= changed
    ops = dict(rows(recording, "operation", "op", table="operations"))
    assert {ops[operation] for _, operation, *_ in kept} == {"func.func", "builtin.module"}
    assert all(("func.func @" in text) and text.endswith("}\n") for *_, text in kept)
    outermost = next(text for *_, when, text in kept if when == "after" and "@sum" in text)
    assert "arith.constant 7" in outermost
    assert outermost.split("@twice")[0].count("arith.addi") == 1
    for ordinal in {row[0] for row in kept}:
        for snapshot in some(recording.snapshots(ordinal)):
            assert snapshot.before != snapshot.after


def test_ir_of_changed_operations(mlir_opt: str, folds: str) -> None:
    recording = recorded([mlir_opt, folds, "--canonicalize"], ir="changed")
    kept = rows(recording, "ordinal", "operation", "when", "text", table="ir")
    assert kept and all("\n" not in text for *_, text in kept)
    ops = dict(rows(recording, "operation", "op", table="operations"))
    assert all(ops[operation] in text for _, operation, _, text in kept)


# --- ends that are no ends --------------------------------------------------------------------


@pytest.mark.parametrize("threads", [[], ["--mlir-disable-threading"]])
def test_a_tool_that_is_killed(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: list[str]
) -> None:
    """What was done until then is there, but for the last moments."""
    monkeypatch.chdir(tmp_path)
    tool = [mlir_opt, many(20_000), *PASSES, *threads]
    with start_recording(tool, "run.adbrec", stdout=os.devnull) as running:
        wait_until(lambda: Path("run.adbrec").stat().st_size > 1_000_000)
        running.process.send_signal(signal.SIGKILL)
        done = running.wait()
    assert done.status == -signal.SIGKILL
    recording = open_recording("run.adbrec")
    assert recording.count > 10_000
    assert recording.ending.ended == "killed"
    assert recording.cut is not None
    outcomes = Counter(outcome for (outcome,) in rows(recording, "outcome"))
    assert 0 < outcomes["unfinished"] < 20
    finished = rows(recording, "outcome", "duration_ns", "tag", "name")
    assert all((o == "unfinished") == (d is None) and t for o, d, t, _ in some(finished))


def test_tool_ends_with_its_recorder(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [COMMAND, "record", "-o", "run.adbrec", "--", mlir_opt, many(20_000), *PASSES]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    wait_until(lambda: is_recording("run.adbrec") and Path("run.adbrec").stat().st_size > 10_000)
    (child,) = children(process.pid)
    process.kill()
    process.communicate()
    wait_for_end([child])
    assert open_recording("run.adbrec").ending.ended == "killed"


def test_a_tool_that_crashes(mlir_opt: str, folds: str) -> None:
    """It is told with the action in which it was, and nothing is lost."""
    Path("crash.mlir").write_text(CRASHING)
    is_debian = mlir_opt.startswith("/usr")
    last = "--test-pass-crash" if is_debian else "--finalize-memref-to-llvm"
    tool = [mlir_opt, "crash.mlir", "--canonicalize", last]
    done = record(tool, "run.adbrec", stdout=os.devnull, stderr=os.devnull)
    assert done.status == -signal.SIGABRT
    recording = open_recording("run.adbrec")
    ending = recording.ending
    assert (ending.ended, ending.signal, recording.cut) == ("crash", signal.SIGABRT, None)
    actions = {row[0]: row[1:] for row in rows(recording, "ordinal", "tag", "name", "outcome")}
    fatal = ("pass-execution", "test-pass-crash"), ("apply-pattern", "StoreOpLowering")
    assert ending.ordinal is not None
    assert actions[ending.ordinal] == (*fatal[0 if is_debian else 1], "unfinished")
    unfinished = [ordinal for ordinal, action in actions.items() if action[2] == "unfinished"]
    assert unfinished[-1] == ending.ordinal
    assert actions[1] == ("pass-execution", "canonicalize", "succeeded")


# --- where it is written --------------------------------------------------------------------


def test_other_files_are_not_overwritten(mlir_opt: str, folds: str) -> None:
    with pytest.raises(UsageError, match=r"folds.mlir' is not a recording and is not overwritten"):
        record([mlir_opt, folds, "--canonicalize"], folds)
    assert "@sum" in Path(folds).read_text()
    for output in ("/dev/null", "."):
        with pytest.raises((UsageError, LaunchError)):
            record([mlir_opt, folds, "--canonicalize"], output)
    with pytest.raises(LaunchError, match=r"cannot be written \(No such file or directory\)"):
        record([mlir_opt, folds, "--canonicalize"], "nowhere/run.adbrec")
    with pytest.raises(UsageError, match="command line is empty"):
        record([], "run.adbrec")


def test_failed_start_keeps_the_old_recording(mlir_opt: str, folds: str) -> None:
    recorded([mlir_opt, folds, "--canonicalize"])
    before = Path("run.adbrec").read_bytes()
    with pytest.raises(LaunchError, match="no tool 'no-such-tool'"):
        record(["no-such-tool", folds], "run.adbrec")
    with pytest.raises(LaunchError, match="'nowhere' cannot be read"):
        record([mlir_opt], "run.adbrec", stdin="nowhere")
    assert Path("run.adbrec").read_bytes() == before
    with pytest.raises(LaunchError, match="The working directory 'nowhere' of"):
        record([mlir_opt, folds], "new.adbrec", cwd="nowhere")
    assert not Path("new.adbrec").exists()


def _full_disk(path: str | Path) -> os.statvfs_result:
    return os.statvfs_result((4096, 4096, 9, 3, 3, 9, 9, 9, 0, 255))


def test_a_full_disk_is_named_where_nothing_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert record(["true"], tmp_path / "run.adbrec").path is None
    monkeypatch.setattr(os, "statvfs", _full_disk)
    with pytest.raises(ActiondbgError, match=re.escape(f"no space is left in {tmp_path}: free")):
        record(["true"], tmp_path / "run.adbrec")
    assert not list(tmp_path.iterdir())
