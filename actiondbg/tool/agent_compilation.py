"""The compilation of the agent."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from actiondbg.errors import AgentBuildError
from actiondbg.support.atomic_write import write_whole
from actiondbg.support.interrupts import HeldInterrupts
from actiondbg.tool.compiler import STRICT, Compiler, flags_of, link_flags_of
from actiondbg.tool.discovery import Tool
from actiondbg.tool.references import check_references
from actiondbg.tool.seal import seal
from actiondbg.tool.way import Way
from actiondbg.tool.weakening import weaken

# Folders of the second translation unit, which is compiled in parallel to the first. Code that
# runs for each action is in the first one, where it can be inlined.
_SECOND_UNIT = frozenset({"detour", "edit", "fork", "match", "print", "requests"})
_BUILD_PREFIX = "build-"
_ABANDONED_SECONDS = 3600
_UNUSED_SECONDS = 30 * 24 * 3600


def compile_agent(
    tool: Tool,
    compiler: Compiler,
    source: Path,
    files: Sequence[str],
    agent: Path,
    references: Path,
) -> None:
    """Compile the agent for a tool, atomically.

    Args:
        tool: the tool.
        compiler: the C++ compiler.
        source: the directory of the agent's source.
        files: the source files in it.
        agent: the path of the shared object; messages go to a log beside it.
        references: a file for the names that the agent refers to, if functions are detoured.

    Raises:
        UnfitTool: the tool lacks functions that the agent calls.
        AgentBuildError: the compiler fails.
        OSError: the directory is not writable.
    """
    _tidy(agent.parent)
    with tempfile.TemporaryDirectory(prefix=_BUILD_PREFIX, dir=agent.parent) as directory:
        built = _compile(tool, compiler, source, files, Path(directory), agent.with_suffix(".log"))
        if tool.way is not Way.NATIVE:
            names = weaken(built)
            if tool.way is Way.DETOUR:
                write_whole(references, b"\n".join(sorted(names)))
                check_references(tool, names)
        seal(built)
        built.chmod(0o700)  # whatever the umask is: agents that others can write are not used
        built.replace(agent)


def include_flags(tool: Tool, source: Path) -> list[str]:
    """List the compiler's options for the places of headers."""
    if tool.way is not Way.PORTABLE:
        quoted, system = [source], list(tool.headers)
    else:
        # A file below portable has precedence over the one that it replaces.
        quoted, system = [source / "portable", source], [source / "portable/include"]
    flags = [word for path in quoted for word in ("-iquote", str(path))]
    return flags + [word for path in system for word in ("-isystem", str(path))]


def write_units(source: Path, files: Sequence[str], directory: Path) -> list[Path]:
    """Write the agent's translation units into a directory: a file each that includes sources."""
    includes: dict[bool, list[str]] = {}
    for file in files:
        if file.endswith((".cpp", ".c")):
            second = file.removeprefix("portable/").split("/")[0] in _SECOND_UNIT
            includes.setdefault(second, []).append(f'#include "{source / file}"\n')
    units: list[Path] = []
    for lines in includes.values():
        unit = directory / f"unit{len(units)}.cpp"
        unit.write_text("".join(lines))
        units.append(unit)
    return units


def _tidy(cache: Path) -> None:
    """Remove the leftovers of killed compilations, and agents that were not used lately.

    A compiler developer builds many times a day, and each build has an agent of its own.
    """
    now = time.time()
    for directory in cache.glob(f"{_BUILD_PREFIX}*"):
        with contextlib.suppress(OSError):
            if now - directory.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(directory)
    for file in cache.glob("agent-*"):
        with contextlib.suppress(OSError):
            # Without access times, an agent in use is compiled again after this period.
            if now - max(file.stat().st_atime, file.stat().st_mtime) > _UNUSED_SECONDS:
                file.unlink()


def _compile(
    tool: Tool,
    compiler: Compiler,
    source: Path,
    files: Sequence[str],
    directory: Path,
    log: Path,
) -> Path:
    """Compile and link in a directory; messages go to the log.

    The sources are few translation units, compiled in parallel: MLIR's headers and templates cost
    five seconds in each.
    """
    flags = flags_of(tool.way)
    includes = include_flags(tool, source)
    units = write_units(source, files, directory)
    compile_units = [
        [*compiler.command, *flags, *includes, "-c", str(unit), "-o", str(unit.with_suffix(".o"))]
        for unit in units
    ]
    messages, failed = _run([[*command, STRICT] for command in compile_units], directory)
    log.unlink(missing_ok=True)
    if failed and STRICT in messages:
        # Warnings of an untested compiler must not prevent debugging.
        log.write_text(messages)
        messages, failed = _run([[*command, "-w"] for command in compile_units], directory)
    built = directory / "agent.so"
    if not failed:
        maps = [source / file for file in files if file.endswith(".map")]
        exports = [word for one in maps for word in ("-Xlinker", f"--version-script={one}")]
        objects = [str(unit.with_suffix(".o")) for unit in units]
        libraries = link_flags_of(tool.way)
        link = [*compiler.command, *flags, *objects, "-o", str(built), *libraries, *exports]
        messages, failed = _run([link], directory)
    if failed:
        log.write_text(messages)
        raise AgentBuildError(
            f"The agent could not be compiled with {compiler.command[0]} for LLVM {tool.llvm} "
            f"({_first_error(messages)}): read {log}, or set CXX to another compiler."
        )
    return built


def _run(commands: list[list[str]], directory: Path) -> tuple[str, bool]:
    """Run compilers in parallel; return their messages and whether one failed."""
    # Temporary files of a killed compiler are removed with the directory.
    environment = {**os.environ, "TMPDIR": str(directory), "LC_ALL": "C"}
    processes: list[subprocess.Popen[bytes]] = []
    with contextlib.ExitStack() as files:
        outputs = [files.enter_context(tempfile.TemporaryFile(dir=directory)) for _ in commands]
        try:
            # An interrupt during the start of a process would leak it.
            with HeldInterrupts():
                for command, output in zip(commands, outputs, strict=True):
                    processes.append(
                        subprocess.Popen(
                            command,
                            env=environment,
                            stdin=subprocess.DEVNULL,
                            stdout=output,
                            stderr=subprocess.STDOUT,
                            process_group=0,
                        )
                    )
            failed = any([process.wait() != 0 for process in processes])
        except BaseException:
            for process in processes:
                # Its group: some drivers would leave their child, such as cc1plus, behind.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            for process in processes:
                process.wait()
            raise
        for output in outputs:
            output.seek(0)
        return "".join(output.read().decode(errors="replace") for output in outputs), failed


def _first_error(messages: str) -> str:
    lines = messages.splitlines()
    found = next(
        (line for line in lines if "error: " in line), lines[-1] if lines else "no message"
    )
    return found.strip()
