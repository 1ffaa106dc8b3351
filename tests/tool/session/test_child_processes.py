"""Children of debugged processes: they have their turn while their parents wait for them."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import ControlRefused, NoAnswer
from tests.conftest import PYPI
from tests.processes import is_alive, wait_for_end

pytest.importorskip("mlir.ir")

INPUT = """\
func.func @f(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %x = arith.addi %a, %zero : i32
  return %x : i32
}
"""
MLIR_OPT = str(PYPI / "mlir-opt")
# compile(NAME) runs a pass here; a tool that runs one is started by start(NAME).
PRELUDE = f"""
import multiprocessing, os, signal, subprocess, sys, threading, time
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

def compile(name):
    with Context():
        module = Module.parse(open("in.mlir").read())
        PassManager.parse(f"builtin.module({{name}})").run(module.operation)
        print(name, flush=True)

def command(name, file="in.mlir"):
    return [{MLIR_OPT!r}, file, "--" + name]

def start(name, **options):
    return subprocess.Popen(command(name), **options)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "in.mlir").write_text(INPUT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(text: str) -> list[str]:
    """Write a Python program into the working directory, and return its command line."""
    lines = PRELUDE + 'if __name__ == "__main__":\n'
    Path("program.py").write_text(lines + "".join(f"    {line}\n" for line in text.splitlines()))
    return [sys.executable, "program.py"]


def passes_of(session: actiondbg.Session) -> list[tuple[str | None, str | None]]:
    """Run a program to its end; return the passes before which it stopped, with their processes."""
    session.breakpoints.add("pass:*")
    found: list[tuple[str | None, str | None]] = []
    stop = session.run()
    while stop.when != "exit":
        found.append((stop.process, stop.name))
        stop = session.continue_()
    assert not any(is_alive(one.pid) for one in session.processes)
    return found


def check(text: str, passes: list[tuple[str, str]]) -> None:
    """Check the stops of a program, and that it ends as it does alone."""
    alone = subprocess.run(program(text), capture_output=True, text=True, check=False)
    with actiondbg.launch(program(text)) as session:
        assert passes_of(session) == passes
        assert (session.exit_status, session.target.output()) == (alone.returncode, alone.stdout)


def test_a_parent_polls_and_computes(folder: Path) -> None:
    """It never sleeps for long."""
    text = "compile('cse')\nchild = start('sccp')\nwhile child.poll() is None: pass\ncompile('cse')"
    check(text, [("p0", "cse"), ("p1", "sccp"), ("p0", "cse")])


def test_the_input_of_a_child_comes_from_its_parent(folder: Path) -> None:
    """The parent has stopped between the start of the child and the end of its input."""
    text = (
        "compile('cse')\n"
        "child = subprocess.Popen(command('sccp', '-'), stdin=subprocess.PIPE)\n"
        "compile('canonicalize')\n"
        "child.communicate(open('in.mlir', 'rb').read())\n"
        "compile('cse')"
    )
    with actiondbg.launch(program(text)) as session:
        session.options.checkpoint_spacing = 1
        passes = passes_of(session)
        assert sorted(passes) == [
            ("p0", "canonicalize"),
            ("p0", "cse"),
            ("p0", "cse"),
            ("p1", "sccp"),
        ]
        assert session.exit_status == 0


def test_a_child_of_a_child(folder: Path) -> None:
    Path("inner.py").write_text(PRELUDE + "compile('cse')\nstart('sccp').wait()\ncompile('cse')\n")
    text = (
        "compile('canonicalize')\n"
        "subprocess.run([sys.executable, 'inner.py'], check=True)\n"
        "compile('canonicalize')"
    )
    check(
        text,
        [
            ("p0", "canonicalize"),
            ("p1", "cse"),
            ("p2", "sccp"),
            ("p1", "cse"),
            ("p0", "canonicalize"),
        ],
    )


def test_children_at_the_same_time(folder: Path) -> None:
    """The one that connects first has its turn first."""
    text = (
        "compile('cse')\n"
        "for child in [start('sccp') for _ in range(3)]:\n"
        "    assert child.wait() == 0\n"
        "compile('cse')"
    )
    check(text, [("p0", "cse"), ("p1", "sccp"), ("p2", "sccp"), ("p3", "sccp"), ("p0", "cse")])


def test_workers_of_a_pool_whose_parent_has_a_context(folder: Path) -> None:
    """A worker that waits for a task gives its turn back."""
    text = (
        "compile('cse')\n"
        "with multiprocessing.get_context('spawn').Pool(2) as pool:\n"
        "    for _ in range(2):\n"
        "        pool.map(compile, ['sccp', 'canonicalize'], chunksize=1)\n"
        "compile('cse')"
    )
    with actiondbg.launch(program(text)) as session:
        passes = passes_of(session)
        assert (passes[0], passes[-1]) == (("p0", "cse"), ("p0", "cse"))
        assert sorted(name or "" for _, name in passes[1:-1]) == ["canonicalize"] * 2 + ["sccp"] * 2
        assert session.exit_status == 0


def test_a_child_that_fails_stops_the_session(folder: Path) -> None:
    Path("bad.mlir").write_text("func.func @f() { return 1 }")
    text = (
        "compile('cse')\n"
        "print(subprocess.run(command('sccp', 'bad.mlir'), stderr=subprocess.DEVNULL).returncode)\n"
        "compile('cse')"
    )
    with actiondbg.launch(program(text)) as session:
        session.breakpoints.add("pass:*")
        assert session.run().process == "p0"
        stop = session.continue_()
        assert (stop.process, stop.when, stop.status) == ("p1", "exit", 1)
        assert "the program that started it runs on" in (stop.message or "")
        stop = session.continue_()
        assert (stop.process, stop.name) == ("p0", "cse")
        assert session.continue_().status == 0
        assert session.target.output() == "cse\n1\ncse\n"


def test_breakpoints_that_change_in_a_child_hold_in_its_parent(folder: Path) -> None:
    text = (
        "compile('cse')\nstart('sccp').wait()\ncompile('cse')\ncompile('canonicalize')\n"
        "compile('sccp')"
    )
    with actiondbg.launch(program(text)) as session:
        first = session.breakpoints.add("pass:cse")
        session.breakpoints.add("pass:sccp", temporary=True)
        assert session.run().process == "p0"
        assert session.continue_().process == "p1"
        session.breakpoints.delete([first.id])
        session.breakpoints.add("pass:canonicalize")
        stop = session.continue_()
        assert (stop.process, stop.name) == ("p0", "canonicalize")
        assert session.continue_().status == 0


def test_time_travel_in_a_child_and_in_its_parent(folder: Path) -> None:
    text = "compile('cse')\nstart('canonicalize').wait()\ncompile('cse')\ncompile('sccp')"
    with actiondbg.launch(program(text)) as session:
        session.breakpoints.add("pass:*")
        session.run()
        assert session.continue_().process == "p1"
        session.step()
        assert session.timeline.goto(1).name == "canonicalize"
        stop = session.continue_()
        assert (stop.process, stop.name, stop.ordinal) == ("p0", "cse", 2)
        session.next()
        assert session.timeline.reverse_step().ordinal == 2
        session.skip()
        assert session.continue_().status == 0
        assert session.target.output().count("return %arg0") == 1
        assert [one.status for one in session.processes] == [0, 0]


def test_a_skip_in_a_child_is_not_lost(folder: Path) -> None:
    """A replay of the parent would start the child again, without the skip."""
    text = "compile('cse')\nstart('canonicalize').wait()\ncompile('cse')"
    with actiondbg.launch(program(text)) as session:
        session.breakpoints.add("pass:*")
        session.run()
        session.continue_()
        session.step()
        session.timeline.goto(1)
        session.skip(step=True)
        assert session.continue_().process == "p0"
        with pytest.raises(NoAnswer, match="p1, which it started, ran with changes"):
            session.timeline.goto(1)
        assert session.continue_().status == 0
        assert session.target.output().count("arith.addi") == 1


def test_a_parent_cannot_go_back_while_its_child_runs(folder: Path) -> None:
    """The child waits for input, and the parent stops meanwhile."""
    Path("child.py").write_text(PRELUDE + "compile('sccp')\ninput()\ncompile('sccp')\n")
    text = (
        "compile('cse')\n"
        "child = subprocess.Popen([sys.executable, 'child.py'], stdin=subprocess.PIPE)\n"
        "time.sleep(2)\n"
        "compile('canonicalize')\n"
        "child.communicate(b'\\n')\n"
        "compile('cse')"
    )
    with actiondbg.launch(program(text)) as session:
        session.breakpoints.add("pass:*")
        stops = [session.run(), session.continue_(), session.continue_()]
        places = [(stop.process, stop.name) for stop in stops]
        assert places == [("p0", "cse"), ("p1", "sccp"), ("p0", "canonicalize")]
        with pytest.raises(NoAnswer, match="p0 cannot go back while p1 runs, which it has started"):
            session.timeline.goto(1)
        assert session.stop is not None and session.stop.name == "canonicalize"
        stop = session.continue_()
        assert (stop.process, stop.name) == ("p1", "sccp")
        stop = session.continue_()
        assert (stop.process, stop.name) == ("p0", "cse")
        assert session.timeline.goto(1).name == "cse"
        session.breakpoints.delete([one.id for one in session.breakpoints.all()])
        assert session.continue_().status == 0


def test_a_kill_in_a_child_ends_all(folder: Path) -> None:
    text = "compile('cse')\nstart('sccp').wait()\ncompile('cse')"
    with actiondbg.launch(program(text)) as session:
        session.breakpoints.add("pass:*")
        session.run()
        session.continue_()
        pids = [one.pid for one in session.processes]
        assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)


