"""Programs that start a tool, or load MLIR themselves: their processes are debugged in turn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import ControlRefused, NotStopped, UsageError
from actiondbg.recording import open_recording
from actiondbg.tool.identification import llvm_version
from tests.fakes import command_line
from tests.paths import COMMAND
from tests.processes import descendants, is_alive, wait_for_end, wait_until

INPUT = """\
func.func @f(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %x = arith.addi %a, %zero : i32
  return %x : i32
}
"""


@pytest.fixture
def script(mlir_opt: str, tmp_path: Path) -> Path:
    """A shell script that runs the tool twice, and ends with status 3."""
    (tmp_path / "in.mlir").write_text(INPUT)
    script = tmp_path / "build.sh"
    script.write_text(
        f"{mlir_opt} {tmp_path}/in.mlir --cse\n"
        f"{mlir_opt} {tmp_path}/in.mlir --canonicalize\n"
        "exit 3\n"
    )
    return script


def test_each_process_of_a_program_is_debugged(script: Path) -> None:
    with actiondbg.launch(["bash", str(script)]) as s:
        s.breakpoints.add("pass:cse")
        s.breakpoints.add("fold:*")
        assert s.run().name == "cse"
        assert [process.name for process in s.processes] == ["p0"]
        stop = s.continue_()
        assert stop.tag == "fold"
        first, second = s.processes
        assert (first.state, first.status, first.actions) == ("exited", 0, 1)
        assert second.state == "alive"
        assert "--canonicalize" in second.command
        s.breakpoints.delete([one.id for one in s.breakpoints.all()])
        stop = s.continue_()
        assert (stop.when, stop.status) == ("exit", 3)
        assert s.target.output().count("func.func @f") == 2
    assert not is_alive(first.pid)
    assert not is_alive(second.pid)


def test_the_past_of_the_last_process_can_be_asked(script: Path) -> None:
    with actiondbg.launch(["bash", str(script)]) as s:
        s.breakpoints.add("fold:*")
        stop = s.run()
        assert stop.tag == "fold"
        assert s.timeline.goto(1).name == "canonicalize"
        s.breakpoints.delete([one.id for one in s.breakpoints.all()])
        assert s.continue_().when == "exit"


def test_a_program_that_loads_mlir_itself(tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    program = tmp_path / "program.py"
    program.write_text(
        "import mlir.ir as ir, mlir.passmanager as pm\n"
        "with ir.Context():\n"
        f"    module = ir.Module.parse({INPUT!r})\n"
        "    pm.PassManager.parse('builtin.module(canonicalize)').run(module.operation)\n"
        "    print(module)\n"
    )
    with actiondbg.launch([sys.executable, str(program)]) as s:
        s.breakpoints.add("pass:canonicalize")
        assert s.target.loaded_mlir is None
        stop = s.run()
        assert stop.name == "canonicalize"
        loaded = s.target.loaded_mlir
        assert loaded is not None and "MLIR" in loaded.name
        assert llvm_version(loaded)
        after = s.next()
        assert after.outcome is not None and after.outcome.result == "succeeded"
        s.breakpoints.delete([one.id for one in s.breakpoints.all()])
        assert s.continue_().status == 0
        assert "arith.addi" not in s.target.output()


def test_a_program_without_mlir(tmp_path: Path) -> None:
    with actiondbg.launch(["bash", "-c", "exit 4"]) as s:
        stop = s.run()
        assert (stop.when, stop.status) == ("exit", 4)
        assert stop.message and stop.message.startswith(
            "The program ended with status 4 before a process of it made an MLIR context, as a tool"
        )
        assert s.processes == []
        with pytest.raises(NotStopped):
            s.step()
        with pytest.raises(ControlRefused, match=r"There is no action #1: the run made no MLIR"):
            s.timeline.goto(1)


def test_a_preloaded_library_of_the_user_is_kept(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    script.write_text(f'{script.read_text().splitlines()[0]}\necho "$LD_PRELOAD" > {seen}\n')
    mine = "libpthread.so.0"
    with actiondbg.launch(["bash", str(script)], env={**os.environ, "LD_PRELOAD": mine}) as s:
        assert s.run().status == 0
    assert seen.read_text().rstrip("\n").split(":")[-1] == mine


def test_nothing_of_a_program_outlives_a_session(script: Path) -> None:
    script.write_text(f"sleep 1000 &\n{script.read_text()}")
    others = set(descendants(os.getpid()))  # such as those that earlier tests need

    def started() -> list[int]:
        return [pid for pid in descendants(os.getpid()) if pid not in others]

    with actiondbg.launch(["bash", str(script)]) as s:
        s.breakpoints.add("pass:canonicalize")
        s.run()
        deadline = time.monotonic() + 30
        while len(started()) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        left = started()
        assert len(left) >= 3
    wait_for_end(left)


def test_a_second_tool_waits_for_its_turn(script: Path) -> None:
    first, second, _ = script.read_text().splitlines()
    script.write_text(f"{first} &\n{second} &\nwait\n")
    with actiondbg.launch(["bash", str(script)]) as s:
        s.breakpoints.add("tag:pass-execution")
        names = [s.run().name, s.continue_().name]
        assert sorted(names) == ["canonicalize", "cse"]
        assert s.continue_().status == 0
        assert [process.status for process in s.processes] == [0, 0]


def passes_of(session: actiondbg.Session) -> list[str]:
    """The passes at which a session stops up to the end of the program."""
    session.breakpoints.add("tag:pass-execution")
    found: list[str] = []
    stop = session.run()
    while stop.when != "exit":
        found.append(stop.name)
        stop = session.continue_()
    return found


def test_a_program_that_reads_the_output_of_the_tool_to_its_end(
    script: Path, mlir_opt: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import subprocess\n"
        f"command = [{mlir_opt!r}, {str(tmp_path / 'in.mlir')!r}, '--canonicalize']\n"
        "done = subprocess.run(command, capture_output=True, check=True)\n"
        "print(done.stdout.count(b'arith.addi'))\n"
    )
    with actiondbg.launch([sys.executable, str(program)]) as s:
        assert passes_of(s) == ["canonicalize"]
        assert (s.exit_status, s.target.output()) == (0, "0\n")


def test_tools_that_are_joined_by_a_pipe(script: Path, mlir_opt: str) -> None:
    first, _, _ = script.read_text().splitlines()
    script.write_text(f"{first} | {mlir_opt} --canonicalize\n")
    with actiondbg.launch(["bash", str(script)]) as s:
        assert passes_of(s) == ["cse", "canonicalize"]
        assert s.exit_status == 0
        assert s.target.output().count("func.func @f") == 1


def test_the_end_of_a_program_right_after_its_last_tool(script: Path) -> None:
    for _ in range(3):
        with actiondbg.launch(["bash", str(script)]) as s:
            assert passes_of(s) == ["cse", "canonicalize"]
            assert s.exit_status == 3
            assert "The program that started it ended with status 3" in str(s.stop)


def test_a_tool_that_fails_stops_the_session_before_the_next_one(
    script: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.mlir"
    bad.write_text("func.func @f( {\n")
    first, second, _ = script.read_text().splitlines()
    script.write_text(f"{first.replace('in.mlir', bad.name)}\n{second}\n")
    with actiondbg.launch(["bash", str(script)]) as s:
        assert s.run().status == 1
        assert s.continue_().status == 0
        assert [one.status for one in s.processes] == [1, 0]


POOL = f"""\
import multiprocessing, os, time

