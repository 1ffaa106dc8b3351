"""References of an agent that may stay without a definition."""

from __future__ import annotations

from pathlib import Path

from actiondbg.errors import AgentBuildError
from actiondbg.tool.elf import SYMBOL, read_sections

_GLOBAL, _WEAK = 1, 2
_OF_TOOL = (b"4mlir", b"4llvm")


def weaken(library: Path) -> set[bytes]:
    """Make references to functions and data of MLIR and LLVM weak, in a shared object.

    The dynamic loader then loads it in a process without them, and leaves them null. Done in the
    linked file, so that no tool but the compiler is necessary.

    Returns:
        The names of what it refers to.

    Raises:
        AgentBuildError: the compiler made no 64-bit little-endian ELF file.
    """
    content = bytearray(library.read_bytes())
    sections = read_sections(content)
    if not {".dynsym", ".dynstr"} <= sections.keys():
        raise AgentBuildError(
            f"The compiler made no 64-bit ELF file in {str(library)!r}: set CXX to a compiler for "
            "this machine."
        )
    symbols, names = sections[".dynsym"], sections[".dynstr"].offset
    changed: set[bytes] = set()
    for at in range(symbols.offset, symbols.end, SYMBOL.size):
        name, info, _, index, _, _ = SYMBOL.unpack_from(content, at)
        if index != 0 or info >> 4 != _GLOBAL:
            continue
        begin = names + int(name)
        text = content[begin : content.index(0, begin)]
        if text.startswith(b"_Z") and any(word in text for word in _OF_TOOL):
            content[at + 4] = _WEAK << 4 | info & 15
            changed.add(bytes(text))
    library.write_bytes(content)
    return changed