def test_a_child_that_outlives_the_program(folder: Path) -> None:
    """It makes a context when nobody debugs it any more."""
    Path("late.py").write_text(
        PRELUDE + "time.sleep(1.5)\ncompile('cse')\nopen('ended', 'w').close()\n"
    )
    text = (
        "compile('cse')\n"
        "subprocess.Popen([sys.executable, 'late.py'], stdout=subprocess.DEVNULL,\n"
        "    start_new_session=True)\n"
    )
    with actiondbg.launch(program(text)) as session:
        assert session.run().status == 0
        subprocess.run(["sleep", "3"], check=True)
        assert (folder / "ended").exists()


def test_a_fork_that_waits_for_a_thread_is_ended(folder: Path) -> None:
    """A thread of the program is not in the fork that took its place."""
    text = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(1)\n"
        "assert pool.submit(os.getpid).result() == os.getpid()\n"
        "compile('cse')\n"
        "print(pool.submit(os.getpid).result() == os.getpid())"
    )
    check(text, [("p0", "cse")])
    with actiondbg.launch(program(text)) as session:
        session.breakpoints.add("pass:cse")
        session.run()
        session.next()
        session.timeline.reverse_step()
        stop = session.continue_()
        assert stop.when == "exit"
        assert "A fork took the place of the tool when it went back" in (stop.message or "")
        # The program itself has its threads.
        session.run()
        assert session.continue_().status == 0