def work(number):
    import mlir.ir as ir, mlir.passmanager as pm
    with ir.Context():
        module = ir.Module.parse({INPUT!r})
        pm.PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        return os.getpid(), "addi" in str(module)

def workers(pool):
    # Each of two has work to do.
    found = []
    while len(set(pid for pid, _ in found)) < 2:
        found += pool.map(work, range(2), chunksize=1)
    return found

if __name__ == "__main__":
    pool = multiprocessing.get_context("METHOD").Pool(2)
    barrier = workers(pool)
    pool.close()
    pool.join()
    print(any(has_add for _, has_add in barrier))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_a_pool_do_not_wait_for_each_other(method: str, tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    program = tmp_path / "program.py"
    program.write_text(POOL.replace("METHOD", method))
    with actiondbg.launch([sys.executable, str(program)]) as s:
        assert set(passes_of(s)) == {"canonicalize"}
        assert (s.exit_status, s.target.output()) == (0, "False\n")
        assert "may run on unobserved: p0 ran no action meanwhile" in str(s.stop)
    recording = tmp_path / "run.adbrec"
    done = front_end(tmp_path, "record", "-o", str(recording), "--", sys.executable, str(program))
    assert (done.returncode, done.stdout) == (0, "False\n")
    assert len(list(tmp_path.glob("*.adbrec"))) == 2


def test_workers_that_their_pool_ends(tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    program = tmp_path / "program.py"
    busy = "pool.map_async(time.sleep, [1000] * 2); time.sleep(0.5)\n    pool.terminate"
    work_after = "pool.join()\n    work(0)"
    text = POOL.replace("METHOD", "fork").replace("pool.close", busy)
    program.write_text(text.replace("pool.join()", work_after))
    with actiondbg.launch([sys.executable, str(program)]) as s:
        assert s.run().status == 0
        assert [one.status for one in s.processes] == [-signal.SIGTERM, 0]
        assert "may run on unobserved: p0 ran no action meanwhile" in str(s.stop)
        assert s.target.output() == "False\n"
    recording = tmp_path / "run.adbrec"
    done = front_end(tmp_path, "record", "-o", str(recording), "--", sys.executable, str(program))
    assert (done.returncode, done.stdout) == (0, "False\n")
    assert "incomplete" not in done.stderr
    for worker in (recording, tmp_path / "run.p1.adbrec"):
        assert open_recording(worker).ending.status == -signal.SIGTERM


def test_an_interrupt_between_two_tools(script: Path, tmp_path: Path) -> None:
    first, second, end = script.read_text().splitlines()
    go = tmp_path / "go"
    between = f"touch {tmp_path}/waits; until test -e {go}; do sleep 0.05; done"
    script.write_text(f"{first}\n{between}\n{second}\n{end}\n")

    def interrupt() -> None:
        wait_until((tmp_path / "waits").exists)
        time.sleep(0.2)  # the front end takes the end of the tool, and waits
        os.kill(os.getpid(), signal.SIGINT)

    with actiondbg.launch(["bash", str(script)]) as s:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            s.run()
        thread.join()
        assert s.execution is not None
        assert s.execution.program is not None
        way_on = f"continue waits for the next tool of process {s.execution.program.pid}"
        assert s.way_on == way_on
        with pytest.raises(NotStopped, match=f"status 0 after 1 action; {way_on}, run starts"):
            s.step()
        go.touch()
        assert s.continue_().status == 3
        assert s.way_on is None


@pytest.mark.parametrize(
    "lines",
    [
        "for i in 1 2; do flock lock {tool} in.mlir --cse -o out$i; echo $i $?; done",
        "(flock 9; {tool} in.mlir --cse -o out) 9> lock; flock lock echo free",
        "mkfifo fifo; {tool} fifo --cse -o out & {tool} in.mlir --cse -o fifo; wait; echo read",
    ],
)
def test_what_waits_for_a_lock_or_a_fifo_of_an_ended_tool_goes_on(
    mlir_opt: str, tmp_path: Path, lines: str
) -> None:
    (tmp_path / "in.mlir").write_text(INPUT)
    (tmp_path / "build.sh").write_text(lines.format(tool=mlir_opt))
    done = command_line.run(
        "--batch", "-ex", "run", "--", "bash", "build.sh", cwd=tmp_path, check=True
    )
    (tmp_path / "fifo").unlink(missing_ok=True)
    expected = subprocess.run(
        ["bash", "build.sh"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout.startswith(expected.stdout)


def test_an_interrupt_before_the_first_tool(script: Path, tmp_path: Path) -> None:
    go = tmp_path / "go"
    before = f"touch {tmp_path}/waits; until test -e {go}; do sleep 0.05; done"
    script.write_text(f"{before}\n{script.read_text()}")

    def interrupt() -> None:
        wait_until((tmp_path / "waits").exists)
        time.sleep(0.2)  # the front end waits
        os.kill(os.getpid(), signal.SIGINT)

    with actiondbg.launch(["bash", str(script)]) as s:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            s.run()
        thread.join()
        assert s.way_on is not None and s.way_on.startswith("continue waits for the first tool")
        with pytest.raises(NotStopped, match="No tool runs yet: continue waits for the first tool"):
            s.step()
        s.breakpoints.add("pass:canonicalize")
        go.touch()
        stop = s.continue_()
        assert (stop.name, stop.process) == ("canonicalize", "p1")
        assert s.continue_().status == 3


def test_a_stop_names_its_process(script: Path) -> None:
    with actiondbg.launch(["bash", str(script)]) as s:
        s.breakpoints.add("pass:*")
        stop = s.run()
        assert (stop.process, stop.processes) == ("p0", 1)
        stop = s.continue_()
        assert (stop.process, stop.processes) == ("p1", 2)
        assert [one.actions for one in s.processes] == [1, 1]
        s.step()
        assert s.processes[1].actions == 2
        stop = s.continue_()
        assert (stop.message or "").startswith("p1 ended with status 0 after 9 actions.")
    with actiondbg.launch([script.read_text().split()[0], f"{script.parent}/in.mlir"]) as s:
        assert s.run().process is None


def test_a_fork_in_an_inherited_context_is_debugged(tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    program = tmp_path / "program.py"
    program.write_text(
        "import os, mlir.ir as ir, mlir.passmanager as pm\n"
        "with ir.Context():\n"
        f"    module = ir.Module.parse({INPUT!r})\n"
        "    child = os.fork()\n"
        "    pm.PassManager.parse('builtin.module(canonicalize)').run(module.operation)\n"
        "    assert 'addi' not in str(module)\n"
        "    if child == 0:\n"
        "        os._exit(0)\n"
        "    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    with actiondbg.launch([sys.executable, str(program)]) as s:
        assert passes_of(s) == ["canonicalize"] * 2
        assert (s.exit_status, s.target.output()) == (0, "0\n")
    front_end(tmp_path, "record", "-o", "run.adbrec", "--", sys.executable, str(program))
    for name in ("run.adbrec", "run.p1.adbrec"):
        assert front_end(tmp_path, "log", name).stdout.count("(canonicalize)") == 1


def test_a_process_that_becomes_another_program(tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys, mlir.ir as ir, mlir.passmanager as pm\n"
        "turn = sys.argv[1]\n"
        "if turn != 'before':\n"
        "    with ir.Context():\n"
        f"        module = ir.Module.parse({INPUT!r})\n"
        "        pm.PassManager.parse(f'builtin.module({turn})').run(module.operation)\n"
        "if turn != 'cse':\n"
        "    turn = {'before': 'canonicalize', 'canonicalize': 'cse'}[turn]\n"
        "    os.execv(sys.executable, [sys.executable, __file__, turn])\n"
        "sys.exit(6)\n"
    )
    with actiondbg.launch([sys.executable, str(program), "before"]) as s:
        assert passes_of(s) == ["canonicalize", "cse"]
        assert s.exit_status == 6


def test_follow_selects_processes(script: Path) -> None:
    first, second, end = script.read_text().splitlines()
    script.write_text(f"{first} -o /dev/null\n{second} -o out.mlir\n{end}\n")
    with actiondbg.launch(["bash", str(script)], follow="out.ml*", cwd=script.parent) as s:
        assert passes_of(s) == ["canonicalize"]
        assert s.exit_status == 3
        s.options.follow = "*"
        assert s.start().name == "cse"
        s.options.follow = "flang"
        end_of_run = s.run()
        expected = "before a process of it that matches 'flang' made an MLIR context"
        assert expected in (end_of_run.message or "")


def test_a_wrong_glob_is_refused() -> None:
    with pytest.raises(UsageError, match=r"The \[ in '\[a' is not closed"):
        actiondbg.launch(["true"], follow="[a")


def front_end(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command_line.run(*words, cwd=cwd)


def test_a_batch_does_not_end_a_program_of_which_one_tool_fails(
    mlir_opt: str, script: Path, tmp_path: Path
) -> None:
    first, second, end = script.read_text().splitlines()
    fails = f"echo 'func.func @g() -> i32 {{ return }}' | {mlir_opt} || echo failed"
    script.write_text(f"{first}\n{fails}\n{second}\n{end}\n")
    done = front_end(
        tmp_path, "--batch", "--return-child-result", "-ex", "run", "--", "bash", str(script)
    )
    assert done.returncode == 3
    assert "p1 ended with status 1 after 0 actions; the program that started it runs on." in (
        done.stdout
    )
    assert "failed\n" in done.stdout and done.stdout.count("func.func @f") == 2
    assert (
        "p2 ended with status 0 after 9 actions. The program that started it ended" in done.stdout
    )
    recorded = front_end(tmp_path, "record", "--follow", "no*", "--", "bash", str(script))
    assert "no process of the program that matches 'no*' made an MLIR context" in recorded.stderr


def test_each_process_is_recorded_in_a_file_of_its_own(script: Path, tmp_path: Path) -> None:
    (tmp_path / "run.p2.adbrec").write_text("no recording")
    for _ in range(2):  # the second time replaces the recordings of the first
        done = front_end(tmp_path, "record", "-o", "run.adbrec", "--", "bash", str(script))
        assert done.returncode == 3
        assert " in run.adbrec" in done.stderr
        assert " in run.p1.adbrec, of another process." in done.stderr
        names = sorted(path.name for path in tmp_path.glob("*.adbrec"))
        assert names == ["run.adbrec", "run.p1.adbrec", "run.p2.adbrec"]
    assert (tmp_path / "run.p2.adbrec").read_text() == "no recording"


def test_only_processes_that_follow_selects_are_recorded(script: Path, tmp_path: Path) -> None:
    words = ["--follow=--canonicalize", "-o", "run.adbrec", "--", "bash", str(script)]
    done = front_end(tmp_path, "record", *words)
    assert (done.returncode, "another process" in done.stderr) == (3, False)
    shown = front_end(tmp_path, "log", "run.adbrec")
    assert "(canonicalize)" in shown.stdout and "(cse)" not in shown.stdout
    assert [path.name for path in tmp_path.glob("*.adbrec")] == ["run.adbrec"]


def test_log_reports_how_many_processes_it_leaves_out(script: Path, tmp_path: Path) -> None:
    done = front_end(tmp_path, "log", "--", "bash", str(script))
    assert "This is the first of 2 processes of the program" in done.stderr
    assert "(cse)" in done.stdout and "(canonicalize)" not in done.stdout


def test_a_debugger_in_a_debugged_program_has_the_tool_for_itself(
    script: Path, mlir_opt: str, tmp_path: Path
) -> None:
    tool = f"{mlir_opt} {tmp_path}/in.mlir --cse"
    inner = [
        f"{COMMAND} record -q -o inner.adbrec -- {tool}",
        f"{COMMAND} record -q -o program.adbrec -- bash -c '{tool}'",
        f"{COMMAND} -nx --batch -ex 'break pass:cse' -ex run -ex quit -- bash -c '{tool}'",
    ]
    script.write_text("\n".join([*inner, "echo $?", "exit 5"]))
    for outer in (["record", "-o", "outer.adbrec"], ["-nx", "--batch", "-ex", "run"]):
        done = front_end(tmp_path, *outer, "--follow", "no-such-tool", "--", "bash", str(script))
        assert done.stdout.count("Breakpoint 1, stopped before #1 pass-execution (cse)") == 1
        assert "MLIR context" in done.stdout + done.stderr
        assert [path.name for path in sorted(tmp_path.glob("*.adbrec"))] == [
            "inner.adbrec",
            "program.adbrec",
        ]


def test_a_process_that_may_not_change_its_code(tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    program = tmp_path / "program.py"
    program.write_text(
        "import ctypes, sys\n"
        "if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):  # PR_SET_MDWE\n"
        "    sys.exit(77)\n"
        "import mlir.ir as ir, mlir.passmanager as pm\n"
        "with ir.Context():\n"
        f"    module = ir.Module.parse({INPUT!r})\n"
        "    pm.PassManager.parse('builtin.module(canonicalize)').run(module.operation)\n"
        "    print('addi' in str(module))\n"
    )
    if subprocess.run([sys.executable, str(program)], capture_output=True).returncode == 77:
        pytest.skip("the kernel has no PR_SET_MDWE")
    done = front_end(tmp_path, "record", "-o", "run.adbrec", "--", sys.executable, str(program))
    assert (done.returncode, done.stdout) == (0, "False\n")
    assert done.stderr.count(" runs unobserved: it may not change its code (PR_SET_MDWE") == 1
    assert not list(tmp_path.glob("*.adbrec"))


def test_a_program_whose_path_has_blanks(script: Path, tmp_path: Path) -> None:
    program = tmp_path / "a folder" / "build it.sh"
    program.parent.mkdir()
    program.write_text(f"#!/bin/bash\n{script.read_text()}")
    program.chmod(0o755)
    with actiondbg.launch([str(program)]) as s:
        assert passes_of(s) == ["cse", "canonicalize"]
        assert s.exit_status == 3
