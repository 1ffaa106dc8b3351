"""The object that holds MLIR: an executable or a shared library, its symbols and its build."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.tool.elf import SYMBOL, Section, read_elf, read_sections

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


def _defines(content: mmap.mmap, sections: dict[str, Section], table: str, name: bytes) -> bool:
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


def _holds_text(content: mmap.mmap, sections: dict[str, Section]) -> bool:
    section = sections.get(".rodata")
    if section is None:
        return content.find(_MLIR_TEXT) >= 0
    return content.find(_MLIR_TEXT, section.offset, section.end) >= 0
