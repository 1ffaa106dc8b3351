"""Compile the agent."""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from actiondbg.errors import AgentBuildError
from actiondbg.tool.compiler import FLAGS, LINK_FLAGS, STRICT, Compiler
from actiondbg.tool.discovery import Tool
from actiondbg.tool.headers import has_abi_checks

_BUILD_PREFIX = "build-"
_ABANDONED_SECONDS = 3600
_UNUSED_SECONDS = 30 * 24 * 3600
_ABI_SYMBOL = {
    True: b"_ZN4llvm23EnableABIBreakingChecksE\0",
    False: b"_ZN4llvm24DisableABIBreakingChecksE\0",
}


def check_abi(tool: Tool) -> None:
    """Refuse headers whose classes have another layout than the library's, which would crash.

    Raises:
        AgentBuildError: they have.
    """
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


def compile_agent(
    tool: Tool, compiler: Compiler, source: Path, files: Sequence[str], agent: Path
) -> None:
    """Compile the agent into a file; it is there as a whole, or not at all.

    Args:
        tool: that it is for.
        compiler: to compile with.
        source: the directory of the agent's source.
        files: the source files in it.
        agent: the shared object to make; messages go to a log beside it.

    Raises:
        AgentBuildError: the compiler fails.
        OSError: the directory cannot be written to.
    """
    agent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _tidy(agent.parent)
    with tempfile.TemporaryDirectory(prefix=_BUILD_PREFIX, dir=agent.parent) as directory:
        paths = [source / file for file in files]
        built = _compile(tool, compiler, source, paths, Path(directory), agent.with_suffix(".log"))
        built.replace(agent)


def _tidy(cache: Path) -> None:
    """Remove what compiles left behind that were killed, and agents that nobody has used lately.

    Who works on a compiler builds it many times a day, and each build has an agent of its own.
    """
    now = time.time()
    for directory in cache.glob(f"{_BUILD_PREFIX}*"):
        with contextlib.suppress(OSError):
            if now - directory.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(directory)
    for file in cache.glob("agent-*"):
        with contextlib.suppress(OSError):
            # Where the system does not note reads, one in use is compiled anew once in a while.
            if now - max(file.stat().st_atime, file.stat().st_mtime) > _UNUSED_SECONDS:
                file.unlink()


def _compile(
    tool: Tool,
    compiler: Compiler,
    source: Path,
    files: Sequence[Path],
    directory: Path,
    log: Path,
) -> Path:
    """Compile and link in a directory; messages go to the log.

    The sources are compiled as one translation unit: MLIR's headers and templates cost five to ten
    seconds in each, whatever else is in it.
    """
    unit = directory / "agent.cpp"
    unit.write_text("".join(f'#include "{f}"\n' for f in files if f.suffix == ".cpp"))
    exports = [
        w for f in files if f.suffix == ".map" for w in ("-Xlinker", f"--version-script={f}")
    ]
    built = directory / "agent.so"
    includes = ["-iquote", str(source)]
    includes += [word for path in tool.headers for word in ("-isystem", str(path))]
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
