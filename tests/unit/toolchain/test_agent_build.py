"""Compiling the agent and caching it, with a small source in the place of the agent's."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from actiondbg.errors import AgentBuildError, UnfitTool
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool import Tool, agent_state, build_agent, fitted, package_build
from actiondbg.tool.c_part import CPart
from actiondbg.tool.way import Way
from tests.fakes.functions import returning
from tests.fakes.stock_tool import wait_until_gone
from tests.unit.toolchain.test_toolchain import compile_c

SOURCE = 'extern "C" __attribute__((visibility("default"))) int answer() { return 42; }\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CXX", raising=False)
    return tmp_path / "cache" / "actiondbg"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    directory = tmp_path / "agent"
    directory.mkdir()
    (directory / "Answer.cpp").write_text('#include "Answer.h"\n' + SOURCE)
    (directory / "Answer.h").write_text('extern "C" int answer();\n')
    return directory


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path / "tool", tmp_path / "libMLIR.so", (tmp_path,), "22.1.8", "abc")


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def refusal(tool: Tool, source: Path) -> str:
    with pytest.raises(AgentBuildError) as raised:
        build_agent(tool, source=source)
    message = str(raised.value)
    assert "\n" not in message
    return message


def leftovers(cache: Path) -> list[str]:
    return [file.name for file in cache.iterdir() if file.suffix not in (".so", ".log")]


def test_compiled_once(tool: Tool, source: Path, cache: Path) -> None:
    started: list[bool] = []
    assert agent_state(tool, source) == "not compiled yet"
    agent = build_agent(tool, lambda: started.append(True), source)
    assert agent.parent == cache
    assert agent_state(tool, source) == "cached"
    assert build_agent(tool, lambda: started.append(True), source) == agent
    assert started == [True]
    assert leftovers(cache) == []


@pytest.mark.parametrize("damage", ["cut", "empty", "changed"])
def test_a_damaged_agent_is_compiled_again(tool: Tool, source: Path, damage: str) -> None:
    agent = build_agent(tool, source=source)
    whole = agent.read_bytes()
    damaged = {"cut": whole[:5000], "empty": b"", "changed": whole.replace(b"ELF", b"ELG", 1)}
    agent.write_bytes(damaged[damage])
    assert agent_state(tool, source) == "not compiled yet"
    assert build_agent(tool, source=source) == agent
    assert ctypes.CDLL(str(agent)).answer() == 42
    assert agent_state(tool, source) == "cached"


def test_other_inputs_are_other_agents(
    tool: Tool, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = {build_agent(tool, source=source)}
    agents.add(build_agent(tool._replace(build_id="def"), source=source))
    agents.add(build_agent(tool._replace(headers=(tmp_path / "other",)), source=source))
    (source / "Answer.h").write_text('extern "C" int answer(); // changed\n')
    agents.add(build_agent(tool, source=source))
    compiler = executable(tmp_path / "my-c++", '#!/bin/sh\nexec g++ "$@"\n')
    monkeypatch.setenv("CXX", str(compiler))
    agents.add(build_agent(tool, source=source))
    os.utime(compiler, (1, 1))
    agents.add(build_agent(tool, source=source))
    assert len(agents) == 6


def test_an_export_list_is_used(tool: Tool, source: Path) -> None:
    (source / "exports.map").write_text("{ global: nothing; local: *; };\n")
    hidden = ctypes.CDLL(str(build_agent(tool, source=source)))
    assert not hasattr(hidden, "answer")
    (source / "exports.map").write_text("{ global: answer; local: *; };\n")
    assert ctypes.CDLL(str(build_agent(tool, source=source))).answer() == 42


def test_two_builds_at_once(
    tool: Tool, source: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = tmp_path / "compiled"
    script = f'#!/bin/sh\ncase "$*" in *-shared*) echo >> {compiled};; esac\nexec g++ "$@"\n'
    monkeypatch.setenv("CXX", str(executable(tmp_path / "my-c++", script)))
    with ThreadPoolExecutor(2) as pool:
        builds = [pool.submit(build_agent, tool, None, source) for _ in range(2)]
    assert builds[0].result() == builds[1].result()
    assert compiled.read_text() == "\n", "the second waits for the first"
    assert [file.suffix for file in cache.iterdir()] == [".so"]


def test_compiler_with_more_warnings(tool: Tool, source: Path, cache: Path) -> None:
    (source / "Answer.cpp").write_text("static int unused() { return 1; }\n" + SOURCE)
    agent = build_agent(tool, source=source)
    assert "unused" in agent.with_suffix(".log").read_text()
    assert leftovers(cache) == []


def test_a_compile_error(tool: Tool, source: Path, cache: Path) -> None:
    (source / "Answer.cpp").write_text("int broken = nonsense;\n")
    message = refusal(tool, source)
    assert "nonsense" in message
    (log,) = cache.glob("*.log")
    assert str(log) in message
    assert "nonsense" in log.read_text()
    assert leftovers(cache) == []
    assert not list(cache.glob("*.so"))


def test_no_compiler(
    tool: Tool, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install g++" in refusal(tool, source)
    assert agent_state(tool, source).startswith("cannot be compiled: There is no C++ compiler")


@pytest.mark.parametrize("value", ["no-such-c++", "no-such-c++ -m64", "'", "-O2"])
def test_a_wrong_cxx(tool: Tool, source: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CXX", value)
    assert "CXX" in refusal(tool, source)


def test_a_launcher_in_cxx(tool: Tool, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "env g++ -m64")
    assert build_agent(tool, source=source).exists()


def test_a_cache_that_cannot_be_written(tool: Tool, source: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    message = refusal(tool, source)
    assert "XDG_CACHE_HOME" in message
    assert str(tmp_path / "cache") in message


def test_a_relative_cache_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache_directory() == Path("/home/someone/.cache/actiondbg")


def test_no_source(tool: Tool, tmp_path: Path) -> None:
    assert "source is missing" in refusal(tool, tmp_path / "nowhere")


def test_leftovers_of_a_killed_compile_are_removed(tool: Tool, source: Path, cache: Path) -> None:
    old, new = cache / "build-old", cache / "build-new"
    old.mkdir(parents=True)
    new.mkdir()
    os.utime(old, (1, 1))
    build_agent(tool, source=source)
    assert leftovers(cache) == ["build-new"]


def test_an_agent_that_nobody_used_for_long_is_removed(
    tool: Tool, source: Path, cache: Path
) -> None:
    cache.mkdir(parents=True)
    now = time.time()
    days = {"agent-old.so": (40, 40), "agent-old.log": (40, 40), "agent-read.so": (1, 40)}
    for name, (read, written) in days.items():
        (cache / name).write_bytes(b"")
        os.utime(cache / name, (now - read * 86400, now - written * 86400))
    built = build_agent(tool, source=source)
    assert sorted(file.name for file in cache.iterdir()) == sorted([built.name, "agent-read.so"])


INTERRUPTED = """
import sys
from pathlib import Path
from actiondbg.tool import Tool, build_agent
tool = Tool(Path("t"), Path("l"), (Path("/"),), "22.1.8", "abc")
build_agent(tool, source=Path(sys.argv[1]))
"""


def test_an_interrupt_leaves_nothing(
    source: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A driver that starts the compiler proper, and does not end it when it is ended itself.
    text = (
        "#!/bin/sh\n"
        f"sleep 60 &\necho $! > {tmp_path}/new && mv {tmp_path}/new {tmp_path}/pid\nwait\n"
    )
    monkeypatch.setenv("CXX", str(executable(tmp_path / "slow-c++", text)))
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, source], stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 30
        while not (tmp_path / "pid").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in messages
    assert list(cache.iterdir()) == []
    wait_until_gone(int((tmp_path / "pid").read_text()))


CALLER = """
namespace mlir { void used(); void convert(struct ConversionTarget *); }
extern "C" __attribute__((visibility("default"))) void call() { mlir::used(); mlir::convert(0); }
"""
USED, CONVERT = "_ZN4mlir4usedEv", "_ZN4mlir7convertEPNS_16ConversionTargetE"
FULL = "_ZN4mlir19applyFullConversionEPNS_9OperationE"


def static_tool(directory: Path, *functions: str) -> Tool:
    """Return a tool that defines functions, in a build of its own."""
    text = "".join(
        f"static void {name}(void) {{}}\nvoid *of{name} = {name};\n" for name in functions
    )
    path = directory / f"foo-opt-{len(functions)}"
    compile_c(path, text + "int main(void) { return 0; }\n")
    return Tool(path, path, (directory,), "22.1.8", path.name, way=Way.DETOUR)


def test_a_tool_without_a_function_that_the_agent_calls(source: Path, tmp_path: Path) -> None:
    """The linker leaves out what a static tool itself does not call."""
    (source / "Answer.cpp").write_text(CALLER)
    fit = static_tool(tmp_path, USED, CONVERT)
    assert build_agent(fit, source=source).exists()
    assert fitted(fit, source) == fit

    started: list[bool] = []
    unfit = static_tool(tmp_path)
    for _ in range(2):  # found by the names, then remembered
        with pytest.raises(UnfitTool, match=r"calls \((mlir::used\(\)|_ZN4mlir4usedEv)\): link it"):
            build_agent(unfit, lambda: started.append(True), source)
    assert started == []  # the names are from the other build with these headers
    portable = fitted(unfit, source)
    assert (portable.way, portable.headers) == (Way.PORTABLE, ())
    assert portable.limit is not None and "left out" in portable.limit


def test_functions_of_conversions_in_a_tool_without_them(source: Path, tmp_path: Path) -> None:
    (source / "Answer.cpp").write_text(CALLER)
    assert build_agent(static_tool(tmp_path, USED), source=source).exists()
    with pytest.raises(UnfitTool, match="convert"):
        build_agent(static_tool(tmp_path, USED, FULL), source=source)


def test_the_demanded_way_is_kept(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "Answer.cpp").write_text(CALLER)
    unfit = static_tool(tmp_path)
    with pytest.raises(UnfitTool):
        build_agent(unfit, source=source)
    monkeypatch.setenv("ACTIONDBG_WAY", "detour")
    assert fitted(unfit, source) == unfit


def test_an_agent_that_others_can_write_is_compiled_again(tool: Tool, source: Path) -> None:
    agent = build_agent(tool, source=source)
    good = agent.read_bytes()
    agent.write_bytes(b"planted")
    agent.chmod(0o666)
    agent.parent.chmod(0o777)
    assert agent_state(tool, source) == "not compiled yet"
    assert build_agent(tool, source=source).read_bytes() == good
    assert agent.parent.stat().st_mode & 0o777 == 0o755


def test_an_agent_of_another_user_is_not_loaded(
    tool: Tool, source: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = build_agent(tool, source=source)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    if os.getuid() == 0:
        os.chown(agent, 4712, -1)
    assert agent_state(tool, source) == "not compiled yet"
    if os.getuid() == 0:
        os.chown(cache, 4712, -1)
    assert refusal(tool, source) == (
        f"The agent cannot be kept in {str(cache)!r} (it belongs to another user): set "
        "XDG_CACHE_HOME to a directory of yours that is writable and not mounted noexec."
    )


def test_a_cache_without_execution(
    tool: Tool, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_agent(tool, source=source)
    real = os.statvfs

    class Mounted:
        def __init__(self, path: Path) -> None:
            self.f_flag = real(path).f_flag | os.ST_NOEXEC

    monkeypatch.setattr(os, "statvfs", Mounted)
    assert "(it is mounted noexec)" in refusal(tool, source)


def test_the_umask_does_not_matter(tool: Tool, source: Path) -> None:
    before = os.umask(0)
    try:
        build_agent(tool, source=source)
    finally:
        os.umask(before)
    assert agent_state(tool, source) == "cached"


def test_what_is_shipped_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def compile(target: Path) -> None:
        built.append(target.name)
        target.write_text("")

    def compile_part(_part: CPart, target: Path) -> None:
        compile(target)

    monkeypatch.setattr(package_build, "_compile_agent", compile)
    monkeypatch.setattr(CPart, "compile", compile_part)
    monkeypatch.setattr(package_build, "AGENT_SOURCE", tmp_path / "nothing")
    monkeypatch.setattr(package_build, "source_files", returning(list[str]()))
    monkeypatch.setattr(package_build, "agent_name", returning("agent.so"))
    folder = tmp_path / "built"
    (folder / "build-of-another").mkdir(parents=True)
    (folder / "agent-of-older-sources.so").write_text("")
    for _ in range(2):
        package_build.build_shipped(folder, "x86_64")
    assert len(built) == len(set(built)) == 10
    assert {file.name for file in folder.iterdir()} == {"build-of-another", *built}


def test_the_portable_agent_stands_in_without_a_compiler(
    tool: Tool, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    portable = fitted(tool, source)
    assert portable.way is Way.PORTABLE
    assert portable.limit is not None and "no C++ compiler" in portable.limit
    monkeypatch.setenv("ACTIONDBG_WAY", "native")
    assert fitted(tool, source) == tool
