"""Programs that start tools after they have made a context, and tools that nobody observes."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.recording import open_recording
from actiondbg.tool.identification import _MLIR_TEXT  # pyright: ignore[reportPrivateUsage]
from tests.conftest import PYPI
from tests.paths import COMMAND
from tests.tool.suite.conftest import LIT, write_suite

TEXT = "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %0 : i32\n}\n"
TOOL = [str(PYPI / "mlir-opt"), "in.mlir", "--canonicalize"]
# Runs cse, has a child run canonicalize, and runs cse again.
PARENT = """
import ctypes, multiprocessing, os, subprocess, sys
from mlir.ir import Context, Module
from mlir.passmanager import PassManager

def run(name):
    module = Module.parse(open("in.mlir").read())
    PassManager.parse(f"builtin.module({name})").run(module.operation)
    print(module, flush=True)

def compile(name="cse"):
    with Context():
        run(name)

def child(how, tool):
    if how == "run":
        subprocess.run(tool, check=True)
    elif how == "environment":
        subprocess.run(tool, check=True, env={**os.environ, "OTHER": "1"})
    elif how == "fork":
        if (pid := os.fork()) == 0:
            os.execv(tool[0], tool)
        assert os.waitpid(pid, 0)[1] == 0
    elif how == "posix_spawn":
        assert os.waitpid(os.posix_spawn(tool[0], tool, os.environ), 0)[1] == 0
    elif how == "shell":
        subprocess.run(["sh", "-c", 'true; "$@"; true', "sh", *tool], check=True)
    elif how == "system":
        assert os.system(" ".join(tool)) == 0
    elif how == "spawn":
        process = multiprocessing.get_context("spawn").Process(
            target=compile, args=["canonicalize"])
        process.start()
        process.join()
    elif how == "forked":
        if (pid := os.fork()) == 0:
            compile("canonicalize")
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    elif how == "pool":
        with multiprocessing.get_context("fork").Pool(1) as pool:
            pool.map(compile, ["canonicalize"])
    elif how == "inherited":
        with Context():
            if (pid := os.fork()) == 0:
                run("canonicalize")
                os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    elif how == "exec":
        os.execv(tool[0], tool)
    elif how == "execl":
        ctypes.CDLL(None).execl(*map(os.fsencode, [tool[0], *tool]), None)

if __name__ == "__main__":
    compile()
    child(sys.argv[1], sys.argv[2:])
    compile()
"""
CHILDREN = [
    *("run", "environment", "fork", "posix_spawn", "shell", "system", "spawn"),
    *("forked", "pool", "inherited"),
]
EXECS = ["exec", "execl"]  # the parent becomes the child


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "in.mlir").write_text(TEXT)
    (tmp_path / "parent.py").write_text(PARENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _parent(how: str) -> list[str]:
    return [sys.executable, "parent.py", how, *TOOL]


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False)


def _record(*argv: str) -> subprocess.CompletedProcess[str]:
    return _run(COMMAND, "record", "-o", "run.adbrec", "--", *argv)


def _passes(path: Path) -> list[str]:
    recording = open_recording(path)
    assert recording.cut is None
    names = recording.table("actions", ["tag", "name"]).to_pylist()
    return [row["name"] for row in names if row["tag"] == "pass-execution"]


@pytest.mark.parametrize("how", [*CHILDREN, *EXECS])
def test_a_child_of_a_process_with_a_context_is_recorded(how: str, folder: Path) -> None:
    alone = _run(*_parent(how))
    done = _record(*_parent(how))
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout) == (0, alone.stdout)
    assert sorted(path.name for path in folder.glob("*.adbrec")) == ["run.adbrec", "run.p1.adbrec"]
    parent = ["cse"] if how in EXECS else ["cse", "cse"]
    assert _passes(folder / "run.adbrec") == parent
    assert _passes(folder / "run.p1.adbrec") == ["canonicalize"]
    assert "unobserved" not in done.stderr


def test_the_lineage_of_a_fork_begins_with_its_own_input(folder: Path) -> None:
    """Its module has the number of one of the parent's, which is alive when the fork is made."""
    (folder / "fork.py").write_text(
        PARENT.split("def child", maxsplit=1)[0]
        + """
with Context():
    module = Module.parse(open("in.mlir").read())
    PassManager.parse("builtin.module(cse)").run(module.operation)
    if (pid := os.fork()) == 0:
        compile("canonicalize")
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
"""
    )
    done = _run(
        *(COMMAND, "record", "--lineage", "-o", "run.adbrec", "--", sys.executable, "fork.py")
    )
    assert done.returncode == 0, done.stderr
    for path in ("run.adbrec", "run.p1.adbrec"):
        told = _run(COMMAND, "track", path, "--from", "arith.addi").stdout
        assert "input:3: %0 = arith.addi" in told
        assert "output:3: %0 = arith.addi" in told


