"""Parts in C: the library that counts calls, and the programs that measure peaks."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import AgentBuildError
from actiondbg.tool.compiler import OLD_LIBRARIES, find_c_compiler
from actiondbg.tool.shipped import AGENT_SOURCE, SHIPPED, shipped

_GLIBC = "glibc/Versions.c"


class CPart(NamedTuple):
    """A library or a program in C.

    Args:
        name: its file name.
        what: it is, for messages.
        sources: the folder of the agent's directory with them.
        flags: the compiler's options.
        link_flags: the linker's options, behind the sources.
        cpu: the features that a processor must have, as /proc/cpuinfo spells them.
    """

    name: str
    what: str
    sources: str
    flags: tuple[str, ...]
    link_flags: tuple[str, ...] = ()
    cpu: frozenset[str] = frozenset()

    @property
    def is_shipped(self) -> bool:
        """Whether the compiler that built actiondbg knew its instructions."""
        return (SHIPPED / self.name).exists()

    def file(self) -> Path:
        """Return the shipped file; raises AgentBuildError."""
        return shipped(self.name)

    def compile(self, directory: Path) -> None:
        """Compile it into a directory.

        Raises:
            AgentBuildError: there is no compiler, or it fails; its messages are on stderr.
        """
        command = [*find_c_compiler(), *self.flags]
        sources = sorted((AGENT_SOURCE / self.sources).glob("*.c"))
        command += map(str, [*sources, AGENT_SOURCE / _GLIBC])
        built = directory / self.name
        done = subprocess.run(
            [*command, "-o", str(built), *self.link_flags, *OLD_LIBRARIES],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
        if done.returncode:
            raise AgentBuildError(
                f"{self.what} could not be compiled with {command[0]}: read its messages above, or "
                "set CC to another compiler."
            )
        built.chmod(0o755)  # whatever the umask is


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
    return CPart("calls.so", "The library that counts calls", "calls", flags, link)


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
        parts.append(CPart(f"peaks-{name}", what, "peaks", (*_PEAKS, *flags), cpu=cpu))
        if name != _BESIDE:
            options, features = flags, cpu
    return parts
