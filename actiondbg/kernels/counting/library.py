"""The library that is preloaded into a program to count its calls; compiled at the first use."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from importlib.util import source_hash
from pathlib import Path

from actiondbg.errors import AgentBuildError
from actiondbg.statistics.events import aliases, listed_events
from actiondbg.support.atomic_write import write_whole
from actiondbg.support.user_directories import cache_directory, is_private, make_library_folder
from actiondbg.tool.agent_cache import AGENT_SOURCE
from actiondbg.tool.compiler import Compiler, find_c_compiler

_SOURCE = AGENT_SOURCE / "calls"
_MACHINE = "x86_64"
_FLAGS = (
    "-std=gnu11",
    "-D_GNU_SOURCE",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
    # A kernel's arguments and results may be in vector registers.
    "-mgeneral-regs-only",
    "-fno-tree-loop-distribute-patterns",
    "-Wno-ignored-optimization-argument",
)
_LINK_FLAGS = ("-shared", "-Wl,-z,now", "-pthread", "-ldl")


def counting_library() -> Path:
    """Return the library; compile it if the cache has none.

    Beside it is a file that the library reads when it is preloaded without actiondbg: which Python
    reports the counts, and the events of this machine.

    Raises:
        AgentBuildError: the machine is not supported, there is no compiler, it fails, or the cache
            cannot be written.
    """
    if platform.machine() != _MACHINE:
        raise AgentBuildError(
            f"Calls are counted on {_MACHINE} only, and this machine is {platform.machine()}: "
            "'actiondbg kernels profile' measures times."
        )
    compiler = find_c_compiler()
    files = sorted(path for path in _SOURCE.iterdir() if path.suffix in (".c", ".h"))
    parts = [os.fsencode(part) for part in (compiler.identity, *_FLAGS, *_LINK_FLAGS)]
    parts += [part for path in files for part in (path.name.encode(), path.read_bytes())]
    key = source_hash(b"\0".join(parts)).hex()
    # Agents are removed from the cache when they are not used: so is this.
    library = cache_directory() / f"agent-calls-{key}.so"
    try:
        make_library_folder(library.parent)
        if not is_private(library):
            _compile(compiler, library)
        _write_setup(library.with_suffix(".setup"))
    except OSError as error:
        raise AgentBuildError(
            f"The library cannot be kept in {str(library.parent)!r} ({error.strerror}): set "
            "XDG_CACHE_HOME to a directory of yours that is writable and not mounted noexec."
        ) from error
    return library


def _compile(compiler: Compiler, library: Path) -> None:
    sources = [str(path) for path in sorted(_SOURCE.glob("*.c"))]
    with tempfile.TemporaryDirectory(prefix="build-", dir=library.parent) as directory:
        built = Path(directory) / "calls.so"
        command = [*compiler.command, *_FLAGS, *sources, "-o", str(built), *_LINK_FLAGS]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
        if done.returncode:
            log = library.with_suffix(".log")
            log.write_bytes(done.stdout)
            raise AgentBuildError(
                f"The library that counts calls could not be compiled with {compiler.command[0]}: "
                f"read {log}, or set CC to another compiler."
            )
        built.chmod(0o700)  # whatever the umask is: see is_private
        built.replace(library)


def _write_setup(path: Path) -> None:
    """Write which Python reports the counts, and the events of this machine."""
    lines = [f"python\t{sys.executable}", f"root\t{AGENT_SOURCE.parent.parent}"]
    for kind, events in (("event", listed_events()), ("alias", aliases())):
        lines += [f"{kind}\t{one.name}\t{one.type}\t{one.config}" for one in events]
    content = "".join(f"{line}\n" for line in lines).encode()
    if not path.exists() or path.read_bytes() != content:
        write_whole(path, content)