@pytest.mark.parametrize("how", CHILDREN)
def test_a_session_follows_children(how: str, folder: Path) -> None:
    """The parent goes on when the child has ended."""
    alone = _run(*_parent(how))
    with actiondbg.launch(_parent(how)) as session:
        session.breakpoints.add("pass:*")
        stops = [session.run()]
        while stops[-1].when != "exit":
            stops.append(session.continue_())
        assert [(stop.process, stop.name) for stop in stops[:-1]] == [
            ("p0", "cse"),
            ("p1", "canonicalize"),
            ("p0", "cse"),
        ]
        assert not any("unobserved" in (stop.message or "") for stop in stops)
        assert session.exit_status == alone.returncode == 0
        # A pool may end its workers by a signal.
        ends = {0, -signal.SIGTERM} if how == "pool" else {0}
        assert {process.status for process in session.processes} <= ends
        assert session.target.output() == alone.stdout


@pytest.mark.parametrize("how", EXECS)
@pytest.mark.parametrize("around", [[], ["sh", "-c", '"$@"; echo ended $?', "sh"]])
def test_a_session_follows_what_a_process_becomes(
    how: str, around: list[str], folder: Path
) -> None:
    alone = _run(*around, *_parent(how))
    with actiondbg.launch([*around, *_parent(how)]) as session:
        session.breakpoints.add("pass:*")
        stops = [session.run(), session.continue_()]
        assert [(stop.process, stop.name) for stop in stops] == [
            ("p0", "cse"),
            ("p1", "canonicalize"),
        ]
        assert session.next().outcome is not None
        assert session.timeline.reverse_next().ordinal == 1
        assert session.continue_().when == "exit"
        assert session.exit_status == alone.returncode == 0
        assert [process.status for process in session.processes] == [None, 0]
        assert session.target.output() == alone.stdout


# A pass or a pattern forks: both processes go on with the pipeline. With "thread", another thread
# is in an action meanwhile.
FORKING = """
import os, sys, threading
from mlir.ir import Context, Module
from mlir.passmanager import PassManager
from mlir.rewrite import RewritePatternSet, apply_patterns_and_fold_greedily
forked, begun, ended = [], threading.Event(), threading.Event()
def fork(*_):
    if not forked:
        forked.append(os.fork())
        if forked[0] != 0:
            assert os.waitpid(forked[0], 0)[1] == 0
    return True
def rewrite(op, _):
    patterns = RewritePatternSet()
    patterns.add("arith.addi", fork)
    apply_patterns_and_fold_greedily(op, patterns.freeze())
def wait(*_):
    begun.set()
    ended.wait()
def run(text, first, *others):
    with Context():
        module = Module.parse(text)
        manager = PassManager("builtin.module")
        manager.add(first, name="first")
        for other in others:
            manager.add(other)
        manager.run(module.operation)
        return module
if sys.argv[1] == "thread":
    thread = threading.Thread(target=run, args=("", wait))
    thread.start()
    begun.wait()
first = {"pattern": rewrite}.get(sys.argv[1], fork)
print(run(open("in.mlir").read(), first, "canonicalize"), flush=True)
if forked == [0]:
    run("", lambda *_: None, "cse")
    os._exit(0)
ended.set()
"""
# As MLIR prints it; canonicalize makes one sum of both.
SUMS = """\
module {
  func.func @f(%arg0: i32) -> i32 {
    %c3_i32 = arith.constant 3 : i32
    %0 = arith.addi %arg0, %c3_i32 : i32
    %1 = arith.addi %0, %c3_i32 : i32
    return %1 : i32
  }
}"""


