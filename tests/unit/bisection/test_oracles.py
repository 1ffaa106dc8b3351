"""Oracles, and the commands that they run; without a tool."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from actiondbg.bisection.command_runner import Cancelled, CommandRunner
from actiondbg.bisection.execute_oracle import Execute, first_difference
from actiondbg.bisection.oracles import (
    Command,
    Crash,
    Diagnostic,
    FileCheck,
    Oracle,
    OracleSetup,
    PredicateOracle,
    TrialFiles,
    Verify,
    make_oracle,
)
from actiondbg.bisection.verdict import Judgement
from actiondbg.errors import OracleError, UsageError
from actiondbg.process.stop import Stop
from tests.processes import is_alive, wait_for_end, wait_until

ENDED = Stop(when="exit", reason="exited", status=0, message="The tool ended with status 0.")
FAILED = Stop(when="exit", reason="exited", status=1, message="The tool ended with status 1.")
CRASHED = Stop(when="exit", reason="crashed", status=-6, message="The tool died of SIGABRT in #3.")
CAUGHT = Stop(when="during", reason="catch", message="the verifier failed on func.func")


def around(tmp_path: Path, seconds: float | None = None) -> OracleSetup:
    return OracleSetup(
        tool=Path("/bin/true"),
        argv=["true"],
        input=None,
        cwd=tmp_path,
        directory=tmp_path,
        seconds=seconds,
    )


def evidence(tmp_path: Path, text: str = "one\ntwo\n", stop: Stop | None = ENDED) -> TrialFiles:
    (tmp_path / "out").write_text(text)
    (tmp_path / "err").write_text("warning: x\nin.mlir:1:1: error: failed to legalize\n")
    return TrialFiles(tmp_path / "out", tmp_path / "err", stop)


def judge(
    oracle: Oracle, tmp_path: Path, seconds: float | None = None, **given: object
) -> Judgement:
    left = evidence(tmp_path, **given)  # pyright: ignore[reportArgumentType]
    return oracle.judge(left, CommandRunner(tmp_path), around(tmp_path, seconds))


# --- --test ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("true", "good"),
        ("exit 1", "bad"),
        ("exit 124", "bad"),
        ("exit 125", "untestable"),
        ("grep -q two {}", "good"),
        ("grep -q three {}", "bad"),
        ("grep -q two", "good"),  # from its standard input
        ("cat {} {} | wc -l | grep -q 4", "good"),
        ("test -f out", "good"),  # it runs where the tool does
    ],
)
def test_a_command_judges(tmp_path: Path, command: str, verdict: str) -> None:
    assert judge(Command(command), tmp_path).verdict == verdict


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-command-of-ours {}", "not found"),
        ("./out", "denied"),
        ("exit 126", "status 126"),
        ("exit 200", "status 200"),
        ("kill -9 $$", "signal 9"),
    ],
)
def test_a_command_that_cannot_be_run_is_an_error(tmp_path: Path, command: str, said: str) -> None:
    with pytest.raises(OracleError, match="cannot be run") as error:
        judge(Command(command), tmp_path)
    assert said in str(error.value) and command in str(error.value)


def test_the_name_of_the_output_is_quoted(tmp_path: Path) -> None:
    folder = tmp_path / "a b's"
    folder.mkdir()
    assert judge(Command("grep -q two {}"), folder).verdict == "good"


def test_output_of_a_test_is_reported(tmp_path: Path) -> None:
    judgement = judge(Command("echo 'expected: 7' >&2; exit 3"), tmp_path)
    assert judgement == Judgement("bad", "the test ended with status 3: expected: 7")


def test_a_test_that_takes_too_long_is_untestable(tmp_path: Path) -> None:
    judgement = judge(Command("sleep 60"), tmp_path, seconds=0.2)
    assert judgement == Judgement("untestable", "the oracle did not end in 0.2 s")


# --- the end of the tool ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("oracle", "stop", "verdict"),
    [
        (Crash(), CRASHED, "bad"),
        (Crash(), ENDED, "good"),
        (Crash(), FAILED, "untestable"),
        (Crash(), None, "untestable"),
        (Verify(), CAUGHT, "bad"),
        (Verify(), ENDED, "good"),
        (Verify(), FAILED, "untestable"),
        (Verify(), CRASHED, "untestable"),
        (Diagnostic("*x*"), CAUGHT, "bad"),
        (Diagnostic("*x*"), ENDED, "good"),
        (Command("true"), CRASHED, "untestable"),
        (Command("false"), FAILED, "untestable"),
        (Command("true"), None, "untestable"),
    ],
)
def test_ends_of_the_tool(tmp_path: Path, oracle: Oracle, stop: Stop | None, verdict: str) -> None:
    assert judge(oracle, tmp_path, stop=stop).verdict == verdict


def test_failure_of_the_tool_is_reported(tmp_path: Path) -> None:
    reason = judge(Command("true"), tmp_path, stop=FAILED).reason
    assert reason == "The tool ended with status 1: in.mlir:1:1: error: failed to legalize"


def test_caught_events() -> None:
    assert [(one.kind, one.glob) for one in Verify().catches] == [("verify", None)]
    assert [(one.kind, one.glob) for one in Diagnostic("*a*").catches] == [("diagnostic", "*a*")]
    assert Crash().catches == ()
    with pytest.raises(UsageError, match="not closed"):
        Diagnostic("[a")


# --- --filecheck --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ("CHECK: one\nCHECK-NEXT: two\n", "good"),
        ("CHECK: two\nCHECK: one\n", "bad"),
        ("CHECK-NOT: two\n", "bad"),
        ("CHECK-NOT: three\n", "good"),
    ],
)
def test_checks_judge(tmp_path: Path, checks: str, verdict: str) -> None:
    (tmp_path / "in.check").write_text(checks)
    assert judge(FileCheck(Path("in.check")), tmp_path).verdict == verdict


@pytest.mark.parametrize("checks", ["no checks\n", "CHECK: {{[}}\n"])
def test_checks_that_cannot_be_run_are_an_error(tmp_path: Path, checks: str) -> None:
    (tmp_path / "in.check").write_text(checks)
    with pytest.raises(OracleError, match=r"in\.check"):
        judge(FileCheck(Path("in.check")), tmp_path)


def test_missing_checks_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(OracleError, match=r"no file 'nowhere\.check'"):
        FileCheck(Path("nowhere.check")).prepare(around(tmp_path))


# --- a predicate ----------------------------------------------------------------------------


def is_short(path: Path) -> bool:
    return len(path.read_text()) < 4


def test_a_function_judges(tmp_path: Path) -> None:
    assert judge(make_oracle(is_short), tmp_path).verdict == "bad"
    assert judge(make_oracle(is_short), tmp_path, text="a").verdict == "good"
    assert judge(PredicateOracle(lambda path: "untestable"), tmp_path).verdict == "untestable"
    assert make_oracle(is_short).as_option() == f"{__name__}.is_short"


def test_a_function_has_to_return_a_verdict(tmp_path: Path) -> None:
    with pytest.raises(OracleError, match="returned None, and has to return a bool"):
        judge(PredicateOracle(lambda path: None), tmp_path)  # pyright: ignore[reportArgumentType]


# --- --execute ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("7\n", "7\n"),
        ("( 1, 2 )\n\n", "( 1,   2 )\n"),
        ("1.0", "1.000001"),
        ("[1, 2.5e-7]", "[1, 2.6e-7]"),
        ("0.1", "1e-1"),
        ("nan -inf", "nan -inf"),
        ("base@ = 0x55aa rank = 1", "base@ = 0x66bb rank = 1"),
        ("", "\n"),
    ],
)
def test_equal_outputs(expected: str, printed: str) -> None:
    assert first_difference(expected, printed, 1e-5) is None


@pytest.mark.parametrize(
    ("expected", "printed", "told"),
    [
        ("7", "8", "line 1: expected '7', printed '8'"),
        ("100000000", "100000001", "expected"),  # integers are exact
        ("a\n1.0\n", "a\n1.1\n", "line 2"),
        ("a", "b", "expected 'a'"),
        ("1", "1\n2", "line 2: more lines"),
        ("1\n2", "1", "line 2: fewer lines"),
        ("-0", "0", "expected"),
        ("nan", "1.0", "expected"),
        ("inf", "-inf", "expected"),
        ("x1", "x2", "expected"),
        ("1 2", "1", "expected"),
    ],
)
def test_different_outputs(expected: str, printed: str, told: str) -> None:
    difference = first_difference(expected, printed, 1e-5)
    assert difference is not None and told in difference


def test_a_comparison_needs_an_input(tmp_path: Path) -> None:
    with pytest.raises(OracleError, match="--input FILE"):
        Execute().prepare(around(tmp_path))


def _with_fake_tools(folder: Path, runner: str) -> OracleSetup:
    """Make tools of shell scripts: one that lowers nothing, and a runner."""
    scripts = {
        "mlir-opt": 'while [ "$1" != -o ]; do in=${in:-$1}; shift; done; cp "$in" "$2"',
        "mlir-runner": runner,
    }
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    (folder / "in.mlir").write_text("reference")
    return around(folder)._replace(tool=folder / "mlir-opt", input=folder / "in.mlir")


def test_addresses_may_differ_from_run_to_run(tmp_path: Path) -> None:
    setup = _with_fake_tools(tmp_path, "echo base@ = 0x$$")
    Execute().prepare(setup)
    setup = _with_fake_tools(tmp_path, "echo $$")
    with pytest.raises(OracleError, match="prints something else each time"):
        Execute().prepare(setup)


@pytest.mark.parametrize(
    ("runner", "verdict", "reason"),
    [
        # LLVM fails on a mask of one bit, unless it does without AVX-512.
        ('case "$*" in *--mattr=-avx512f*) echo 7;; *) {die};; esac', "good", "the same"),
        ("{die}", "untestable", "the output cannot be compiled: LLVM ERROR: no copy"),
        ("kill -ABRT $$", "bad", "the program died of signal 6"),
    ],
)
def test_a_crash_of_the_compiler_is_none_of_the_program(
    tmp_path: Path, runner: str, verdict: str, reason: str
) -> None:
    died = "echo 'LLVM ERROR: no copy' >&2; kill -ABRT $$"
    ran = 'grep -q reference "$1" && { echo 7; exit; }; ' + runner.replace("{die}", died)
    setup = _with_fake_tools(tmp_path, ran)
    oracle = Execute()
    oracle.prepare(setup)
    (tmp_path / "out.mlir").write_text("changed")
    found = oracle.judge_output(tmp_path / "out.mlir", CommandRunner(tmp_path), setup)
    assert (found.verdict, found.reason) == (verdict, reason)


def test_oracle_is_shown_as_its_option() -> None:
    assert Command("a {} 'b'").as_option() == "--test 'a {} '\"'\"'b'\"'\"''"
    assert Diagnostic("*a b*").as_option() == "--diagnostic '*a b*'"
    assert Execute().as_option() == "--execute"
    assert Execute(entry="f", tolerance=0.5).as_option() == "--execute --entry f --tolerance 0.5"


# --- running commands --------------------------------------------------------------------------


def test_leftover_processes_of_a_command_are_ended(tmp_path: Path) -> None:
    done = CommandRunner(tmp_path).run("sleep 600 & echo $!")
    assert done.status == 0
    pid = int(done.output.read_text())
    wait_for_end([pid])


def test_all_of_a_command_ends_at_the_time_limit(tmp_path: Path) -> None:
    runner = CommandRunner(tmp_path)
    done = runner.run("sleep 600 & echo $!; wait", seconds=0.3)
    assert done.status is None
    pid = int(done.output.read_text())
    wait_for_end([pid])
    assert runner.run("exit 3").status == 3


def test_a_command_is_cancelled_from_another_thread(tmp_path: Path) -> None:
    runner = CommandRunner(tmp_path)
    timer = threading.Timer(0.2, runner.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        runner.run("sleep 600")
    with pytest.raises(Cancelled):
        runner.run("true")


def test_the_end_of_long_errors_is_kept(tmp_path: Path) -> None:
    done = CommandRunner(tmp_path).run("yes line | head -n 100000 >&2; echo last >&2")
    assert done.errors.endswith("line\nlast") and len(done.errors) < 10_000


def test_commands_end_with_their_runner(tmp_path: Path) -> None:
    """Also when that is killed with SIGKILL."""
    script = """\
        import sys
        from pathlib import Path
        from actiondbg.bisection.command_runner import CommandRunner
        CommandRunner(Path(sys.argv[1])).run("echo $$ > pid; sleep 600 & echo $! > pid2; wait")
        """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)], cwd=tmp_path
    )
    files = [tmp_path / "pid", tmp_path / "pid2"]
    wait_until(lambda: all(file.is_file() and file.read_text().strip() for file in files))
    pids = [int(file.read_text()) for file in files]
    assert all(map(is_alive, pids))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_for_end(pids)
