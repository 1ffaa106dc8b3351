"""The agent on aarch64: compiled by a cross compiler, run by an emulator.

The emulator runs the tool alone. A program that this machine runs is between it and actiondbg,
which refuses the emulator itself: its loader says that the agent is not for it, and hands it on.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from tests.fakes.source_copy import copy_sources
from tests.paths import COMMAND
from tests.tool.targets.run_lines import Command, commands
from tests.tool.targets.targets import TARGETS, TOOLS

COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64-static"
SYSTEM = Path("/usr/aarch64-linux-gnu")
PROGRAMS = TOOLS / "iree-aarch64" / "iree" / "compiler" / "_mlir_libs"
# Measured.
VARYING = {"start_ns", "duration_ns", "self_ns"}

pytestmark = pytest.mark.skipif(
    not (shutil.which(COMPILER) and shutil.which(EMULATOR) and SYSTEM.exists()),
    reason="no compiler and emulator for aarch64 (g++-aarch64-linux-gnu, qemu-user-static)",
)
needs_iree = pytest.mark.skipif(
    not PROGRAMS.exists() or TARGETS["iree"].missing is not None,
    reason="iree and iree-aarch64 are not installed (scripts/setup-tools iree iree-aarch64)",
)

# Prints what is loaded of the agent, and loads a library, which the agent is told.
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof(line), maps))
    if (strstr(line, "/agent-") && strstr(line, "r-x"))
      puts("with the agent");
  puts(dlopen("libgomp.so.1", RTLD_NOW) ? "loaded" : dlerror());
  return 7;
}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for aarch64, as docs/tools.md builds it."""
    copy = tmp_path_factory.mktemp("source")
    copy_sources(copy)
    variables = {
        "CXX": COMPILER,
        "CC": "aarch64-linux-gnu-gcc",
        "_PYTHON_HOST_PLATFORM": "linux-aarch64",
    }
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "-w",
        str(copy / "dist"),
        str(copy),
    ]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = (copy / "dist").glob("actiondbg-*.whl")
    return found


@pytest.fixture(scope="module")
def built(wheel: Path) -> Path:
    """The agent of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read("actiondbg/agent/built/agent.so")
    agent = wheel.with_name("agent-aarch64.so")
    agent.write_bytes(content)
    return agent


@pytest.fixture(autouse=True)
def agent(built: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The agent for aarch64, which is used in the place of this machine's."""
    monkeypatch.setenv("ACTIONDBG_AGENT", str(built))
    return built


def compiled(source: str, directory: Path) -> Path:
    program = directory / "program"
    words = ["-x", "c", "-", "-o", str(program), "-ldl"]
    subprocess.run(["aarch64-linux-gnu-gcc", *words], input=source, text=True, check=True)
    return program


def emulated(program: Path, *words: str) -> list[str]:
    return [EMULATOR, "-L", str(SYSTEM), str(program), *words]


def test_the_wheel_is_for_old_systems(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-linux_aarch64.whl")
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r'platform tag:\s+"manylinux_2_(\d+)_aarch64"', shown)
    assert found, shown
    assert int(found[1]) <= 28