WAYS = [
    "compile('{name}')",
    "subprocess.run(command('{name}'), check=True)",
    "print(len(subprocess.run(command('{name}'), check=True, capture_output=True).stdout))",
    "os.waitpid(os.posix_spawn(command('{name}')[0], command('{name}'), os.environ), 0)",
    "pid = os.fork() or os.execv(command('{name}')[0], command('{name}')); os.waitpid(pid, 0)",
    "os.system(' '.join(command('{name}')))",
    "start('{name}', env={{'PATH': ''}}).wait()",
    "worker = multiprocessing.get_context('spawn').Process(target=compile, args=['{name}']);"
    " worker.start(); worker.join()",
    "worker = threading.Thread(target=lambda: start('{name}').wait()); worker.start(); "
    "worker.join()",
    "child = subprocess.Popen(command('{name}', '-'), stdin=subprocess.PIPE); compile('{name}'); "
    "child.communicate(open('in.mlir', 'rb').read())",
    "subprocess.run(['sh', '-c', ' '.join(command('{name}')) + ' | cat'])",
]


@pytest.mark.parametrize("seed", range(16))
def test_random_programs(seed: int, folder: Path) -> None:
    """They end as they do alone, whatever is done at the stops."""
    chosen = random.Random(seed)
    names = ["cse", "sccp", "canonicalize"]
    text = "\n".join(
        chosen.choice(WAYS).format(name=chosen.choice(names)) for _ in range(chosen.randint(2, 5))
    )
    alone = subprocess.run(program(text), capture_output=True, text=True, check=False)
    with actiondbg.launch(program(text)) as session:
        session.breakpoints.add("pass:*")
        stop = session.run()
        while stop.when != "exit":
            for _ in range(chosen.randint(0, 3)):
                if stop.when != "exit":
                    stop = chosen.choice([session.step, session.next])()
            if stop.when != "exit" and chosen.random() < 0.4:
                with contextlib.suppress(ControlRefused):  # at the first action
                    stop = session.timeline.reverse_step()
            if stop.when != "exit":
                stop = session.continue_()
        assert (session.exit_status, session.target.output()) == (alone.returncode, alone.stdout)
        pids = [one.pid for one in session.processes]
    assert not any(is_alive(pid) for pid in pids)


def test_each_process_has_its_own_count_of_actions(folder: Path) -> None:
    """Also when a parent stops again after its child."""
    text = "compile('cse')\nstart('canonicalize').wait()\ncompile('sccp')"
    with actiondbg.launch(program(text)) as session:
        session.breakpoints.add("pass:*")
        assert session.run().process == "p0"
        assert [one.actions for one in session.processes] == [1]
        assert session.continue_().process == "p1"
        assert [one.actions for one in session.processes] == [None, 1]
        assert session.continue_().process == "p0"
        of_parent, of_child = (one.actions for one in session.processes)
        assert of_parent == 2 and of_child is not None and of_child > 2
        assert session.continue_().status == 0
        assert session.processes[1].actions == of_child


def test_a_process_that_was_killed_at_its_stop_is_not_alive(folder: Path) -> None:
    with actiondbg.launch([MLIR_OPT, "in.mlir", "--canonicalize"]) as session:
        session.start()
        [process] = session.processes
        assert process.state == "alive"
        os.kill(process.pid, signal.SIGKILL)
        wait_for_end([process.pid])
        assert [one.state for one in session.processes] == ["exited"]
