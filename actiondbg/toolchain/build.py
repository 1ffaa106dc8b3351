"""Compile the agent for a tool's MLIR, once, into the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from actiondbg.errors import AgentBuildError
from actiondbg.toolchain.compiler import FLAGS, LINK_FLAGS, STRICT, Compiler, find_compiler
from actiondbg.toolchain.find import Tool
from actiondbg.toolchain.headers import has_abi_checks

AGENT_SOURCE = Path(__file__).resolve().parent.parent / "agent"

_BUILD_PREFIX = "build-"
_ABANDONED_SECONDS = 3600
_ABI_SYMBOL = {
    True: b"_ZN4llvm23EnableABIBreakingChecksE\0",
    False: b"_ZN4llvm24DisableABIBreakingChecksE\0",
}


def build_agent(
    tool: Tool,
    on_start: Callable[[], None] | None = None,
    source: Path = AGENT_SOURCE,
) -> Path:
    """Return the agent for a tool; compile it if the cache has none.

    Two processes may do so at once: each compiles in a directory of its own, and the last rename
    wins over an equal file.

    Args:
        tool: what find_tool returned.
        on_start: called when a compile begins, which takes about ten seconds.
        source: the directory of the agent's source.

    Returns:
        The path of the shared object.

    Raises:
        AgentBuildError: there is no compiler, it fails, or the cache cannot be written.
    """
    compiler = find_compiler()
    agent = _agent_path(tool, compiler, source)
    if agent.exists():
        return agent
    _check_abi(tool)
    if on_start is not None:
        on_start()
    try:
        agent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_abandoned(agent.parent)
        with tempfile.TemporaryDirectory(prefix=_BUILD_PREFIX, dir=agent.parent) as directory:
            built = _compile(tool, compiler, source, Path(directory), agent.with_suffix(".log"))
            built.replace(agent)
    except OSError as error:
        raise AgentBuildError(
            f"The agent cannot be written to {str(agent.parent)!r} ({error.strerror}): make it "
            "writable, or set XDG_CACHE_HOME to a directory that is."
        ) from error
    return agent


def agent_state(tool: Tool, source: Path = AGENT_SOURCE) -> str:
    """Say whether the agent for a tool is ready: "cached", "not compiled yet", or what hinders."""
    try:
        agent = _agent_path(tool, find_compiler(), source)
    except AgentBuildError as error:
        return f"cannot be compiled: {error}"
    return "cached" if agent.exists() else "not compiled yet"


def cache_directory() -> Path:
    """Return the directory of what can be made again (XDG Base Directory Specification)."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "actiondbg"


def _agent_path(tool: Tool, compiler: Compiler, source: Path) -> Path:
    """Name the agent by everything that it is made from."""
    key = hashlib.sha256()
    parts = (tool.build_id, tool.llvm, compiler.identity, *FLAGS, *LINK_FLAGS)
    for part in (*parts, *map(str, tool.headers)):
        key.update(part.encode(errors="surrogateescape") + b"\0")
    for file in _source_files(source):
        content = file.read_bytes()
        key.update(f"{file.name}\0{len(content)}\0".encode() + content)
    return cache_directory() / f"agent-{key.hexdigest()[:32]}.so"


def _source_files(source: Path) -> list[Path]:
    files = sorted(f for f in source.glob("*") if f.suffix in (".cpp", ".h", ".map"))
    if not any(f.suffix == ".cpp" for f in files):
        raise AgentBuildError(
            f"The agent's source is missing from {str(source)!r}: install actiondbg again."
        )
    return files


def _check_abi(tool: Tool) -> None:
    """Refuse headers whose classes have another layout than the library's, which would crash."""
    if tool.libllvm is None:
        return
    checks = has_abi_checks(tool.headers)
    with (
        tool.libllvm.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library,
    ):
        other = library.find(_ABI_SYMBOL[not checks]) >= 0
        same = library.find(_ABI_SYMBOL[checks]) >= 0
    if other and not same:
        kind = "with" if checks else "without"
        raise AgentBuildError(
            f"The headers in {str(tool.headers[0])!r} are of a build {kind} assertions, and "
            f"{str(tool.libllvm)!r} is not: give --mlir-include the directory of its own headers."
        )


def _remove_abandoned(cache: Path) -> None:
    """Remove what compiles left behind that were killed."""
    for directory in cache.glob(f"{_BUILD_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - directory.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(directory)


def _compile(tool: Tool, compiler: Compiler, source: Path, directory: Path, log: Path) -> Path:
    """Compile and link in a directory; messages go to the log.

    The sources are compiled as one translation unit: MLIR's headers and templates cost five to ten
    seconds in each, whatever else is in it.
    """
    unit = directory / "agent.cpp"
    files = _source_files(source)
    unit.write_text("".join(f'#include "{f}"\n' for f in files if f.suffix == ".cpp"))
    exports = [
        w for f in files if f.suffix == ".map" for w in ("-Xlinker", f"--version-script={f}")
    ]
    built = directory / "agent.so"
    includes = [word for path in tool.headers for word in ("-isystem", str(path))]
    output = [str(unit), "-o", str(built), *LINK_FLAGS, *exports]
    messages, failed = _run([*compiler.command, *FLAGS, STRICT, *includes, *output], directory)
    log.unlink(missing_ok=True)
    if failed and STRICT in messages:
        # A warning that only another compiler has must not keep its user from debugging.
        log.write_text(messages)
        messages, failed = _run([*compiler.command, *FLAGS, "-w", *includes, *output], directory)
    if failed:
        log.write_text(messages)
        raise AgentBuildError(
            f"The agent could not be compiled with {compiler.command[0]} for LLVM {tool.llvm} "
            f"({_first_error(messages)}): read {log}, or set CXX to another compiler."
        )
    return built


def _run(command: list[str], directory: Path) -> tuple[str, bool]:
    """Run the compiler; return its messages and whether it failed."""
    # The compiler's own temporary files go where they are removed, also when it is killed.
    environment = {**os.environ, "TMPDIR": str(directory), "LC_ALL": "C"}
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            messages, _ = process.communicate()
        except BaseException:
            # On SIGTERM the driver ends its child, cc1plus, as well; on SIGKILL it could not.
            process.terminate()
            raise
    return messages, process.returncode != 0


def _first_error(messages: str) -> str:
    lines = messages.splitlines()
    found = next(
        (line for line in lines if "error: " in line), lines[-1] if lines else "no message"
    )
    return found.strip()