def test_the_agent_is_loaded_and_watches_libraries(agent: Path, tmp_path: Path) -> None:
    program = compiled(LOADER, tmp_path)
    recording = tmp_path / "run.adbrec"
    # The emulator is static, and no loader looks at the variable.
    environment = {**os.environ, "LD_PRELOAD": str(agent), "ACTIONDBG_RECORD": str(recording)}
    done = subprocess.run(
        emulated(program), env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("with the agent\nloaded\n", "")
    assert done.returncode == 7
    assert not recording.exists()  # no context was made


def _tables(command: list[str], directory: Path) -> dict[str, list[dict[str, Any]]]:
    directory.mkdir()
    done = record(command, directory / "run.adbrec", stdout=str(directory / "stdout"))
    assert done.path is not None and done.status == 0
    recording = open_recording(done.path)
    return {
        table: [
            {column: value for column, value in row.items() if column not in VARYING}
            for row in recording.table(table).to_pylist()
        ]
        for table in ("actions", "changes", "operations", "reasons")
    }


def first_difference(ours: list[dict[str, Any]], others: list[dict[str, Any]]) -> str | None:
    """Return in which columns the first rows differ: an assertion would print thousands of rows."""
    for number, (row, other) in enumerate(zip(ours, others, strict=False)):
        if row != other:
            columns = {key: (row.get(key), other[key]) for key in other if row[key] != other[key]}
            return f"row {number}, {other}: {columns}"
    return None if len(ours) == len(others) else f"{len(ours)} rows, not {len(others)}"


def _both(words: Sequence[str], source: str) -> tuple[list[str], list[str]]:
    """Return the command of a RUN line, here and emulated."""
    program, *rest = (source if word == "%s" else word for word in words)
    here = [str(TARGETS["iree"].programs[program]), *rest]
    return here, ["env", *emulated(PROGRAMS / program, *rest)]


# Those in which nothing depends on the processor, or on addresses, as the order of a hash table.
EQUAL = {"dynamic", "matmul-iree-global", "stablehlo", "tosa"}
COMMANDS = [
    command
    for command in commands(TARGETS["iree"])
    if any(command.name.startswith(f"iree-{name}") for name in EQUAL)
]


@needs_iree
@pytest.mark.parametrize("command", [pytest.param(one, id=one.name) for one in COMMANDS])
def test_recordings_are_equal(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = _both([*command.words, "--mlir-disable-threading"], str(command.source))
    emulation = _tables(there, tmp_path / "there")
    monkeypatch.delenv("ACTIONDBG_AGENT")
    ours = _tables(here, tmp_path / "here")
    assert ours["actions"] and ours["changes"]
    for table, rows in ours.items():
        assert (table, first_difference(emulation[table], rows)) == (table, None)
    assert (tmp_path / "there/stdout").read_bytes() == (tmp_path / "here/stdout").read_bytes()


# Loads a library, and runs iree-opt in it.
LATE = """
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words) {
  void *library = dlopen(words[1], RTLD_NOW);
  int (*run)(int, char **) = library ? dlsym(library, "ireeOptRunMain") : 0;
  if (!run)
    return puts(dlerror()), 2;
  return run(count - 1, words + 1);
}
"""


@needs_iree
def test_a_library_that_is_loaded_later_is_recorded(
    folds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [folds, "--canonicalize", "--cse", "--mlir-disable-threading"]
    program, library = compiled(LATE, tmp_path), str(PROGRAMS / "libIREECompiler.so")
    emulation = _tables(["env", *emulated(program, library, *words)], tmp_path / "there")
    monkeypatch.delenv("ACTIONDBG_AGENT")
    ours = _tables([str(TARGETS["iree"].programs["iree-opt"]), *words], tmp_path / "here")
    assert ours["actions"] and emulation == ours


@needs_iree
def test_a_diagnostic_is_caught(folds: str) -> None:
    """Emitting one is a function of two instructions."""
    flags = ["--iree-hal-target-device=nonsense", "--iree-transformation-pipeline"]
    _, there = _both(["iree-opt", "%s", *flags], folds)
    words = [COMMAND, "-nx", "--batch", "-ex", "catch diagnostic", "-ex", "run", *there]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert 'unregistered device alias "nonsense"' in done.stdout
    assert re.search(r"^Catch 1, stopped inside #\d+ pass-execution", done.stdout, re.MULTILINE)


SESSION = """\
break pass:cse
run
info tool
backtrace
print
next
diff
info changes
reverse-step 2
goto #5
info action
checkpoint
next
restart 1
finish
info outcome
continue
skip
history @3
continue
"""
# What info tool says of the command that is started, of the agent's file, and of the files that the
# process has mapped: those of the emulator.
OF_THE_COMMAND = ("path ", "build ", "agent ", "limit ", "llvm ", "libmlir ")


@needs_iree
def test_a_session_reads_the_same(folds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("script").write_text(SESSION)

    def scripted(command: list[str]) -> list[str]:
        words = [COMMAND, "-nx", "--batch", "--keep-going", "-x", "script", *command]
        done = subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert "capabilities" in done.stdout
        return [
            re.sub(r"[\d.]+ ms", "T", line)
            for line in done.stdout.splitlines()
            if not line.startswith((*OF_THE_COMMAND, "ERROR: ld.so: "))
        ]

    here, there = _both(["iree-opt", "%s", "--canonicalize", "--cse"], folds)
    emulated_session = scripted(there)
    monkeypatch.delenv("ACTIONDBG_AGENT")
    ours = scripted(["env", *here])
    assert any(line.startswith("Checkpoint 1, before #5 ") for line in ours)
    assert emulated_session == ours
