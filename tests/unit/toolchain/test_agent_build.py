"""Compiling what is shipped, with small sources in the place of the agent's, and finding it."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import pytest

from actiondbg.errors import AgentBuildError
from actiondbg.support.user_directories import cache_directory
from actiondbg.tool import package_build
from actiondbg.tool import shipped as shipping
from actiondbg.tool.agent_compilation import compile_agent, include_flags, write_units
from actiondbg.tool.c_part import CPart, calls
from actiondbg.tool.compiler import FLAGS, find_compiler
from actiondbg.tool.shipped import AGENT_SOURCE, shipped, shipped_agent
from tests.elements import some
from tests.fakes.functions import returning

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
    (directory / "exports.map").write_text("{ global: answer; local: *; };\n")
    return directory


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def refusal(source: Path, target: Path) -> str:
    with pytest.raises(AgentBuildError) as raised:
        compile_agent(target, source)
    message = str(raised.value)
    assert "\n" not in message
    assert not target.exists()
    return message


def test_the_agent_is_compiled(source: Path, tmp_path: Path) -> None:
    agent = tmp_path / "agent.so"
    compile_agent(agent, source)
    assert ctypes.CDLL(str(agent)).answer() == 42
    assert {path.name for path in tmp_path.iterdir()} == {"agent", "agent.so"}


def test_units_of_a_killed_compilation_are_no_sources(source: Path, tmp_path: Path) -> None:
    (source / "built/build-killed").mkdir(parents=True)
    (source / "built/build-killed/unit0.cpp").write_text("int broken = nonsense;\n")
    compile_agent(tmp_path / "agent.so", source)
    assert (tmp_path / "agent.so").exists()


def test_an_export_list_is_used(source: Path, tmp_path: Path) -> None:
    (source / "exports.map").write_text("{ global: nothing; local: *; };\n")
    compile_agent(tmp_path / "agent.so", source)
    assert not hasattr(ctypes.CDLL(str(tmp_path / "agent.so")), "answer")


def test_a_compile_error(source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (source / "Answer.cpp").write_text("int broken = nonsense;\n")
    assert "read its messages above" in refusal(source, tmp_path / "agent.so")
    assert "nonsense" in capfd.readouterr().err


def test_no_compiler(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install g++" in refusal(source, tmp_path / "agent.so")


@pytest.mark.parametrize("value", ["no-such-c++", "no-such-c++ -m64", "'", "-O2"])
def test_a_wrong_cxx(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("CXX", value)
    assert "CXX" in refusal(source, tmp_path / "agent.so")


def test_a_launcher_in_cxx(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "env g++ -m64")
    compile_agent(tmp_path / "agent.so", source)
    assert (tmp_path / "agent.so").exists()


def test_the_real_sources_have_no_warning(tmp_path: Path) -> None:
    command = [*find_compiler(), *FLAGS, *include_flags(), "-Werror", "-fsyntax-only"]
    for unit in some(write_units(AGENT_SOURCE, tmp_path)):
        assert subprocess.run([*command, unit], check=False).returncode == 0


# --- what is shipped ----------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what is shipped, in a place with nothing in it."""
    for module in (shipping, package_build):
        monkeypatch.setattr(module, "SHIPPED", tmp_path / "built")
    shipping._is_outdated.cache_clear()
    return tmp_path / "built"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Compile nothing; return the names of what would be compiled."""
    built: list[str] = []

    def compile(target: Path) -> None:
        built.append(target.name)
        target.write_text(target.name)

    def compile_part(part: CPart, directory: Path) -> None:
        compile(directory / part.name)

    monkeypatch.setattr(package_build, "compile_agent", compile)
    monkeypatch.setattr(CPart, "compile", compile_part)
    return built


def test_what_is_shipped_is_built_once(folder: Path, compilations: list[str]) -> None:
    (folder / "build-of-another").mkdir(parents=True)
    (folder / "build-killed").mkdir()
    os.utime(folder / "build-killed", (1, 1))
    (folder / "agent-of-older-sources.so").write_text("")
    for _ in range(2):
        package_build.build_shipped(folder, "x86_64")
    assert len(compilations) == len(set(compilations)) == 10
    assert {file.name for file in folder.iterdir()} == {"build-of-another", "sum", *compilations}
    assert shipped_agent() == folder / "agent.so"
    assert calls().file() == folder / "calls.so"


def test_edited_sources_are_compiled_again(
    folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    package_build.build_shipped(folder, "x86_64")
    assert shipped_agent() == folder / "agent.so"
    for module in (shipping, package_build):
        monkeypatch.setattr(module, "sum_of_sources", returning("edited"))
    shipping._is_outdated.cache_clear()
    with pytest.raises(AgentBuildError, match=r"were edited .* run scripts/setup"):
        shipped_agent()
    package_build.build_shipped(folder, "x86_64")
    assert len(compilations) == 20


def test_nothing_is_shipped(folder: Path) -> None:
    with pytest.raises(AgentBuildError, match=r"'.*/built/agent\.so' is missing: install"):
        shipped_agent()


@pytest.mark.parametrize("given", ["", "other.so"])
def test_what_the_loader_would_leave_out_is_refused(
    folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    package_build.build_shipped(folder, "x86_64")
    assert compilations
    if given:
        monkeypatch.setenv("ACTIONDBG_AGENT", str(folder / given))
        with pytest.raises(AgentBuildError, match=r"other\.so' is missing: name another file in"):
            shipped_agent()
        (folder / given).write_text("")
    assert shipped_agent().parent == folder
    real = os.statvfs

    class Mounted:
        def __init__(self, path: Path) -> None:
            self.f_flag = real(path).f_flag | os.ST_NOEXEC

    monkeypatch.setattr(os, "statvfs", Mounted)
    with pytest.raises(AgentBuildError, match="is mounted noexec: "):
        shipped_agent()


def test_a_path_that_cannot_be_preloaded(
    tmp_path: Path, cache: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "two words"
    for module in (shipping, package_build):
        monkeypatch.setattr(module, "SHIPPED", folder)
    package_build.build_shipped(folder, "x86_64")
    shipping._is_outdated.cache_clear()
    link = shipped("agent.so")
    assert (link.parent, link.resolve()) == (cache, folder / "agent.so")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other words"))
    with pytest.raises(AgentBuildError, match="blanks and colons separate paths there"):
        shipped("agent.so")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(AgentBuildError, match=r"cannot be kept in .* set XDG_CACHE_HOME"):
        shipped("agent.so")


def test_a_relative_cache_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache_directory() == Path("/home/someone/.cache/actiondbg")