@pytest.fixture
def forking(folder: Path) -> Callable[[str], list[str]]:
    """Return the command that forks inside an action."""
    (folder / "in.mlir").write_text(SUMS)
    (folder / "forking.py").write_text(FORKING)
    return lambda how: [sys.executable, "forking.py", how]


@pytest.mark.parametrize("how", ["pass", "pattern"])
def test_a_fork_inside_an_action_is_recorded(
    how: str, forking: Callable[[str], list[str]], folder: Path
) -> None:
    """Its parent's action ends in the recording of the parent only."""
    alone = _run(*forking(how))
    assert (alone.returncode, alone.stderr) == (0, "")
    done = _record(*forking(how))
    assert (done.returncode, done.stdout) == (0, alone.stdout)
    assert _passes(folder / "run.adbrec") == ["first", "canonicalize"]
    assert _passes(folder / "run.p1.adbrec") == ["canonicalize", "first", "cse"]
    assert len(list(folder.glob("*.adbrec"))) == 2


@pytest.mark.parametrize("how", ["pass", "pattern"])
@pytest.mark.parametrize("steps", [False, True])
def test_a_session_follows_a_fork_inside_an_action(
    how: str, steps: bool, forking: Callable[[str], list[str]]
) -> None:
    """It begins with IR that its parent has made; the step over the action ends in the parent."""
    alone = _run(*forking(how))
    with actiondbg.launch(forking(how)) as session:
        session.breakpoints.add("pass:*")
        first = session.run()
        stop = session.next() if steps else session.continue_()
        assert (first.name, stop.process, stop.name) == ("first", "p1", "canonicalize")
        assert str(session.ir.print("module")) == SUMS
        assert session.edits.apply_pass("canonicalize") is not None
        assert session.timeline.goto(stop.ordinal).name == "canonicalize"
        names = [session.continue_().name for _ in range(2)]
        assert names == ["first", "cse"]
        stop = session.continue_()
        assert stop.process == "p0" and stop.name == ("first" if steps else "canonicalize")
        while stop.when != "exit":
            stop = session.continue_()
        assert session.exit_status == 0
        assert session.target.output().endswith(alone.stdout.partition("}\n\n")[2])


@pytest.mark.parametrize("debugs", [False, True])
def test_a_fork_beside_a_thread_in_an_action_is_named(
    debugs: bool, forking: Callable[[str], list[str]], folder: Path
) -> None:
    """That thread may hold a lock, which nobody gives back in the fork."""
    argv = forking("thread")
    alone = _run(*argv)
    assert (alone.returncode, alone.stderr) == (0, "")
    told = r"Process \d+ \(python\S* forking.py.*\) made an MLIR context and ran unobserved: a fork"
    if debugs:
        done = _run(COMMAND, "--batch", "-ex", "run", "--", *argv)
        assert done.returncode == 0 and done.stdout.startswith(alone.stdout)
        assert len(re.findall(told, done.stdout)) == 1
        return
    done = _record(*argv)
    assert (done.returncode, done.stdout) == (0, alone.stdout)
    assert len(re.findall(told, done.stderr)) == 1
    assert [path.name for path in folder.glob("*.adbrec")] == ["run.adbrec"]


@pytest.mark.parametrize("how", ["run", "environment", "shell", "forked", "inherited"])
def test_a_child_runs_again_after_a_step_back(how: str, folder: Path) -> None:
    """The children of a replay run again, and wait for nobody; those after it are debugged."""
    with actiondbg.launch(_parent(how)) as session:
        session.breakpoints.add("pass:*")
        session.run()
        assert session.continue_().process == "p1"
        stop = session.continue_()
        assert (stop.process, stop.name) == ("p0", "cse")
        session.next()
        # A replay from the beginning, in which the child runs again.
        stop = session.timeline.reverse_step()
        assert (stop.name, stop.ordinal, stop.when, stop.message) == ("cse", 2, "before", None)
        stop = session.timeline.goto(1)
        assert (stop.name, stop.ordinal) == ("cse", 1)
        assert [session.continue_().process for _ in range(2)] == ["p2", "p0"]
        assert session.continue_().when == "exit"
        assert [process.status for process in session.processes] == [0, 0, 0]
        stop = session.timeline.goto(2)
        assert (stop.name, stop.ordinal) == ("cse", 2)
        assert session.continue_().status == 0
        assert len(session.processes) == 3


