"""Parts in C: the library that counts calls, and the programs that measure peaks."""

from __future__ import annotations

import os
import platform
import subprocess
import tempfile
from importlib.util import source_hash
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import AgentBuildError
from actiondbg.support.user_directories import cache_directory, is_private, make_library_folder
from actiondbg.tool.compiler import OLD_LIBRARIES, find_c_compiler
from actiondbg.tool.shipped import AGENT_SOURCE, shipped

_GLIBC = "glibc/Versions.c"


class CPart(NamedTuple):
    """A library or a program in C.

    Args:
        name: the beginning of its file name.
        what: it is, for messages.
        sources: files of the agent's directory, headers included.
        flags: the compiler's options.
        link_flags: the linker's options, behind the sources.
        cpu: the features that a processor must have, as /proc/cpuinfo spells them.
    """

    name: str
    what: str
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    link_flags: tuple[str, ...] = ()
    cpu: frozenset[str] = frozenset()

    @property
    def file_name(self) -> str:
        """The name of its file, with a hash of the sources and the options."""
        parts = [os.fsencode(part) for part in (*self.flags, *self.link_flags)]
        parts += [(AGENT_SOURCE / source).read_bytes() for source in (*self.sources, _GLIBC)]
        return f"{self.name}-{source_hash(bytes(0).join(parts)).hex()}"

    def file(self) -> Path:
        """Return the shipped file, or one that is compiled once, of edited sources.

        Raises:
            AgentBuildError: there is no compiler, it fails, or the cache cannot be written.
        """
        name = self.file_name
        found = shipped(name)
        if found is not None:
            return found
        compiled = cache_directory() / name
        try:
            make_library_folder(compiled.parent)
            if not is_private(compiled):
                self.compile(compiled)
        except OSError as error:
            raise AgentBuildError(
                f"{self.what} cannot be kept in {str(compiled.parent)!r} ({error.strerror}): set "
                "XDG_CACHE_HOME to a directory of yours that is writable and not mounted noexec."
            ) from error
        return compiled

    def compile(self, target: Path) -> None:
        """Compile it, atomically.

        Raises:
            AgentBuildError: there is no compiler, or it fails.
            OSError: the target cannot be written.
        """
        compiler = find_c_compiler()
        files = [AGENT_SOURCE / source for source in (*self.sources, _GLIBC)]
        sources = [str(file) for file in files if file.suffix == ".c"]
        with tempfile.TemporaryDirectory(prefix="build-", dir=target.parent) as directory:
            built = Path(directory) / "built"
            command = [*compiler.command, *self.flags, *sources, "-o", str(built)]
            done = subprocess.run(
                [*command, *self.link_flags, *OLD_LIBRARIES],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C"},
                check=False,
            )
            if done.returncode:
                log = target.with_suffix(".log")
                log.write_bytes(done.stdout)
                raise AgentBuildError(
                    f"{self.what} could not be compiled with {compiler.command[0]}: read {log}, or "
                    "set CC to another compiler."
                )
            built.chmod(0o755)  # whatever the umask is: see is_private
            built.replace(target)


def _files_in(folder: str) -> tuple[str, ...]:
    found = sorted((AGENT_SOURCE / folder).iterdir())
    return tuple(f"{folder}/{path.name}" for path in found if path.suffix in (".c", ".h"))


def calls() -> CPart:
    """Return the library that counts calls, for x86-64."""
    flags = (
        "-std=gnu11",
        "-D_GNU_SOURCE",
        "-DADBG_OWN_DLSYM",
        "-O2",
        "-fPIC",
        "-fvisibility=hidden",
        "-ftls-model=initial-exec",
        # A kernel's arguments and results may be in vector registers.
        "-mgeneral-regs-only",
        "-fno-tree-loop-distribute-patterns",
        "-Wno-ignored-optimization-argument",
    )
    link = ("-shared", "-Wl,-z,now", "-pthread", "-ldl")
    return CPart("agent-calls", "The library that counts calls", _files_in("calls"), flags, link)


_PEAKS = ("-std=gnu11", "-D_GNU_SOURCE", "-O3", "-ffp-contract=fast")
_AVX512 = ("-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mprefer-vector-width=512")
# By architecture: names, options and the features that a processor must have for them. Each line
# adds to the ones above it, except AVX-VNNI.
_KINDS: dict[str, tuple[tuple[str, tuple[str, ...], str], ...]] = {
    "x86_64": (
        ("sse2", (), "sse2"),
        ("avx", ("-mavx",), "avx"),
        ("avx2", ("-mavx2", "-mfma"), "avx2 fma"),
        ("avxvnni", ("-mavxvnni",), "avx_vnni"),
        ("avx512", _AVX512, "avx512f avx512dq avx512bw avx512vl"),
        ("avx512vnni", ("-mavx512vnni",), "avx512_vnni"),
        ("avx512bf16", ("-mavx512bf16",), "avx512_bf16"),
        ("avx512fp16", ("-mavx512fp16",), "avx512_fp16"),
    ),
    "aarch64": (
        ("neon", (), "asimd"),
        ("dotprod", ("-march=armv8.2-a+fp16+dotprod",), "asimdhp asimddp"),
    ),
}
_BESIDE = "avxvnni"


def peaks(machine: str = platform.machine()) -> list[CPart]:
    """Return programs that measure what a core can do, each for more features than the one before.

    Stores of whole cache lines, and registers as wide as they are.
    """
    parts: list[CPart] = []
    options: tuple[str, ...] = ()
    features: frozenset[str] = frozenset()
    for name, added, needed in _KINDS.get(machine, ()):
        flags, cpu = (*options, *added), features | frozenset(needed.split())
        what = f"The program that measures peaks ({name})"
        source = ("peaks/peaks.c",)
        parts.append(CPart(f"agent-peaks-{name}", what, source, (*_PEAKS, *flags), cpu=cpu))
        if name != _BESIDE:
            options, features = flags, cpu
    return parts
