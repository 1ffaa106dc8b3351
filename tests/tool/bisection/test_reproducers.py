"""Reproducers of real bisections: each is run again here, by the stock tool and nothing of ours."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import actiondbg
from actiondbg import errors
from actiondbg.bisection import Crash, Diagnostic, FileCheck, Oracle, Result, Verify
from actiondbg.commands.render.bisection import bisection_text
from tests.fakes import command_line
from tests.fakes import stock_tool as stock

Debian = Callable[[str], str]

LOWER = "canonicalize,convert-arith-to-llvm"
STORE = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  %c0 = arith.constant false
  %x = arith.ori %v, %c0 : i1
  memref.store %x, %m[%i] : memref<4xi1>
  return
}
"""
TENSOR = """\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "test.foo"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
ALL = {
    *("after.mlir", "before.mlir", "report.html", "report.md", "repro.sh", "session.adb"),
    "verdict.skips",
}


def find(
    argv: list[str], oracle: Oracle | str | Callable[[Path], bool], folder: str = "out"
) -> tuple[Result, Path]:
    """Bisect; what is found has a reproducer."""
    result = actiondbg.bisect(argv, oracle, output=folder)
    assert result.verdict == "found", result.message
    assert result.reproducer is not None
    return result, Path(result.reproducer)


def script(folder: Path, tool: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the script from elsewhere, with an environment that has nothing of ours."""
    environment = {"PATH": "/usr/bin:/bin"}
    if tool is not None:
        environment["MLIR_OPT"] = tool
    return subprocess.run(
        ["sh", str(folder.absolute() / "repro.sh")],
        capture_output=True,
        text=True,
        env=environment,
        cwd="/",
    )