@pytest.mark.parametrize("how", ["run", "shell"])
def test_follow_debugs_the_child(how: str, folder: Path) -> None:
    words = [sys.executable, "parent.py", how, *TOOL]
    with actiondbg.launch(words, follow="--canonicalize", cwd=folder) as session:
        session.breakpoints.add("pass:*")
        assert session.run().when == "before"


@pytest.mark.parametrize(
    "inner", [["record", "-q", "-o", "inner.adbrec", "--"], ["--batch", "-ex", "run", "--"]]
)
@pytest.mark.parametrize("outer", ["record", "session"])
def test_a_debugger_in_a_program_keeps_its_tool(inner: list[str], outer: str, folder: Path) -> None:
    """The program has made a context before it starts the inner one."""
    argv = [sys.executable, "parent.py", "run", COMMAND, *inner, *TOOL]
    alone = _run(*argv)
    assert alone.returncode == 0
    if outer == "record":
        done = _record(*argv)
    else:
        done = _run(COMMAND, "--batch", "-ex", "run", "--", *argv)
    assert done.returncode == 0 and done.stdout.startswith(alone.stdout)
    assert "unobserved" not in done.stderr + done.stdout
    if inner[0] == "record":
        assert _passes(folder / "inner.adbrec") == ["canonicalize"]
    if outer == "record":
        assert _passes(folder / "run.adbrec") == ["cse", "cse"]
        assert not (folder / "run.p1.adbrec").exists()


def test_a_program_that_a_debugged_process_becomes_is_not_killed(folder: Path) -> None:
    """It runs for longer than a tool takes to end."""
    words = ["/bin/sh", "-c", "sleep 6; echo finished; exit 3"]
    argv = [sys.executable, "parent.py", "exec", *words]
    done = _run(COMMAND, "--batch", "--return-child-result", "-ex", "run", "--", *argv)
    assert done.returncode == 3
    assert "\nfinished\nThe tool became another program, which ended with status 3." in done.stdout
    assert _record(*argv).returncode == 3


def test_a_tool_without_the_agent_is_named(folder: Path) -> None:
    """A script empties the environment of the tool."""
    script = folder / "script"
    script.write_text(f"#!/bin/sh\nexec env -i {' '.join(TOOL)}\n")
    script.chmod(0o755)
    done = _record("./script")
    assert (done.returncode, done.stdout) == (0, _run(*TOOL).stdout)
    assert f"it started '{TOOL[0]}' without the agent: keep LD_PRELOAD" in done.stderr
    with actiondbg.launch(["./script"]) as session:
        stop = session.run()
        assert stop.status == 0 and "without the agent" in (stop.message or "")


# Starts the tool with no variable but LD_PRELOAD, as lit starts its tests, and prints its status.
CLEARED = """
import os, subprocess, sys
how, tool = sys.argv[1], sys.argv[2:]
kept = {"LD_PRELOAD": os.environ.get("LD_PRELOAD", "")}
env = ["env", "-i", *(f"{name}={value}" for name, value in kept.items())]
if how == "run":
    status = subprocess.run(tool, env=kept).returncode
elif how == "posix_spawn":
    status = os.waitpid(os.posix_spawn(tool[0], tool, kept), 0)[1]
elif how == "posix_spawnp":
    status = os.waitpid(os.posix_spawnp(tool[0], tool, kept), 0)[1]
elif how == "shell":
    status = subprocess.run(["sh", "-c", 'true; "$@"; true', "sh", *tool], env=kept).returncode
elif how == "twice":
    status = subprocess.run([*env, *env, *tool], env=kept).returncode
elif how == "orphan":  # its parent has ended before it begins
    begin, end = os.pipe(), os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.read(begin[0], 1)
            os.set_inheritable(end[1], True)
            os.execve(tool[0], tool, kept)
        os._exit(0)
    os.wait()
    os.close(end[1])
    os.write(begin[1], b".")
    status = len(os.read(end[0], 1))  # nothing is written: it waits for the end of the tool
elif how == "exec":
    os.execve(tool[0], tool, kept)
print("status", status, flush=True)
"""
WAYS = ["run", "posix_spawn", "posix_spawnp", "shell", "twice", "exec"]


