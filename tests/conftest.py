"""What the tests share: markers by folder, the tools of both builds, their agents, and inputs."""

from __future__ import annotations

import contextlib
import fcntl
import fnmatch
import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import configuration, settings

import actiondbg
from actiondbg.tool import find_tool
from actiondbg.tool.compiler import find_compiler
from tests.fakes import command_line
from tests.headers import header_flags
from tests.paths import INPUTS, ROOT
from tests.processes import children, kill_family

# Where bytecode is not kept, each command that a test starts would compile all modules anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

pytest_plugins = ["pytester", "tests.fakes.agent.fixtures"]

# In CI a test makes the same examples each time; elsewhere it looks for new ones.
settings.register_profile(
    "actiondbg", max_examples=50, deadline=None, derandomize="CI" in os.environ
)
settings.register_profile("fast", settings.get_profile("actiondbg"), max_examples=10)
settings.load_profile("actiondbg")
configuration.set_hypothesis_home_dir(ROOT / ".hypothesis")

DEBIAN = Path("/usr/lib/llvm-22/bin")
# BUILDS of a module whose subject is what the library makes of the agent's answers, whatever the
# build: scripts/test --builds runs the second one. A single test has the marker library.
LIBRARY = ("pypi", pytest.param("debian", marks=pytest.mark.second_build))
PYPI = Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages/mlir/bin"

FOLDS = """\
func.func @sum(%a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %x = arith.addi %a, %c0 : i32
  %y = arith.addi %x, %c3 : i32
  %z = arith.addi %y, %c4 : i32
  return %z : i32
}
func.func @twice(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %x = arith.addi %a, %c1 : i32
  %y = arith.addi %x, %c2 : i32
  return %y : i32
}
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--strict-skips",
        action="store_true",
        help="fail if a test is skipped for a reason that allowed_skips in pyproject.toml lacks",
    )
    parser.addini("allowed_skips", "reasons of skips, as globs", type="linelist")


def skipped_unexpectedly(config: pytest.Config) -> list[str]:
    """Return the places and reasons of the skips that --strict-skips refuses."""
    terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
    if not config.getoption("--strict-skips") or terminal is None:  # in a worker there is none
        return []
    allowed: list[str] = config.getini("allowed_skips")
    places = {tuple(report.longrepr) for report in terminal.stats.get("skipped", ())}
    return sorted(
        f"{path}:{line}: {reason}"
        for path, line, reason in places
        if not any(fnmatch.fnmatchcase(reason, f"Skipped: {one}") for one in allowed)
    )


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if skipped_unexpectedly(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if refused := skipped_unexpectedly(config):
        terminalreporter.section("skips that allowed_skips in pyproject.toml lacks", "=", red=True)
        terminalreporter.write_line("\n".join(refused))


def pytest_configure() -> None:
    """Let tests interrupt what they start: a job in the background of a script ignores Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are collected, which is none, nor look at it again later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by its folder: unit, tool, terminal or browser."""
    for item in items:
        item.add_marker(item.path.relative_to(ROOT / "tests").parts[0])


@contextlib.contextmanager
def locked(path: Path) -> Generator[None]:
    """Let one worker at a time into the block, by a file that is made here."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def shared_directory(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The temporary directory that all workers of this run have."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """Kill the processes that a test leaves, with their descendants, as a failed one does.

    They would wait forever for what the test did not do, such as an interrupt.
    """
    before = set(children(os.getpid()))
    yield
    for pid in set(children(os.getpid())) - before - command_line.kept_processes():
        kill_family(pid)


def _path(build: str, name: str) -> Path:
    return (PYPI if build == "pypi" else DEBIAN) / name


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests of mlir-opt with each of the module's BUILDS: by default, with both builds."""
    if "mlir_opt" in metafunc.fixturenames:
        module = cast(object, metafunc.module)  # pyright: ignore[reportUnknownMemberType]
        builds: tuple[Any, ...] = getattr(module, "BUILDS", ("pypi", "debian"))
        if metafunc.definition.get_closest_marker("library"):
            builds = LIBRARY
        metafunc.parametrize("mlir_opt", builds, indirect=True)


@pytest.fixture
def mlir_opt(request: pytest.FixtureRequest) -> str:
    """The mlir-opt of the build with assertions, and of the one without."""
    path = _path(request.param, "mlir-opt")
    if not path.exists():
        pytest.skip(f"{path.name} of {request.param} is not installed")
    return str(path)


@pytest.fixture
def pattern_plugin(mlir_opt: str, shared_directory: Path) -> Path:
    """The plug-in of tests/inputs/pattern_plugin.cpp, compiled for mlir-opt."""
    tool = find_tool(mlir_opt)
    library = shared_directory / f"patterns-{tool.build_id}.so"
    with locked(library.with_suffix(".lock")):
        if not library.exists():
            # The library of the package is compiled without type information.
            flags = ["-fno-rtti"] if tool.path.is_relative_to(sys.prefix) else []
            flags += header_flags(tool)
            source = str(INPUTS / "pattern_plugin.cpp")
            command = [*find_compiler(), "-std=c++17", "-O1", "-g", "-fPIC", "-shared"]
            subprocess.run([*command, *flags, source, "-o", str(library)], check=True)
    return library


@pytest.fixture
def debian() -> Callable[[str], str]:
    """Find a tool of Debian's build, or skip."""

    def find(name: str) -> str:
        path = DEBIAN / name
        if not path.exists():
            pytest.skip(f"Debian's {name} is not installed (scripts/install-debian-mlir)")
        return str(path)

    return find


@pytest.fixture
def folds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two functions in which canonicalize folds and merges additions."""
    (tmp_path / "folds.mlir").write_text(FOLDS)
    monkeypatch.chdir(tmp_path)
    return "folds.mlir"


@pytest.fixture
def launch(mlir_opt: str, folds: str) -> Iterator[Callable[..., actiondbg.Session]]:
    """Launch mlir-opt on the folds; every session is closed at the end."""
    sessions: list[actiondbg.Session] = []

    def start(*args: str, source: str = folds) -> actiondbg.Session:
        session = actiondbg.launch([mlir_opt, source, *(args or ("--canonicalize",))])
        sessions.append(session)
        return session

    yield start
    for session in sessions:
        session.close()


@pytest.fixture
def bare(mlir_opt: str, folds: str) -> Callable[..., str]:
    """Run the tool alone and return what it wrote to its stdout."""

    def run(*args: str) -> str:
        return subprocess.run(
            [mlir_opt, folds, *args], capture_output=True, text=True, check=True
        ).stdout

    return run


@pytest.fixture
def gdb() -> str:
    path = shutil.which("gdb")
    if path is None:
        pytest.skip("gdb is not installed")
    return path