def shows_both(folder: Path) -> str:
    """Run the script and check that it showed good and bad; return what it wrote."""
    done = script(folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "expected good" in done.stdout and "expected bad" in done.stdout
    return done.stdout


def report(folder: Path) -> str:
    return (folder / "report.md").read_text()


def test_a_pattern_is_shown_by_a_debug_counter(mlir_opt: str, folds: str) -> None:
    argv = [mlir_opt, folds, "--canonicalize"]
    result, folder = find(argv, "! grep -q 'arith.constant 7 ' {}")
    found = result.as_json()
    assert (found["tag"], found["name"]) == ("apply-pattern", "AddIAddConstant")
    assert result.reproducer_verified is True
    assert {file.name for file in folder.iterdir()} == {*ALL, "input.mlir"}
    shows_both(folder)
    # What it says of the stock tool is so.
    counts = re.findall(r"apply-pattern-skip=0,apply-pattern-count=(\d+)$", report(folder), re.M)
    assert len(counts) == 2 and int(counts[0]) == int(counts[1]) + 1
    for count, is_bad in zip(counts, (True, False), strict=True):
        counter = f"--mlir-debug-counter=apply-pattern-skip=0,apply-pattern-count={count}"
        done = stock.run([*argv, "--mlir-disable-threading", counter], check=True)
        assert ("arith.constant 7 " in done.stdout) == is_bad
    assert re.search(r"(?m)^\+ +%c7_i32 = arith\.constant 7", report(folder))


@pytest.mark.library
@pytest.mark.parametrize("mode", ["first", "skip"])
def test_the_verdict_is_loaded_as_skips(mlir_opt: str, folds: str, mode: Any) -> None:
    argv = [mlir_opt, folds, "--canonicalize"]
    result = actiondbg.bisect(argv, "! grep -q 'arith.constant 7 ' {}", output="out", mode=mode)
    assert result.verdict == "found"
    with actiondbg.launch(argv) as session:
        session.run()
        assert "arith.constant 7 " in session.target.output()
        assert session.skips.load("out/verdict.skips") == 1
        session.run()
        assert "arith.constant 7 " not in session.target.output()
    copy = [mlir_opt, "out/input.mlir", "--canonicalize"]
    with actiondbg.launch(copy, skips="out/verdict.skips") as session:
        session.run()
        assert "arith.constant 7 " not in session.target.output()


@pytest.mark.library
def test_files_of_the_user_with_our_names_are_kept(mlir_opt: str, folds: str) -> None:
    script = "#!/bin/sh\n! grep -q 'arith.constant 7 ' \"$1\"\n"
    for name in ("verdict.skips", "attempt-0.sh", "state.json"):
        Path(name).write_text(script)
    test = " && ".join(f"sh ./{name} {{}}" for name in ("verdict.skips", "attempt-0.sh"))
    result, folder = find([mlir_opt, folds, "--canonicalize"], f"{test} && cat state.json")
    assert result.reproducer_verified
    shows_both(folder)
    for name in ("verdict-2.skips", "attempt-0.sh", "state-2.json"):
        assert (folder / name).read_text() == script
    with actiondbg.launch([mlir_opt, folds, "--canonicalize"]) as session:
        assert session.skips.load(folder / "verdict.skips") == 1


def test_the_ir_before_and_after_is_that_of_the_session(mlir_opt: str, folds: str) -> None:
    argv = [mlir_opt, folds, "--canonicalize"]
    result, folder = find(argv, "! grep -q 'arith.constant 7 ' {}")
    with actiondbg.launch(argv) as session:
        session.breakpoints.add(f"#{result.as_json()['ordinal']}")
        for name, resume in (("before.mlir", session.run), ("after.mlir", session.next)):
            resume()
            printed = session.ir.print("module", printer_names=True).text
            assert (folder / name).read_text() == printed


@pytest.mark.library
def test_session_script_reaches_the_action(mlir_opt: str, folds: str) -> None:
    result, folder = find([mlir_opt, folds, "--canonicalize"], "! grep -q 'constant 7 ' {}")
    words = ["--batch", "-nx", "-x", "session.adb", mlir_opt, "input.mlir", "--canonicalize"]
    done = command_line.run(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    ordinal = result.as_json()["ordinal"]
    assert f"before #{ordinal} apply-pattern AddIAddConstant" in done.stdout
    assert "arith.constant 7 " in done.stdout


@pytest.mark.library
@pytest.mark.usefixtures("folds")
def test_session_script_reaches_actions_inside_each_other(mlir_opt: str) -> None:
    Path("calls.mlir").write_text(stock.CALLS)
    argv = [mlir_opt, "calls.mlir", "--cse", "--inline"]
    result = actiondbg.bisect(
        argv,
        "! { grep -q 'constant 4' {} && ! grep -q call {}; }",
        mode="minimize",
        tag="pass-execution",
        output="out",
    )
    outer, inner = result.applied
    assert (outer.name, inner.name) == ("inline", "canonicalize")
    assert outer.ordinal < inner.ordinal <= outer.last
    assert not [note for note in result.notes if "session.adb" in note]
    words = ["--batch", "-nx", "-x", "session.adb", mlir_opt, "input.mlir", *argv[2:]]
    done = command_line.run(*words, cwd="out")
    assert done.returncode == 0, done.stderr
    diffs = re.findall(r"^--- before #(\d+) ", done.stdout, re.MULTILINE)
    assert [int(number) for number in diffs] == [inner.ordinal, outer.ordinal]


def test_a_fold_is_shown_by_the_ir_around_it(mlir_opt: str, folds: str) -> None:
    """Folding x + 0 leaves the constant without a use; no counter of upstream's knows of it."""
    argv = [mlir_opt, folds, "--canonicalize", "-o", "mine.mlir"]
    result, folder = find(argv, "grep -q 'arith.constant 0 ' {}")
    assert (result.as_json()["tag"], result.as_json()["op"]) == ("fold", "arith.addi")
    assert result.reproducer_verified is True
    said = shows_both(folder)
    assert "good, expected good: before-pass.mlir without any pass" in said
    assert "arith.addi %arg0, %c0_i32" in (folder / "before.mlir").read_text()
    assert "arith.addi %arg0, %c0_i32" not in (folder / "after.mlir").read_text()
    assert re.search(r"(?m)^-.*arith\.addi %arg0, %c0_i32", report(folder))
    assert not Path("mine.mlir").exists()


@pytest.mark.library
def test_a_whole_pass_is_shown_by_the_ir_before_it(mlir_opt: str, folds: str) -> None:
    source = stock.write("mixed.mlir", stock.MIXED)
    argv = [mlir_opt, source, "--cse", "--symbol-dce", "--sccp"]
    result, folder = find(argv, "grep -q @unused {}")
    assert (result.as_json()["tag"], result.as_json()["name"]) == ("pass-execution", "symbol-dce")
    assert result.reproducer_verified is True
    said = shows_both(folder)
    # Those outputs were judged already; that of the pass alone was not.
    assert "bad, expected bad: before.mlir, the pass and those after it" in said
    assert "good, expected good: before.mlir, those after it alone" in said
    assert not (folder / "before-pass.mlir").exists()
    assert "@unused" in (folder / "before.mlir").read_text()


@pytest.mark.library
def test_a_test_of_the_last_pass_is_shown_with_the_passes_that_follow(
    mlir_opt: str, folds: str
) -> None:
    """The output can be judged only when it is lowered, so the culprit pass is not run alone."""
    test = "grep -q llvm.add {} || exit 125; grep -q 'llvm.mlir.constant(0 ' {}"
    argv = [mlir_opt, folds, f"--pass-pipeline=builtin.module(func.func({LOWER}))"]
    result, folder = find(argv, test)
    assert result.as_json()["tag"] == "fold"
    assert result.reproducer_verified is True
    said = shows_both(folder)
    assert "bad, expected bad: before-pass.mlir, the pass and those after it" in said
    assert "good, expected good: before-pass.mlir, those after it alone" in said


def test_a_crash_is_shown(debian: Debian, mlir_opt: str, folds: str) -> None:
    source = stock.write("crash.mlir", STORE)
    is_debian = mlir_opt == debian("mlir-opt")
    flags = ["--test-pass-crash"] if is_debian else ["--finalize-memref-to-llvm"]
    result, folder = find([mlir_opt, source, "--canonicalize", *flags], Crash())
    assert result.as_json()["pass"] == flags[0].removeprefix("--")
    assert result.reproducer_verified is True
    shows_both(folder)
    text = report(folder)
    assert "There is no IR after the action, because the tool ended in it." in text
    assert not (folder / "after.mlir").exists()
    _, _, crash = text.partition("## The crash\n\n")
    assert crash.startswith("The tool died of SIGABRT with the command as it is")
    if not is_debian:
        sentence = crash.partition("\n")[0].replace("\\", "")
        assert "Assertion `integralElementType.getWidth() >= 8' failed in" in sentence
        assert "StoreOpLowering::matchAndRewrite at " in sentence
    trace = crash.partition("```\n")[2].partition("\n```")[0]
    assert "Stack dump:" in trace and "PassManager::run" in trace
    assert "Stack dump:" in (folder / "report.html").read_text()
    assert not list(folder.glob("*reproducers*"))


def test_invalid_ir_is_shown(debian: Debian, folds: str) -> None:
    passes = "func.func(cse,test-pass-create-invalid-ir,canonicalize)"
    argv = [debian("mlir-opt"), folds, f"--pass-pipeline=builtin.module({passes})"]
    result, folder = find(argv, Verify())
    assert result.as_json()["name"] == "test-pass-create-invalid-ir"
    assert result.reproducer_verified is True
    shows_both(folder)
    assert "in generic form" in (folder / "report.html").read_text()


def test_a_diagnostic_is_shown(mlir_opt: str, folds: str) -> None:
    source = stock.write("t.mlir", TENSOR)
    argv = [mlir_opt, source, "--allow-unregistered-dialect", "--cse", "--one-shot-bufferize"]
    result, folder = find(argv, Diagnostic("*not bufferized*"))
    assert result.as_json()["pass"] == "one-shot-bufferize"
    assert result.reproducer_verified is True
    shows_both(folder)


def test_checks_are_shown(mlir_opt: str, folds: str) -> None:
    Path("checks").write_text("CHECK-LABEL: func.func @sum\nCHECK: arith.constant 4 : i32\n")
    result, folder = find([mlir_opt, folds, "--canonicalize"], FileCheck(Path("checks")))
    assert result.as_json()["name"] == "AddIAddConstant"
    assert result.reproducer_verified is True
    assert (folder / "checks").read_text() == Path("checks").read_text()
    shows_both(folder)


@pytest.mark.library
@pytest.mark.parametrize("mode", ["minimize", "skip"])
def test_set_of_actions_is_reported(
    mlir_opt: str, folds: str, mode: Literal["minimize", "skip"]
) -> None:
    argv = [mlir_opt, folds, "--canonicalize"]
    result = actiondbg.bisect(argv, "! grep -q 'constant 7 ' {}", mode=mode, output="out")
    assert result.reproducer_verified is True, result.notes
    shows_both(Path("out"))
    entries = result.applied if mode == "minimize" else result.skips
    text = report(Path("out"))
    assert entries and all(entry.describe() in text for entry in entries)
    assert "The smallest set of" in text
    breaks = [f"break #{entry.ordinal}" for entry in entries]
    lines = Path("out/session.adb").read_text().splitlines()
    assert [line for line in lines if line.startswith("break ")] == breaks
    assert "session.adb was run" not in text  # it came to its end


# A pass in a pass hoists: the IR before it cannot be judged, as the outer one has not ended there.
HOISTED = """\
func.func @fill(%n: index, %x: i32) -> tensor<8xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.empty() : tensor<8xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> (tensor<8xi32>) {
    %y = arith.muli %x, %x : i32
    %s = tensor.insert %y into %a[%i] : tensor<8xi32>
    scf.yield %s : tensor<8xi32>
  }
  return %r : tensor<8xi32>
}
"""
HOISTS = """\
grep -q tensor.insert "$1" && exit 125
awk '/scf.for/ { inside = 1 } /arith.muli/ { exit !inside }' "$1"
"""


@pytest.mark.library
@pytest.mark.parametrize("mode", ["first", "minimize"])
def test_a_reproducer_that_needs_actiondbg_says_so(
    mlir_opt: str, folds: str, mode: Literal["first", "minimize"]
) -> None:
    source = stock.write("hoisted.mlir", HOISTED)
    Path("judge.sh").write_text(HOISTS)
    argv = [mlir_opt, source, "--sparsification-and-bufferization"]
    result = actiondbg.bisect(argv, "sh judge.sh {}", mode=mode, output="out")
    assert result.culprit is not None and result.culprit.name == "loop-invariant-code-motion"
    assert result.reproducer_verified and result.reproducer_needs_actiondbg
    shown = bisection_text(result).splitlines()[-1]
    assert shown.endswith("(verified: shows good and bad, and needs actiondbg)")
    shows_both(Path("out"))


@pytest.mark.library
def test_predicate_judges_the_files_of_the_script(mlir_opt: str, folds: str) -> None:
    def is_good(output: Path) -> bool:
        return "arith.constant 7 " not in output.read_text()

    result, folder = find([mlir_opt, folds, "--canonicalize"], is_good)
    assert result.reproducer_verified is False
    assert "leaves the outputs unjudged, and ends with status 3" in " ".join(result.notes)
    assert "verdicts of tests." in report(folder)
    for tool in (None, "/bin/true"):
        done = script(folder, tool)
        assert done.returncode == 3 and "1. unjudged, expected bad" in done.stdout
        assert "not judged" in done.stdout.splitlines()[-1]
    assert "| 2 | bad | bad |" in report(folder) and "| 3 | good | good |" in report(folder)


def test_the_folder_works_elsewhere_with_another_tool(
    debian: Debian, folds: str, tmp_path: Path
) -> None:
    """The test of a test: it has files of its own, and the input is in another directory."""
    Path("in").mkdir()
    shutil.move(folds, "in/x y.mlir")
    Path("in/check.sh").write_text('#!/bin/sh\n. "${0%/*}/lib.sh"\nno_seven "$1"\n')
    Path("in/lib.sh").write_text("no_seven() { ! grep -q 'arith.constant 7 ' \"$1\"; }\n")
    os.chmod("in/check.sh", 0o755)
    result, folder = find(["mlir-opt", "in/x y.mlir", "--canonicalize"], "in/check.sh {}")
    assert result.reproducer_verified is True
    moved = tmp_path / "moved here"
    shutil.move(folder, moved)
    shutil.rmtree("in")
    shows_both(moved)
    done = script(moved, debian("mlir-opt"))
    assert done.returncode == 0, done.stdout
    # A tool that does nothing is not bad.
    assert script(moved, "/bin/true").returncode == 1


@pytest.mark.library
def test_test_that_needs_its_directory_runs_there(mlir_opt: str, folds: str) -> None:
    Path("data").mkdir()
    Path("data/words").write_text("arith.constant 7 \n")
    result, folder = find([mlir_opt, folds, "--canonicalize"], 'd=data; ! grep -qf "$d/words" {}')
    assert result.reproducer_verified is True
    shows_both(folder)
    assert "so repro.sh runs it there" in report(folder)


@pytest.mark.library
def test_a_test_that_removes_its_script(mlir_opt: str, folds: str) -> None:
    test = "rm -f attempt-*.sh; ! grep -q 'arith.constant 7 ' {}"
    result, folder = find([mlir_opt, folds, "--canonicalize"], test)
    assert result.reproducer_verified is True
    assert {file.name for file in folder.iterdir()} == {*ALL, "input.mlir"}


@pytest.mark.library
def test_the_standard_input_is_kept(mlir_opt: str, folds: str) -> None:
    result = actiondbg.bisect(
        [mlir_opt, "--canonicalize"], "! grep -q 'constant 7 ' {}", output="out", stdin=folds
    )
    assert result.reproducer_verified is True
    assert Path("out/input.mlir").read_text() == Path(folds).read_text()
    shows_both(Path("out"))


def leave_an_unused_constant(source: str) -> None:
    """Make the IR before the pass an output of no trial: the driver removes the constant always."""
    text = Path(source).read_text()
    Path(source).write_text(text.replace("return %z", "%u = arith.constant 99 : i32\n  return %z"))


@pytest.mark.library
def test_nothing_is_left_by_an_interrupt(mlir_opt: str, folds: str) -> None:
    asked: list[str] = []

    def is_good(output: Path) -> bool:
        if output.name.endswith(".out") and "kept" in output.parts:  # of the reproducer
            asked.append(output.name)
            raise KeyboardInterrupt
        return "arith.constant 0 " in output.read_text()

    leave_an_unused_constant(folds)
    before = set(Path().iterdir())
    with pytest.raises(KeyboardInterrupt):
        actiondbg.bisect([mlir_opt, folds, "--canonicalize"], is_good, output="out")
    assert asked
    left = {file.name for file in {*Path().iterdir()} - before}
    assert left <= {"out"}  # what is known, to go on from
    if Path("out").exists():
        assert not ALL & {file.name for file in Path("out").iterdir()}


@pytest.mark.library
def test_unconfirmed_result_is_reported(mlir_opt: str, folds: str) -> None:
    """A predicate that knows where it is called finds nothing good of what the script left."""

    def is_good(output: Path) -> bool:
        return "kept" not in output.parts and "constant 0 " in output.read_text()

    leave_an_unused_constant(folds)
    result, folder = find([mlir_opt, folds, "--canonicalize"], is_good)
    assert result.reproducer_verified is False
    assert "Tried, but not confirmed" in report(folder)
    assert "no run of a stock tool alone shows good" in report(folder)


@pytest.mark.library
def test_the_folder_of_another_is_refused(mlir_opt: str, folds: str) -> None:
    Path("out").mkdir()
    Path("out/thesis").write_text("x")
    with pytest.raises((errors.FileNotWritten, errors.UsageError)):
        find([mlir_opt, folds, "--canonicalize"], "! grep -q 'constant 7 ' {}")
    assert [file.name for file in Path("out").iterdir()] == ["thesis"]


# --- how often the oracle judges ------------------------------------------------------------


def counted(test: str) -> str:
    """Return a test that counts its runs."""
    return f"echo >> {Path('judged').absolute()}; {test}"


def runs() -> int:
    count = len(Path("judged").read_text().splitlines())
    Path("judged").unlink()
    return count


@pytest.mark.library
@pytest.mark.parametrize("count", [2, 5, 8])
def test_the_oracle_judges_no_output_twice(mlir_opt: str, folds: str, count: int) -> None:
    text = "".join(
        f"func.func @f{n}(%a: i32) -> i32 {{\n"
        f"  %c = arith.constant {n + 1} : i32\n"
        f"  %d = arith.constant {100 * n + 50} : i32\n"
        "  %x = arith.addi %a, %c : i32\n"
        "  %y = arith.addi %x, %d : i32\n"
        "  return %y : i32\n"
        "}\n"
        for n in range(count)
    )
    Path("sums.mlir").write_text(text)
    for culprit in sorted({0, 1, count // 2, count - 1}):
        wrong = 100 * culprit + 51 + culprit
        test = counted(f"! grep -q 'arith.constant {wrong} ' {{}}")
        argv = [mlir_opt, "sums.mlir", "--canonicalize"]
        result, folder = find(argv, test, f"out{culprit}")
        assert (result.as_json()["name"], result.confirmed) == ("AddIAddConstant", "good")
        assert (result.candidates, result.reproducer_verified) == (count, True)
        assert result.oracle_runs == runs() <= math.ceil(math.log2(count)) + 3
        shows_both(folder)


@pytest.mark.library
def test_verdicts_that_contradict_each_other_are_looked_at_again(mlir_opt: str, folds: str) -> None:
    """Two folds leave the constant: to skip one of them does not help."""
    text = Path(folds).read_text().replace("%x, %c3", "%a, %c3")
    Path("two.mlir").write_text(text.replace("%a, %c0", "%b, %c0") + text.replace("@", "@again_"))
    test = counted("test $(grep -c 'arith.addi' {}) -gt 5")
    result = actiondbg.bisect([mlir_opt, "two.mlir", "--canonicalize"], test)
    assert (result.verdict, result.confirmed) == ("found", "bad")
    assert result.oracle_runs == runs() <= math.ceil(math.log2(result.candidates)) + 5


@pytest.mark.library
def test_a_test_that_may_lack_files_is_tried_in_the_folder(mlir_opt: str, folds: str) -> None:
    """A copied script that names a directory beside it: it is run before it is relied on."""
    Path("words").mkdir()
    Path("words/7").write_text("arith.constant 7 \n")
    judge = Path("judge.sh")
    judge.write_text('#!/bin/sh\nset -e\ncat words/* > "$1.words"\n! grep -qf "$1.words" "$1"\n')
    judge.chmod(0o755)
    result, folder = find([mlir_opt, folds, "--canonicalize"], "./judge.sh {}")
    assert result.reproducer_verified is True
    shows_both(folder)
    assert "so repro.sh runs it there" in report(folder)