@pytest.fixture
def driver(folder: Path, request: pytest.FixtureRequest) -> list[str]:
    """A driver that starts the tool in the way that the test is parametrized with."""
    (folder / "driver.py").write_text(CLEARED)
    return [sys.executable, "driver.py", request.param, *TOOL]


@pytest.mark.parametrize("driver", [*WAYS, "orphan"], indirect=True)
def test_a_tool_with_no_variable_but_the_preload_is_recorded(
    driver: list[str], folder: Path
) -> None:
    alone = _run(*driver)
    assert alone.returncode == 0 and "func.func" in alone.stdout
    done = _record(*driver)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert [path.name for path in folder.glob("*.adbrec")] == ["run.adbrec"]
    assert _passes(folder / "run.adbrec") == ["canonicalize"]


@pytest.mark.parametrize("driver", WAYS, indirect=True)
def test_a_tool_with_no_variable_but_the_preload_is_debugged(driver: list[str]) -> None:
    with actiondbg.launch(driver) as session:
        session.breakpoints.add("pass:canonicalize")
        first = session.run()
        assert (first.name, session.next().when) == ("canonicalize", "after")
        back = session.timeline.goto(first.ordinal)
        assert (back.name, back.when) == ("canonicalize", "before")
        session.breakpoints.delete([1])
        assert session.continue_().status == 0
        assert session.target.output() == _run(*driver).stdout


# Becomes the tool by one of the functions that take the words one by one.
LISTED = """
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
  char *kept[] = {NULL, NULL}, *nothing[] = {NULL};
  const char *preloaded = getenv("LD_PRELOAD");
  asprintf(&kept[0], "LD_PRELOAD=%s", preloaded ? preloaded : "");
  environ = strcmp(words[1], "execle") == 0 ? nothing : kept;
  if (strcmp(words[1], "execl") == 0)
    execl(words[2], words[2], words[3], words[4], NULL);
  else if (strcmp(words[1], "execlp") == 0)
    execlp(words[2], words[2], words[3], words[4], NULL);
  else
    execle(words[2], words[2], words[3], words[4], NULL, kept);
  return count;
}
"""


@pytest.mark.parametrize("function", ["execl", "execlp", "execle"])
def test_a_program_with_a_cleared_environment_becomes_the_tool(function: str, folder: Path) -> None:
    (folder / "driver.c").write_text(LISTED)
    built = _run("cc", "driver.c", "-o", "driver")
    assert built.returncode == 0, built.stderr
    driver = ["./driver", function, *TOOL]
    alone = _run(*driver)
    assert alone.returncode == 0 and "func.func" in alone.stdout
    done = _record(*driver)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert _passes(folder / "run.adbrec") == ["canonicalize"]


@pytest.mark.parametrize("front_end", ["record", "session"])
def test_lit(front_end: str, folder: Path) -> None:
    """Each test of lit has an environment of its own."""
    write_suite(folder, TOOL[0])
    (folder / "tests/refused.mlir").unlink()  # a session stops after a tool that fails
    lit = [str(LIT), "-j1", "tests"]
    passes = ["canonicalize", "canonicalize", "cse", "cse"]
    if front_end == "record":
        assert _record(*lit).returncode == 0
        recorded = [_passes(path) for path in folder.glob("*.adbrec")]
        assert sorted(recorded) == [[each] for each in passes]
        return
    with actiondbg.launch(lit) as session:
        session.breakpoints.add("pass:*")
        names: list[str] = []
        while (stop := session.continue_() if names else session.run()).when != "exit":
            names.append(stop.name)
        assert (sorted(names), session.exit_status) == (passes, 0)


def test_an_inner_debugger_in_a_cleared_environment_keeps_its_tool(folder: Path) -> None:
    """The agent that is preloaded already is not taken for a library of the user."""
    inner = [COMMAND, "record", "-q", "-o", "inner.adbrec", "--", *TOOL]
    kept = 'env -i HOME="$HOME" PATH="$PATH" LD_PRELOAD="$LD_PRELOAD"'
    done = _record("sh", "-c", f"{kept} {' '.join(inner)}; {kept} {TOOL[0]} in.mlir --cse")
    assert done.returncode == 0, done.stderr
    assert _passes(folder / "inner.adbrec") == ["canonicalize"]
    assert _passes(folder / "run.adbrec") == ["cse"]
    assert not (folder / "run.p1.adbrec").exists()


