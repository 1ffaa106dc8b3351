"""Allocators of the user's, and other libraries that they preload, beside the agent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.errors import AgentError
from actiondbg.recording import open_recording
from tests.fakes.threads import build
from tests.paths import COMMAND, INPUTS

INPUT = """\
func.func @f(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %x = arith.addi %a, %zero : i32
  return %x : i32
}
"""


def _built(source: str) -> Path:
    """Return a library to preload."""
    built = Path(source).with_suffix(".so").absolute()
    options = ["-O1", "-shared", "-fPIC", "-fno-builtin", "-o", str(built)]
    subprocess.run(["cc", str(INPUTS / source), *options], check=True)
    return built


@pytest.fixture
def allocator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library with an allocator that takes no memory of another one."""
    (tmp_path / "in.mlir").write_text(INPUT)
    monkeypatch.chdir(tmp_path)
    return _built("allocator.c")


def test_a_preloaded_allocator(
    mlir_opt: str, allocator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool does what it does alone, back and forth, too."""
    monkeypatch.setenv("LD_PRELOAD", str(allocator))
    tool = [mlir_opt, "in.mlir", "--canonicalize", "--cse"]
    alone = subprocess.run(tool, capture_output=True, text=True, check=True).stdout
    environment = {**os.environ}
    monkeypatch.delenv("LD_PRELOAD")
    recorded = subprocess.run(
        [COMMAND, "record", "-o", "run.adbrec", "--", *tool],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (recorded.returncode, recorded.stdout) == (0, alone)
    with actiondbg.launch(tool, env=environment) as session:
        session.breakpoints.add("fold:*")
        session.run()
        assert "arith.addi" in session.ir.print("module").text
        session.next()
        assert session.timeline.goto(1).name == "canonicalize"
        assert session.past.why_not("*").attempts is not None
        session.breakpoints.delete([one.id for one in session.breakpoints.all()])
        assert session.continue_().status == 0
        assert session.target.output() == alone


@pytest.mark.parametrize("options", [["--checks"], ["--lineage", "--ir", "pass"]])
def test_the_agent_leaves_the_memory_of_the_tool(
    mlir_opt: str, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of a table by addresses follows from what is allocated, and where."""
    (tmp_path / "in.mlir").write_text(INPUT)
    monkeypatch.chdir(tmp_path)
    watch = {"LD_PRELOAD": str(_built("watching_allocator.c")), "WATCH_FILE": str(tmp_path / "log")}
    passes = ["--canonicalize", "--cse", "--convert-arith-to-llvm", "--convert-func-to-llvm"]
    tool = [mlir_opt, "in.mlir", *passes]
    record = [COMMAND, "record", *options, "-o", "run.adbrec", "--", *tool]
    subprocess.run(record, env={**os.environ, **watch}, capture_output=True, check=True)
    assert open_recording("run.adbrec").count > 0
    assert set((tmp_path / "log").read_text().splitlines()) == {"watching agent.so"}


def test_a_lock_that_no_fork_can_take(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What needs a fork is refused, and the tool goes on."""
    (tmp_path / "in.mlir").write_text(INPUT)
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "LD_PRELOAD": str(_built("lock_lost_in_fork.c"))}
    tool = [mlir_opt, "in.mlir", "--canonicalize"]
    alone = subprocess.run(tool, capture_output=True, text=True, check=True).stdout
    recorded = subprocess.run(
        [COMMAND, "record", "--lineage", "-o", "run.adbrec", "--", *tool],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (recorded.returncode, recorded.stdout) == (0, alone)
    assert open_recording("run.adbrec").count > 0
    with actiondbg.launch(tool, env=environment) as session:
        session.breakpoints.add("fold:*")
        session.run()
        with pytest.raises(AgentError, match="in a fork"):
            session.ir.print("function")
        session.breakpoints.delete([one.id for one in session.breakpoints.all()])
        assert session.continue_().status == 0
        assert session.target.output() == alone


def test_a_program_linked_with_an_allocator(mlir_opt: str, allocator: Path, tmp_path: Path) -> None:
    """It needs no preload: the library is among the program's own."""
    source = (
        "#include <stdlib.h>\n#include <stdio.h>\n"
        "int main(int count, char **words) {\n"
        "  void *all[1000];\n"
        "  for (int i = 0; i < 1000; ++i) all[i] = calloc(i + 1, 3);\n"
        "  for (int i = 0; i < 1000; ++i) all[i] = realloc(all[i], i * 5 + 1);\n"
        "  for (int i = 0; i < 1000; ++i) free(all[i]);\n"
        '  char line[1000];\n  sprintf(line, "%s in.mlir --canonicalize", words[1]);\n'
        "  return system(line) != 0;\n}\n"
    )
    program = tmp_path / "program"
    library = ["-x", "none", str(allocator), f"-Wl,-rpath,{tmp_path}"]
    words = ["cc", "-x", "c", "-", *library, "-o", str(program)]
    subprocess.run(words, input=source, text=True, check=True)
    alone = subprocess.run([program, mlir_opt], capture_output=True, text=True, check=True).stdout
    with actiondbg.launch([str(program), mlir_opt]) as session:
        session.breakpoints.add("pass:canonicalize")
        assert session.run().name == "canonicalize"
        assert session.continue_().status == 0
        assert session.target.output() == alone


@pytest.fixture
def sanitizer() -> str:
    """The runtime of GCC's AddressSanitizer, which has to be the first library of a process."""
    named = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    )
    path = Path(named.stdout.strip()).resolve()
    if not path.is_absolute() or not path.exists():
        pytest.skip("GCC has no AddressSanitizer here")
    return str(path)


def test_a_preloaded_sanitizer(
    mlir_opt: str, sanitizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays the first library, also of the programs that a program starts."""
    (tmp_path / "in.mlir").write_text(INPUT)
    (tmp_path / "child.c").write_text(
        '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv("LD_PRELOAD")); }\n'
    )
    monkeypatch.chdir(tmp_path)
    subprocess.run(["gcc", "-fsanitize=address", "child.c", "-o", "child"], check=True)
    environment = {**os.environ, "LD_PRELOAD": sanitizer, "ASAN_OPTIONS": "detect_leaks=0"}
    tool = [mlir_opt, "in.mlir", "--canonicalize"]
    child = str(tmp_path / "child")
    for argv in (tool, ["sh", "-c", f"{child} && {' '.join(tool)} && {child}"]):
        alone, recorded = (
            subprocess.run(
                [*before, *argv], env=environment, capture_output=True, text=True, check=False
            )
            for before in ([], [COMMAND, "record", "-o", "run.adbrec", "--"])
        )
        assert alone.returncode == 0
        assert (recorded.returncode, recorded.stdout) == (0, alone.stdout)
        assert open_recording("run.adbrec").count > 0
        Path("run.adbrec").unlink()
    with actiondbg.launch(tool, env=environment) as session:
        session.breakpoints.add("pass:canonicalize")
        assert session.run().when == "before"
        assert session.continue_().status == 0


@pytest.mark.usefixtures("sanitizer")
def test_a_tool_that_is_linked_with_a_shared_sanitizer(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(INPUT)
    argv = [str(build(tmp_path, "-fsanitize=address")), "each", str(tmp_path / "in.mlir")]
    alone = subprocess.run(argv, capture_output=True, text=True, check=True)
    path = str(tmp_path / "run.adbrec")
    recorded = subprocess.run(
        [COMMAND, "record", "-q", "-o", path, "--", *argv],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (recorded.returncode, recorded.stdout) == (0, alone.stdout)
    assert recorded.stderr == alone.stderr
    assert open_recording(path).count > 0


def test_a_sanitizer_finds_no_fault_of_the_agent(mlir_opt: str, sanitizer: str) -> None:
    """What the tool allocates for a reason is freed by the function for that."""
    environment = {**os.environ, "LD_PRELOAD": sanitizer, "ASAN_OPTIONS": "detect_leaks=0"}
    passes = "--pass-pipeline=builtin.module(spirv.module(spirv-promote-to-replicated-constants))"
    tool = [mlir_opt, str(INPUTS / "replicated.mlir"), passes]
    with actiondbg.launch(tool, env=environment) as session:
        assert session.run().status == 0
        attempts = session.past.why_not("ConstantOp*").attempts
        assert attempts[0].outcome.reasons == ["composite is not splat"]
        session.timeline.goto(1)
        assert session.continue_().status == 0
