"""Time travel in a process of a program: the program waits, and goes on with what the fork did."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import NoAnswer
from actiondbg.session.session import Session
from tests.processes import is_alive
from tests.tool.session.test_programs import INPUT

# Fails where the first iteration has changed something.
IMPATIENT = "builtin.module(canonicalize{max-iterations=1 test-convergence=1})"


@pytest.fixture
def script(mlir_opt: str, tmp_path: Path) -> Path:
    """A shell script that runs three tools, and prints the status of each."""
    (tmp_path / "in.mlir").write_text(INPUT)
    script = tmp_path / "build.sh"
    script.write_text(
        f"{mlir_opt} in.mlir --cse --canonicalize -o first.mlir; echo first $?\n"
        f"{mlir_opt} in.mlir '--pass-pipeline={IMPATIENT}' -o second.mlir; echo second $?\n"
        f"{mlir_opt} in.mlir --cse | cat > third.mlir; echo third ${{PIPESTATUS[0]}}\n"
        "exit 3\n"
    )
    return script


def launched(script: Path) -> Session:
    return actiondbg.launch(["bash", script.name], cwd=script.parent)


def plain_run(script: Path) -> tuple[int, str, list[str]]:
    """Run the script without a debugger; return its status, its output and its files' text."""
    done = subprocess.run(
        ["bash", script.name],
        cwd=script.parent,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return done.returncode, done.stdout, outputs(script)


def outputs(script: Path) -> list[str]:
    return [path.read_text() for path in sorted(script.parent.glob("*[dt].mlir"))]


def test_the_script_goes_on_after_each_way_back(script: Path) -> None:
    expected = plain_run(script)
    with launched(script) as s:
        s.breakpoints.add("pass:*")
        assert s.run().name == "cse"
        original = s.processes[0].pid
        assert s.continue_().name == "canonicalize"
        assert s.timeline.reverse_step().when == "after"
        assert s.timeline.goto(1).name == "cse"
        (process,) = s.processes
        assert (process.name, process.state) == ("p0", "alive")
        assert s.execution is not None
        assert process.pid == s.execution.pid != original
        assert is_alive(original)  # bash waits for it
        assert s.continue_().name == "canonicalize"
        stop = s.continue_()
        assert not is_alive(original)
        assert [one.state for one in s.processes] == ["exited", "alive"]
        while stop.when != "exit" or stop.status == 1:
            stop = s.continue_()
        assert [one.status for one in s.processes] == [0, 1, 0]
        assert s.processes[0].actions
        assert (stop.status, s.target.output(), outputs(script)) == expected


def test_a_skip_after_going_back_changes_what_the_script_does(script: Path) -> None:
    with launched(script) as s:
        s.breakpoints.add("fold:func.return")
        s.breakpoints.add("fold:arith.addi")
        stop = s.run()
        while len(s.processes) < 2:
            stop = s.continue_()
        while stop.name != "arith.addi":
            stop = s.continue_()
        s.timeline.goto(1)
        s.breakpoints.delete([one.id for one in s.breakpoints.all()])
        s.breakpoints.add("pattern:*")
        s.breakpoints.add("fold:*")
        stop = s.continue_()
        while stop.when != "exit":
            stop = s.skip() if len(s.processes) == 2 else s.continue_()
        assert [one.status for one in s.processes] == [0, 0, 0]
        assert s.target.output() == "first 0\nsecond 0\nthird 0\n"


def test_the_script_waits_for_a_fork_that_failed(script: Path) -> None:
    with launched(script) as s:
        s.breakpoints.add("fold:arith.addi")
        stop = s.run()
        while len(s.processes) < 2:
            stop = s.continue_()
        s.timeline.goto(1)
        s.breakpoints.delete([one.id for one in s.breakpoints.all()])
        stop = s.continue_()
        assert (stop.when, stop.status) == ("exit", 1)
        assert "second" not in s.target.output()  # it could still go back, and succeed
        assert s.timeline.goto(1).message is None
        s.breakpoints.add("fold:*")
        s.breakpoints.add("pattern:*")
        stop = s.continue_()
        while len(s.processes) == 2:
            stop = s.skip()
        while stop.when != "exit":
            stop = s.continue_()
        assert [one.status for one in s.processes] == [0, 0, 0]
        assert s.target.output() == "first 0\nsecond 0\nthird 0\n"


def test_going_back_from_an_end_that_the_script_knows(script: Path) -> None:
    with launched(script) as s:
        stop = s.run()
        assert (stop.when, stop.status) == ("exit", 1)
        back = s.timeline.goto(1)
        known = "the program that started the tool has read its exit status, and continues"
        assert back.message == known
        assert s.continue_().status == 1
        stop = s.continue_()
        assert (stop.when, stop.status) == ("exit", 3)
        assert s.target.output().startswith("first 0\nsecond 1\nthird 0\n")
        assert len(s.processes) == 3


def test_a_process_of_a_program_is_not_started_again_alone(script: Path) -> None:
    with launched(script) as s:
        s.breakpoints.add("pass:canonicalize")
        s.run()
        assert s.execution is not None
        s.execution.release()  # as if the tool could not be forked
        with pytest.raises(NoAnswer, match="p0 cannot be started again without the rest"):
            s.timeline.goto(1)
        assert s.stack.action().name == "canonicalize"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_the_script_sees_the_signal_that_ended_a_fork(script: Path, number: int) -> None:
    with launched(script) as s:
        s.breakpoints.add("pass:canonicalize")
        s.run()
        s.timeline.reverse_step()
        os.kill(s.processes[0].pid, number)
        stop = s.continue_()
        if number != signal.SIGTERM:  # by which a program ends its workers: it goes on
            assert (stop.when, stop.status) == ("exit", -number)
            assert signal.Signals(number).name in (stop.message or "")
        while stop.when != "exit" or stop.status != 3:
            stop = s.continue_()
        assert f"first {128 + number}\n" in s.target.output()
        assert s.processes[0].status == -number


def test_nothing_is_left_of_a_session_that_went_back(script: Path) -> None:
    with launched(script) as s:
        s.breakpoints.add("pass:canonicalize")
        s.run()
        original = s.processes[0].pid
        s.timeline.reverse_step()
        fork = s.processes[0].pid
        assert s.execution is not None and s.execution.program is not None
        pids = [original, fork, s.execution.program.pid]
        assert all(map(is_alive, pids))
    assert not any(map(is_alive, pids))


@pytest.mark.parametrize("log", [None, "log.txt"])
def test_output_to_a_file_of_the_script_is_in_order(script: Path, log: str | None) -> None:
    first, _, third, _ = script.read_text().splitlines()
    first = first.replace("-o first.mlir", "--mlir-print-ir-after-all")
    body = f"{first}\n{first}\n{third}"
    script.write_text(f"{{\n{body}\n}} >> {log} 2>&1" if log else body)
    expected = plain_run(script)[1]
    if log is not None:
        expected = (script.parent / log).read_text()
        (script.parent / log).unlink()
    with launched(script) as s:
        s.breakpoints.add("pass:canonicalize")
        s.run()
        s.next()
        s.timeline.goto(1)
        stop = s.continue_()
        while stop.when != "exit":
            s.timeline.reverse_step()
            s.continue_()
            stop = s.continue_()
        text = s.target.output() if log is None else (script.parent / log).read_text()
        assert text == expected
    assert "first 0\n" in text and "func.func @f" in text


def test_a_program_with_mlir_of_its_own_starts_a_tool_after_going_back(
    mlir_opt: str, tmp_path: Path
) -> None:
    pytest.importorskip("mlir.ir")
    (tmp_path / "in.mlir").write_text(INPUT)
    program = tmp_path / "program.py"
    program.write_text(
        "import subprocess, sys, mlir.ir as ir, mlir.passmanager as pm\n"
        "with ir.Context():\n"
        f"    module = ir.Module.parse({INPUT!r})\n"
        "    pm.PassManager.parse('builtin.module(canonicalize)').run(module.operation)\n"
        "print('addi' in str(module), flush=True)\n"
        f"print(subprocess.run([{mlir_opt!r}, 'in.mlir', '--cse', '-o', 'out.mlir']).returncode)\n"
        "sys.exit(5)\n"
    )
    with actiondbg.launch([sys.executable, str(program)], cwd=tmp_path) as s:
        s.breakpoints.add("fold:arith.addi")
        s.run()
        original = s.processes[0].pid
        s.timeline.goto(1)
        assert is_alive(original)
        s.continue_()
        s.breakpoints.delete([1])
        stop = s.skip()
        assert (stop.when, stop.status, s.way_on) == ("exit", 5, None)
        assert s.target.output() == "True\n0\n"
        assert not is_alive(original)
        assert (tmp_path / "out.mlir").exists()
        assert s.timeline.goto(1).name == "canonicalize"
        assert s.continue_().status == 5


@pytest.mark.parametrize("operator", [">", ">>"])
@pytest.mark.parametrize("around", ["{}", "({})", "timeout 100 {}"])
def test_output_of_another_timeline_is_discarded_where_the_file_is_the_tools_own(
    mlir_opt: str, tmp_path: Path, operator: str, around: str
) -> None:
    (tmp_path / "in.mlir").write_text(INPUT)
    command = f"{mlir_opt} in.mlir --cse --canonicalize --mlir-print-ir-after-all 2{operator} log"
    script = tmp_path / "build.sh"
    script.write_text(f"echo begin > log\n{around.format(command)}\necho end >> log\n")
    with launched(script) as s:
        s.breakpoints.add("pass:canonicalize")
        s.run()
        s.next()
        s.timeline.goto(1)
        stop = s.skip()  # another timeline, in which both passes are skipped
        assert stop.name == "canonicalize"
        assert s.skip().when == "exit"
    text = (tmp_path / "log").read_text()
    # What is shared, or appended to, is like a pipe: the new timeline follows the old one.
    is_own = operator == ">" and not around.startswith("timeout")
    assert text.count("IR Dump After") == (2 if is_own else 3)
    assert text.count("arith.addi") == text.count("IR Dump After")  # canonicalize was skipped
    assert text.endswith("end\n")
    assert text.startswith("begin\n") == (operator == ">>")