def test_a_user_of_caches_in_a_cleared_environment_compiles_anew(folder: Path) -> None:
    """So that a kernel with a skipped action stays in no cache; a cache it names itself holds."""
    kept = 'env -i LD_PRELOAD="$LD_PRELOAD"'
    names = "TRITON_ALWAYS_COMPILE|JAX_ENABLE_COMPILATION_CACHE|TORCHINDUCTOR_.*|TRITON_CACHE_DIR"
    shown = f"env | grep -E '^({names})=' | sort"
    done = _record("sh", "-c", f'{shown}; {kept} sh -c "{shown}"')
    lines = done.stdout.splitlines()
    assert len(lines) == 8 and lines[:4] == lines[4:]
    done = _record("sh", "-c", f"{kept} TRITON_CACHE_DIR=mine printenv TRITON_CACHE_DIR")
    assert done.stdout == "mine\n"


def test_a_process_without_the_preload_stays_unobserved(folder: Path) -> None:
    done = _record("sh", "-c", "env -i env; env -i LD_PRELOAD=libpthread.so.0 env")
    assert done.stdout == "LD_PRELOAD=libpthread.so.0\n"


def test_a_stripped_tool_behind_a_script_is_named(folder: Path) -> None:
    """The program that the script becomes holds MLIR's texts, and no symbols."""
    source = folder / "tool.c"
    text = _MLIR_TEXT.decode()
    source.write_text(
        f'const char text[2 << 20] = "{text}";\nint main(void) {{ return text[1] == 0; }}\n'
    )
    subprocess.run(["cc", "-s", "-o", folder / "tool", source], check=True)
    script = folder / "script"
    script.write_text("#!/usr/bin/env python3\nimport os\nos.execv('tool', ['tool'])\n")
    script.chmod(0o755)
    done = _record("./script")
    assert done.returncode == 0
    assert f"it ran '{folder / 'tool'}', which is stripped of the names" in done.stderr


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("", "is stripped of the names of MLIR's functions"),
        ("void _ZN4mlir11MLIRContextD1Ev(void) {}", "has an MLIR before LLVM 17"),
    ],
)
def test_a_library_whose_mlir_cannot_be_debugged_is_named(
    more: str, why: str, folder: Path
) -> None:
    """A Python program loads it, and starts a static program and one without the agent."""
    text = _MLIR_TEXT.decode()
    (folder / "library.c").write_text(f'const char text[9 << 20] = "{text}";\n{more}\n')
    _run("cc", "-s", "-shared", "-fPIC", "-o", "library.so", "library.c")
    (folder / "static.c").write_text("int main(void) { return 0; }\n")
    _run("cc", "-static", "-o", "static", "static.c")
    script = (
        "import ctypes, subprocess, sys\n"
        "if len(sys.argv) > 1:\n"
        "    ctypes.CDLL('./library.so')\n"
        "    subprocess.run(['true'], env={})\n"
        "subprocess.run(['./static'], env={})\n"
    )
    done = _record(sys.executable, "-c", script, "load")
    assert done.returncode == 0
    assert f"it loaded '{folder / 'library.so'}', which {why}" in done.stderr
    assert "without the agent" not in done.stderr
    done = _record(sys.executable, "-c", script)
    assert "without the agent" not in done.stderr
    assert "'actiondbg doctor TOOL' reports" in done.stderr


SANITIZED = """\
#include <stdio.h>
#include <stdlib.h>
int main() {
  const char *preloaded = getenv("LD_PRELOAD");
  puts(preloaded ? preloaded : "nothing");
}
"""


@pytest.mark.parametrize("how", ["run", "environment", "fork", "posix_spawn", "shell"])
def test_a_child_with_a_sanitizer_runs_without_the_agent(how: str, folder: Path) -> None:
    """A shared AddressSanitizer ends a program in which anything is loaded before it."""
    (folder / "child.c").write_text(SANITIZED)
    built = _run("gcc", "-fsanitize=address", "child.c", "-o", "child")
    assert built.returncode == 0, built.stderr
    parent = [sys.executable, "parent.py", how, str(folder / "child")]
    alone = _run(*parent)
    done = _record(*parent)
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout)
    assert "\nnothing\n" in done.stdout
    assert _passes(folder / "run.adbrec") == ["cse", "cse"]
